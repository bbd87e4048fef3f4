"""Notices when a reply goes round in circles, which small models do until their limit is met.

Owns the judgement alone; who streams decides what to do. Thread: any; one instance a reply.
"""

from __future__ import annotations

import re
from collections import Counter, deque

_PHRASE_WORDS = 8
_FORMER_TIMES = 2
_LOOP_WORDS = 60
_COUNTING_WORDS = 240
_NUMBER = re.compile(r"\d+")
_WORD = re.compile(r"\w{1,20}|[^\w\s]")


class _Phrases:
    """Counts the phrases of a stream of words and how long it has only repeated them."""

    def __init__(self, most_words: int) -> None:
        self._most_words = most_words
        self._counts: Counter[tuple[str, ...]] = Counter()
        self._recent: deque[str] = deque(maxlen=_PHRASE_WORDS)
        self._run = 0

    def is_loop(self, word: str) -> bool:
        """Take in a word; whether `most_words` in a row were repetition by now."""
        self._recent.append(word)
        phrase = tuple(self._recent)
        repeated = self._counts[phrase] >= _FORMER_TIMES
        self._counts[phrase] += 1
        self._run = self._run + 1 if repeated else 0
        return self._run >= self._most_words


class RepetitionWatch:
    """Fed a reply piece by piece, says when it only repeats itself.

    That is when `_LOOP_WORDS` words and signs in a row each end a phrase that was said at least
    twice before, or `_COUNTING_WORDS` if one takes all numbers for the same. A program that is
    written out twice, or that has a dozen lines alike, is no loop.
    """

    def __init__(self) -> None:
        self._verbatim = _Phrases(_LOOP_WORDS)
        self._counting = _Phrases(_COUNTING_WORDS)
        self._tail = ""
        self._looped = False

    def push(self, text: str) -> bool:
        """Take in the next piece; True once the reply goes round in circles."""
        self._tail += text
        words = list(_WORD.finditer(self._tail))
        if words and not self._looped:
            last = words.pop()  # it may go on in the next piece
            self._tail = self._tail[last.start() :]
            self._looped = any(self._is_loop(word.group()) for word in words)
        return self._looped

    def _is_loop(self, word: str) -> bool:
        verbatim = self._verbatim.is_loop(word)
        return self._counting.is_loop(_NUMBER.sub("0", word)) or verbatim
