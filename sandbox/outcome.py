"""What a run of a program gives: events while it runs and the outcome at its end. Pure data."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from sandbox.artifacts import Artifact
from sandbox.effects import Effect, EffectKind
from sandbox.errors import Fault
from sandbox.question import Question
from sandbox.session_state import SessionState
from sandbox.shown import Shown


@dataclass(frozen=True, slots=True, kw_only=True)
class CallGroup:
    """Like effects since the last batch: `count` of them, one `path` as an example, at `line`."""

    kind: EffectKind
    folder: bool
    count: int
    path: str
    line: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallBatch:
    """What a program did since the last batch; `file_calls`: calls of the program so far."""

    program_id: str
    groups: tuple[CallGroup, ...]
    file_calls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """Text that a program printed since the last one."""

    program_id: str
    text: str


Listener = Callable[[CallBatch | Printed], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The end of a program.

    `value`: its last value as text, or None; `printed`: head and tail when there was too much;
    `warned`: the same of standard error;
    `fault`: what was wrong, when `status` is error; `question`: what the person is asked, when it
    is asking; `shown`: what it put in view; `effects`: done, in order (writes to one file
    in a row are one effect); `notes`: remarks for the model, e.g. a pattern that matched nothing;
    `doubts`: reasons to think that it worked on misread data, one sentence each;
    `kept`: results that stay out of the context; `looks`: pictures that the model is to see;
    `state`: what it leaves for the next program, when it ran to its end;
    `interpreter_s`: seconds that the interpreter computed; `wall_s`: seconds in all.
    """

    status: Literal["ok", "error", "stopped", "asking"]
    value: str | None
    printed: str
    fault: Fault | None
    effects: tuple[Effect, ...]
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    interpreter_s: float
    wall_s: float
    file_calls: int
    tool_calls: int
    warned: str = ""
    kept: tuple[Artifact, ...] = ()
    looks: tuple[Artifact, ...] = ()
    question: Question | None = None
    shown: tuple[Shown, ...] = ()
    state: SessionState | None = None


class StopToken:
    """Ends a run from another thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stopped = False
        self._end: Callable[[], None] | None = None

    @property
    def stopped(self) -> bool:
        """Whether `stop` was called."""
        return self._stopped

    def stop(self) -> None:
        """End the run that is attached, now; and any that is attached later. Any thread."""
        with self._lock:
            self._stopped = True
            if self._end is not None:
                self._end()

    def attach(self, end: Callable[[], None]) -> None:
        """Have `end` called at `stop`, at once when it was called already."""
        with self._lock:
            self._end = end
            if self._stopped:
                end()

    def detach(self) -> None:
        """Forget what was attached; when this returns, `stop` will not call it any more."""
        with self._lock:
            self._end = None
