"""Answers the interpreter's questions for the time and for entropy.

They come to the host so that they can be recorded: a program that is run again gets the same.
Thread: the runner's.
"""

from __future__ import annotations

import datetime as dt
import os
import time
from collections.abc import Callable, Mapping, Sequence

from sandbox.host_answer import Answer

_ENTROPY_BYTES = 1024 * 1024


class HostClock:
    """The clock and chance as a room of host calls."""

    def __init__(self) -> None:
        self._calls: dict[str, Callable[..., object]] = {
            "date.today": lambda: dt.date.today(),  # noqa: DTZ011 - as Python's
            "datetime.now": _now,
            "time.time": _time,
            "os.urandom": _entropy,
        }

    def answer(
        self, name: str, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> Answer | None:
        """What call `name` would do, or None for an unknown call."""
        call = self._calls.get(name)
        return None if call is None else Answer(do=lambda: call(*args, **kwargs))


def _now(tz: dt.tzinfo | None = None) -> dt.datetime:
    return dt.datetime.now(tz)


def _time(caller: str = "") -> float:
    """Seconds since the epoch, whichever of the module's clocks asked."""
    del caller
    return time.time()


def _entropy(size: int) -> bytes:
    if size > _ENTROPY_BYTES:
        raise ValueError(f"at most {_ENTROPY_BYTES} random bytes at once")
    return os.urandom(size)


class StageClock:
    """The time that the stage takes for now: one for each call, recorded with it.

    `taken_ns`: what was taken in this call, None: nothing.
    """

    def __init__(self) -> None:
        self.taken_ns: int | None = None

    def begin(self, recorded_ns: int | None) -> None:
        """The next call begins; `recorded_ns`: what its time was, when it is done again."""
        self.taken_ns = recorded_ns

    def __call__(self) -> int:
        """Nanoseconds since the epoch."""
        if self.taken_ns is None:
            self.taken_ns = time.time_ns()
        return self.taken_ns
