"""Notices when a reply goes round in circles, which small models do until their limit is met.

Owns the judgement alone; who streams decides what to do. Thread: any; one instance a reply.
"""

from __future__ import annotations

import re
from collections import Counter, deque

_PHRASE_WORDS = 8
_FORMER_TIMES = 2
_LOOP_WORDS = 60
_WORD = re.compile(r"\w{1,20}|[^\w\s]")


class RepetitionWatch:
    """Fed a reply piece by piece, says when it only repeats itself.

    That is when `_LOOP_WORDS` words and signs in a row each end a phrase that was said at least
    twice before, word for word. A program that is written out twice, or that has a few like lines,
    is not: only the third copy counts, and numbers that count up are different words.
    """

    def __init__(self) -> None:
        self._phrases: Counter[tuple[str, ...]] = Counter()
        self._recent: deque[str] = deque(maxlen=_PHRASE_WORDS)
        self._tail = ""
        self._run = 0

    def push(self, text: str) -> bool:
        """Take in the next piece; True once the reply goes round in circles."""
        if self._run >= _LOOP_WORDS:
            return True
        self._tail += text
        words = list(_WORD.finditer(self._tail))
        if not words:
            return False
        last = words.pop()  # it may go on in the next piece
        self._tail = self._tail[last.start() :]
        return any(self._count(word.group()) for word in words)

    def _count(self, word: str) -> bool:
        self._recent.append(word)
        phrase = tuple(self._recent)
        repeated = self._phrases[phrase] >= _FORMER_TIMES
        self._phrases[phrase] += 1
        self._run = self._run + 1 if repeated else 0
        return self._run >= _LOOP_WORDS
