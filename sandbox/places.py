"""Where the calls of a run are in the program's source.

Owns the way from the interpreter's positions to spans: of the program, of helpers of the bridge,
which count for who called them, and of functions that earlier programs of the chat left. Thread:
the runner's.
"""

from __future__ import annotations

from pydantic_monty import SourceRange

from sandbox.effects import Span
from sandbox.program import Program

EVALUATED = "<string>"


class Places:
    """The places of one run. `file`: of the program; `helpers`: of the bridge's own texts."""

    def __init__(self, program: Program, file: str, helpers: frozenset[str]) -> None:
        self._program = program
        self._file = file
        self._helpers = helpers
        self._spans: dict[tuple[str, int, int], Span | None] = {}
        self._opened: dict[str, Span | None] = {}
        self._at: Span | None = None

    def span(self, name: str, position: SourceRange) -> Span | None:
        """Where a call of the function `name` is; None where it is not known."""
        found = self._found(position)
        if name == "__dd_at":
            self._at = found
        return found

    def _found(self, position: SourceRange) -> Span | None:
        file = position.filename
        if file in self._helpers:
            return self._at
        key = (file, position.start, position.end)
        if key not in self._spans:
            self._spans[key] = self._looked_up(file, position.start, position.end)
        return self._spans[key]

    def _looked_up(self, file: str, start: int, end: int) -> Span | None:
        if file == self._file:
            return self._program.original_span(start, end)
        return self._program.earlier_span(file, start, end)

    def opened(
        self, path: str, span: Span | None, position: SourceRange, *, opens: bool
    ) -> Span | None:
        """The call that opened a file stands for what is written to it later.

        `opens`: it is one, although a helper makes it for the program.
        """
        if opens or position.filename not in self._helpers:
            self._opened[path] = span
        return self._opened.get(path, span)
