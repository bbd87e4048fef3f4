"""Turns the bytes of tokens into text that can be shown.

Owns two things that a stream of tokens gets wrong by itself: characters cut in half, and stop
strings spread over tokens. Thread: any; not shared.
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence


class TextPieces:
    """Bytes in, whole characters out; holds back what may become a stop string."""

    def __init__(self, stop: Sequence[str]) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._stop = tuple(text for text in stop if text)
        self._held = ""
        self.stopped = False

    def push(self, piece: bytes) -> str:
        """Text that can be shown now; sets `stopped` when a stop string was met."""
        self._held += self._decoder.decode(piece)
        found = [at for text in self._stop if (at := self._held.find(text)) >= 0]
        if found:
            self.stopped = True
            shown, self._held = self._held[: min(found)], ""
            return shown
        keep = self._possible_start()
        shown = self._held[: len(self._held) - keep]
        self._held = self._held[len(shown) :]
        return shown

    def flush(self) -> str:
        """What is still held back at the end."""
        shown, self._held = self._held + self._decoder.decode(b"", final=True), ""
        return shown

    def _possible_start(self) -> int:
        """Length of the longest tail of the held text with which a stop string begins."""
        longest = max((len(text) - 1 for text in self._stop), default=0)
        for length in range(min(longest, len(self._held)), 0, -1):
            tail = self._held[-length:]
            if any(text.startswith(tail) for text in self._stop):
                return length
        return 0
