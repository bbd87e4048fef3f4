"""Notices that a model goes round in circles: the same program, the same end, the same thoughts.

Owns what counts as the same. A third time ends the turn; until then the model is told. Thread:
the engine's.
"""

from __future__ import annotations

from collections import Counter
from typing import Literal

from models.repetition import RepetitionWatch

_TIMES = 3

Circle = Literal["program", "result", "fault", "thinking"]


class LoopedError(Exception):
    """The model goes round in circles; the turn ends and says so. `circle`: what came again."""

    def __init__(self, circle: Circle) -> None:
        super().__init__(circle)
        self.circle: Circle = circle


class LoopWatch:
    """What the model of one turn has said and got so far."""

    def __init__(self) -> None:
        self._programs: Counter[str] = Counter()
        self._last = ""
        self._row = 0
        self._fault = ""
        self._faults = 0
        self._thoughts = RepetitionWatch()

    def program(self, source: str) -> None:
        """A program, before it runs. Raises `LoopedError` the third time, layout apart."""
        form = " ".join(source.split())
        self._programs[form] += 1
        if self._programs[form] >= _TIMES:
            raise LoopedError("program")

    def result(self, text: str) -> None:
        """What a program came to. Raises `LoopedError` the third time in a row."""
        self._fault = ""
        self._row = self._row + 1 if text == self._last else 1
        self._last = text
        if text and self._row >= _TIMES:
            raise LoopedError("result")

    def fault(self, text: str) -> None:
        """What was wrong with a program. Raises `LoopedError` the third time in a row."""
        self._faults = self._faults + 1 if text == self._fault else 1
        self._fault = text
        if self._faults >= _TIMES:
            raise LoopedError("fault")

    def thoughts(self, text: str) -> None:
        """A piece of what the model thinks aloud. Raises `LoopedError` when it only repeats it."""
        if text and self._thoughts.push(text):
            raise LoopedError("thinking")

    def reply_begins(self) -> None:
        """A new reply: it may think the same things again."""
        self._thoughts = RepetitionWatch()
