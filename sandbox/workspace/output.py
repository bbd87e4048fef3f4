"""The output of one command: whole up to a limit in a file, its head and tail in memory.

Owns counting and cutting. Thread: the channel's reader adds; any reads.
"""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path

HEAD_BYTES = 24 * 1024
TAIL_BYTES = 24 * 1024


class Output:
    """One stream. `whole_bytes`: how much may be kept; `file`: where, made at need."""

    def __init__(self, whole_bytes: int, folder: Path | None = None) -> None:
        self._whole_bytes = whole_bytes
        self._file = tempfile.SpooledTemporaryFile(  # noqa: SIM115 - lives as long as the command
            max_size=1024 * 1024, dir=None if folder is None else str(folder)
        )
        self._tail = bytearray()
        self._lock = threading.Lock()
        self.size_bytes = 0
        self.kept_bytes = 0

    def add(self, data: bytes) -> None:
        """What came next."""
        with self._lock:
            self.size_bytes += len(data)
            room = self._whole_bytes - self.kept_bytes
            if room > 0:
                self._file.seek(self.kept_bytes)
                self._file.write(data[:room])
                self.kept_bytes += min(room, len(data))
            self._tail += data[-TAIL_BYTES:]
            del self._tail[:-TAIL_BYTES]

    @property
    def is_whole(self) -> bool:
        """Whether nothing was dropped."""
        return self.size_bytes == self.kept_bytes

    def data(self, start: int = 0) -> bytes:
        """What was kept, from `start`."""
        with self._lock:
            self._file.seek(start)
            return self._file.read()

    def text(self) -> str:
        """Head and tail as text, with a line that says how much is left out between them."""
        with self._lock:
            most = HEAD_BYTES + TAIL_BYTES
            if self.size_bytes <= most and self.size_bytes == self.kept_bytes:
                self._file.seek(0)
                return self._file.read().decode("utf-8", "replace")
            self._file.seek(0)
            head = self._file.read(HEAD_BYTES)
            tail = bytes(self._tail)
            left_out = max(0, self.size_bytes - len(head) - len(tail))
        return (
            f"{head.decode('utf-8', 'replace')}\n[... {left_out:,} bytes left out ...]\n"
            f"{tail.decode('utf-8', 'replace')}"
        )

    def close(self) -> None:
        """Forget it."""
        with self._lock:
            self._file.close()
