"""Printed text, bounded: the head and the tail are kept. Thread: the runner's."""

from __future__ import annotations

from collections import deque


class PrintedText:
    """Collects text; keeps at most `limit_chars`, half from the start and half from the end."""

    def __init__(self, limit_chars: int) -> None:
        self._half = max(limit_chars // 2, 1)
        self._head: list[str] = []
        self._head_chars = 0
        self._tail: deque[str] = deque()
        self._tail_chars = 0
        self._cut_chars = 0

    def add(self, text: str) -> None:
        """Add text in order."""
        room = self._half - self._head_chars
        if room > 0:
            self._head.append(text[:room])
            self._head_chars += len(self._head[-1])
            text = text[room:]
        if not text:
            return
        self._tail.append(text)
        self._tail_chars += len(text)
        while self._tail_chars - len(self._tail[0]) >= self._half:
            gone = self._tail.popleft()
            self._tail_chars -= len(gone)
            self._cut_chars += len(gone)

    def text(self) -> str:
        """All that is kept, with a line that says how much was cut."""
        tail = "".join(self._tail)
        over = max(len(tail) - self._half, 0) if self._cut_chars or len(tail) > self._half else 0
        cut = self._cut_chars + over
        middle = f"\n[... {cut:,} characters cut ...]\n" if cut else ""
        return "".join(self._head) + middle + tail[over:]
