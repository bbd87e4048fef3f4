"""The interpreter's session of one run: fed the bridge's own parts, then the program.

Owns which text fed is which, so that a position of the interpreter means one program, and what is
taken out at the end for the chat's next program. It must not answer calls. Thread: the runner's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from pydantic_monty import MontyError

from sandbox.pool import ReadySession
from sandbox.prelude_rooms import rooms_for
from sandbox.program import Program
from sandbox.session_state import FRESH, SessionState, Variable, names_query

_STREAMS = 1_000_000


class RunSession:
    """One session. `file`: what positions within the program are of; `helpers`: texts of the
    bridge itself."""

    def __init__(self, ready: ReadySession, program: Program) -> None:
        state = program.state
        self._session = ready.session
        self._limits = ready.limits
        self._program = program
        self._feeds = state.feeds or 1  # the prelude
        self._helpers = {0, *state.helpers, self._feeds}
        self._rooms = state.rooms
        self.file = _file(self._feeds + 1)

    @property
    def helpers(self) -> frozenset[str]:
        """The files whose calls count for who called them."""
        return frozenset(_file(number) for number in self._helpers)

    @property
    def first_number(self) -> int:
        """The first number of what the program opens: what earlier ones had open is closed."""
        return 1 + _STREAMS * (self._feeds - 1)

    def start(self, on_print: Callable[[Literal["stdout", "stderr"], str], None], cwd: str) -> Any:
        """Begin the program; its first suspension, or its end."""
        text, rooms = rooms_for(self._program.repaired, self._rooms)
        if self._program.state.session:
            text = f"__dd_endings.clear()\n{text}"
        self._feed(text or "None")
        self._rooms = (*self._rooms, *rooms)
        self._feeds += 1
        return self._session.feed_start(self._program.repaired, print_callback=on_print, cwd=cwd)

    def endings(self) -> tuple[str, ...]:
        """What the program compared suffixes with that begin without a dot."""
        return tuple(self._feed("list(__dd_endings)"))

    def left(self) -> tuple[SessionState, str]:
        """What the program leaves when it has run to its end; and why that is nothing, if so."""
        before = self._program.state
        left, definitions = self._program.left(self.file)
        wanted = {*before.names, *before.definitions, *left.variables} - definitions.keys()
        try:
            plain: dict[str, bool] = self._feed(names_query(wanted))
            dump = self._session.dump()
        except (MontyError, OSError, RuntimeError):
            return FRESH, "What this program defined could not be kept for the next one."
        if len(dump) > self._limits.state_bytes:
            size, most = len(dump) // 1024**2, self._limits.state_bytes // 1024**2
            return FRESH, (
                f"What programs defined so far takes {size} MiB, more than the {most} MiB that are "
                "kept: the next program starts fresh."
            )
        bound = left.variables | definitions.keys() | left.imports.keys()
        old = {n: d for n, d in before.definitions.items() if n not in bound}
        names = {n: Variable(plain=flag) for n, flag in plain.items() if n not in old}
        gone = left.variables | definitions.keys()
        imports = {n: s for n, s in before.imports.items() if n not in gone} | {
            n: s for n, s in left.imports.items() if n not in gone
        }
        state = SessionState(
            session=dump,
            feeds=self._feeds,
            helpers=tuple(sorted(self._helpers)),
            rooms=self._rooms,
            names={n: v for n, v in names.items() if n not in imports},
            definitions={**old, **definitions},
            imports=imports,
        )
        return state, ""

    def _feed(self, text: str) -> Any:
        self._helpers.add(self._feeds)
        self._feeds += 1
        return self._session.feed_run(text, cwd="/")


def _file(number: int) -> str:
    return f"<python-input-{number}>"
