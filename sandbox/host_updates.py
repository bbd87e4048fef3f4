"""Large files that a program has open to read and to write: only the parts that it touches move.

Owns the open ones of one run; positions, decoding and buffering are those of Python's own streams
over the stage. It must not judge effects: what a call would write is in its answer. Thread: the
runner's.
"""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sandbox.host_answer import Answer
from sandbox.host_files import HostPaths
from sandbox.stage import Stage
from sandbox.textcodec import TextOptions

_BUFFER_BYTES = 256 * 1024
_OPEN_FILES = 64


class HostUpdates:
    """The files open for update of one run, by number."""

    def __init__(self, paths: HostPaths) -> None:
        self._paths = paths
        self._files: dict[int, tuple[str, Any]] = {}
        self._next = 1
        self._calls: dict[str, Callable[..., Answer]] = {
            "__dd_update_read": self._read,
            "__dd_update_write": self._write,
            "__dd_update_seek": self._seek,
            "__dd_update_truncate": self._truncate,
            "__dd_update_close": self._close,
        }

    def answer(
        self, name: str, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> Answer | None:
        """What call `name` would do, or None for an unknown call."""
        call = self._calls.get(name)
        return None if call is None else call(*args, **kwargs)

    def open(self, path: str, mode: str, options: TextOptions) -> int:
        """A file of the stage, to be read and written; OSError when too many are open."""
        if len(self._files) >= _OPEN_FILES:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE), path)
        raw = _StagedFile(self._paths.stage, path, appends="a" in mode)
        stream: Any = io.BufferedRandom(raw, _BUFFER_BYTES)
        if "b" not in mode:
            encoding = options.encoding or "utf-8"
            stream = io.TextIOWrapper(
                stream,
                encoding="utf-8" if encoding == "locale" else encoding,
                errors=options.errors,
                newline=options.newline,
            )
        number, self._next = self._next, self._next + 1
        self._files[number] = (path, stream)
        return number

    def close(self) -> None:
        """Close what the program left open."""
        for _, stream in self._files.values():
            stream.close()
        self._files.clear()

    def _read(self, number: int, how: str, size: int = -1) -> Answer:
        stream, limit = self._files[number][1], self._paths.limits.read_bytes

        def do() -> str | bytes:
            found = stream.readline(limit + 1) if how == "line" else stream.read(wanted)
            if len(found) > limit:
                text = f"File too large to read whole: more than {limit} bytes; read parts of it"
                raise OSError(errno.EFBIG, text, self._files[number][0])
            return found

        wanted = limit + 1 if size < 0 else min(size, limit)
        return Answer(do=do)

    def _write(self, number: int, data: str | bytes) -> Answer:
        path, stream = self._files[number]

        def do() -> int:
            count = int(stream.write(data))
            stream.flush()
            return count

        effect = self._paths.effect("modify", path, size_bytes=len(data))
        return Answer(effects=(effect,), do=do, place=path)

    def _seek(self, number: int, offset: int, whence: int) -> Answer:
        stream = self._files[number][1]
        return Answer(do=lambda: stream.tell() if whence < 0 else stream.seek(offset, whence))

    def _truncate(self, number: int, size: int | None) -> Answer:
        path, stream = self._files[number]
        effect = self._paths.effect("modify", path, size_bytes=0)
        return Answer(effects=(effect,), do=lambda: stream.truncate(size), place=path)

    def _close(self, number: int) -> Answer:
        def do() -> None:
            found = self._files.pop(number, None)
            if found is not None:
                found[1].close()

        return Answer(do=do)


class _StagedFile(io.RawIOBase):
    """A file of the stage as the system gives one."""

    def __init__(self, stage: Stage, path: str, *, appends: bool) -> None:
        super().__init__()
        self._stage = stage
        self._path = path
        self._appends = appends
        self._at = self._size() if appends else 0

    def _size(self) -> int:
        return self._stage.stat(self._path).size_bytes

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with self._stage.open_reader(self._path) as stream:
            stream.seek(self._at)
            data = stream.read(len(buffer))
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)

    def write(self, data: Any) -> int:
        if self._appends:
            self._at = self._size()
        count = len(data)
        self._stage.write_at(self._path, self._at, bytes(data))
        self._at += count
        return count

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size()}[whence]
        if start + offset < 0:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), self._path)
        self._at = start + offset
        return self._at

    def truncate(self, size: int | None = None) -> int:
        size = self._at if size is None else size
        self._stage.truncate(self._path, size)
        return size
