"""A program made ready to run: its source, the bridged source and the exact way back.

Owns `prepare`: syntax repair, then the dialect's rewrites, then the last value as the answer; and
what a program leaves for the next one, as far as its text says. It must not run anything. Pure;
any thread.
"""

from __future__ import annotations

import ast
from bisect import bisect_right
from dataclasses import dataclass, field, replace

from sandbox.builtin_tools import builtin_tools
from sandbox.dialect import Bridged, bridge
from sandbox.edits import PositionMap, cut_map
from sandbox.effects import Span
from sandbox.errors import Fault, ProgramFaultError
from sandbox.session_state import (
    FRESH,
    FRONT,
    PROGRAM,
    Definition,
    Front,
    Left,
    SessionState,
    front_of,
    left_by,
)
from sandbox.syntax import Parsed, parse_repaired
from sandbox.tools import ToolSet


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """A definition of an earlier program, in the front: it was run from `file`, byte `start` on;
    in what is analysed it stands at `place`."""

    file: str
    start: int
    place: int
    length: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One program of a model.

    `source`: as written; `repaired`: what the interpreter runs; `notes`: what was changed, one line
    each, for people; `state`: what earlier programs left, which it runs on; `analysed`: `repaired`
    with the front that declares what it uses of that; `bridging`: from `analysed` to the parsed
    text, which begins with `front_bytes` of front; `maps`: from the parsed text back to `source`,
    applied in order; `cut`: from `repaired` to `analysed`.
    """

    source: str
    repaired: str
    notes: tuple[str, ...] = ()
    state: SessionState = field(default=FRESH, repr=False)
    analysed: str = field(default="", repr=False)
    parsed: str = field(default="", repr=False)
    bridging: PositionMap = field(repr=False)
    front_bytes: int = 0
    maps: tuple[PositionMap, ...] = field(default=(), repr=False)
    cut: PositionMap | None = field(default=None, repr=False)
    earlier: tuple[Earlier, ...] = field(default=(), repr=False)
    line_starts: tuple[int, ...] = field(default=(0,), repr=False)
    repaired_line_starts: tuple[int, ...] = field(default=(0,), repr=False)
    analysed_line_starts: tuple[int, ...] = field(default=(0,), repr=False)

    def original_span(self, start: int, end: int) -> Span:
        """The span in `source` (UTF-8 bytes, end exclusive) of a span in `repaired`."""
        if self.cut is not None:
            start, end = self.cut.start(start), self.cut.end(end)
        return self.analysed_span(start, end)

    def analysed_span(self, start: int, end: int) -> Span:
        """The span in `source` of a span in `analysed`; one in the front has no line, and begins
        below zero."""
        start = self.bridging.start(start) - self.front_bytes
        end = self.bridging.end(end) - self.front_bytes
        if start < 0:
            return Span(start=start, end=max(end, start), line=0)
        for position_map in self.maps:
            start, end = position_map.start(start), position_map.end(end)
        end = max(start, end)
        return Span(start=start, end=end, line=bisect_right(self.line_starts, start))

    def earlier_span(self, file: str, start: int, end: int) -> Span | None:
        """The span of a call within a function of an earlier program; None when it is not known."""
        for item in self.earlier:
            if item.file == file and item.start <= start and end <= item.start + item.length:
                moved = item.place - item.start
                return self.analysed_span(start + moved, end + moved)
        return None

    def original_line(self, repaired_line: int, repaired_column: int = 1) -> int:
        """The 1-based line in `source` of a 1-based line and column in `repaired`."""
        offset = _offset(self.repaired_line_starts, repaired_line, repaired_column)
        return self.original_span(offset, offset + 1).line

    def analysed_line(self, line: int, column: int = 1) -> int:
        """The 1-based line in `source` of a line and column in `analysed`; 0 for the front."""
        offset = _offset(self.analysed_line_starts, line, column)
        return self.analysed_span(offset, offset + 1).line

    def left(self, file: str) -> tuple[Left, dict[str, Definition]]:
        """What it leaves when it ran to its end from `file`; its definitions as they were run."""
        left = left_by(self.parsed)
        data = self.repaired.encode()
        found: dict[str, Definition] = {}
        for name, (start, end, source) in left.defined.items():
            first = self.bridging.forward(start + self.front_bytes)
            last = self.bridging.forward(end + self.front_bytes, closing=True)
            if self.cut is not None:
                moved = len(self.analysed.encode()) - len(data)
                first, last = first - moved, last - moved
            bridged = data[first:last].decode()
            found[name] = Definition(source=source, bridged=bridged, file=file, start=first)
        return left, found


def _offset(starts: tuple[int, ...], line: int, column: int) -> int:
    return starts[min(max(line, 1), len(starts)) - 1] + max(column - 1, 0)


def prepare(source: str, tools: ToolSet | None = None, state: SessionState = FRESH) -> Program:
    """Make a program ready to run. `tools`: what it can call; the built-in ones by default;
    `state`: what earlier programs left, which it may use.

    Raises `ProgramFaultError` when it cannot be parsed, or uses something that cannot be bridged
    with the same meaning; the fault says what to write instead.
    """
    parsed = parse_repaired(source)
    front = front_of(state, parsed.tree)
    text = front.text + parsed.text
    try:
        tree = ast.parse(text) if front.text else parsed.tree
        bridged = bridge(text, tree, tools or builtin_tools())
    except ProgramFaultError as error:
        raise ProgramFaultError(_moved(error.fault, front.text.count("\n"))) from error
    program = Program(
        source=source,
        repaired=bridged.text,
        state=state,
        analysed=bridged.text,
        parsed=parsed.text,
        bridging=bridged.position_map,
        front_bytes=len(front.text.encode()),
        maps=parsed.maps,
        line_starts=line_starts(source.encode("utf-8", "replace")),
        repaired_line_starts=line_starts(bridged.text.encode()),
        analysed_line_starts=line_starts(bridged.text.encode()),
    )
    program = replace(program, notes=_notes(program, parsed, bridged))
    return _without_front(program, front, tree) if front.text else program


def _notes(program: Program, parsed: Parsed, bridged: Bridged) -> tuple[str, ...]:
    notes = [*parsed.notes]
    for offset, text in bridged.notes:
        at = offset - program.front_bytes
        for position_map in parsed.maps:
            at = position_map.start(at)
        line = bisect_right(program.line_starts, max(at, 0))
        notes.append(f"line {line}: {text}")
    return tuple(dict.fromkeys(notes))


def _moved(fault: Fault, lines: int) -> Fault:
    """A fault of a text with a front of so many lines, in lines of the program itself."""
    if fault.line is None or not lines:
        return fault
    if fault.line > lines:
        return replace(fault, line=fault.line - lines)
    hint = "This is in a helper of an earlier program: write that helper again in this program."
    return replace(fault, line=None, hint=f"{fault.hint} {hint}".strip())


def _without_front(program: Program, front: Front, tree: ast.Module) -> Program:
    """The program with its front for the analysis alone: what was added before it is run."""
    data = program.analysed.encode()
    head = data.index(FRONT.encode())
    begin = data.index(b"\n" + PROGRAM.encode()) + 1 + len(PROGRAM)
    repaired = data[:head] + data[begin:]
    return replace(
        program,
        repaired=repaired.decode(),
        cut=cut_map(head, begin, len(data)),
        earlier=_earlier(program, front, tree),
        repaired_line_starts=line_starts(repaired),
    )


def _earlier(program: Program, front: Front, tree: ast.Module) -> tuple[Earlier, ...]:
    """Where the definitions of earlier programs are; raises when one would have to be another."""
    data = program.analysed.encode()
    starts = line_starts((front.text + program.parsed).encode())
    nodes = [
        node
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    ]
    found: list[Earlier] = []
    for item, node in zip(front.definitions, nodes, strict=False):
        first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
        end = starts[(node.end_lineno or first) - 1] + (node.end_col_offset or 0)
        place = program.bridging.forward(starts[first - 1])
        bridged = data[place : program.bridging.forward(end, closing=True)].decode()
        if bridged != item.bridged:
            fault = Fault(
                type="NotSupportedError",
                message=f"{node.name} of an earlier program cannot be used in this way here",
                hint=f"Write {node.name} again in this program.",
            )
            raise ProgramFaultError(fault)
        length = len(item.bridged.encode())
        found.append(Earlier(file=item.file, start=item.start, place=place, length=length))
    return tuple(found)


def line_starts(text: bytes) -> tuple[int, ...]:
    """Byte offsets at which the lines of `text` start."""
    starts = [0]
    starts.extend(index + 1 for index, byte in enumerate(text) if byte == 0x0A)
    return tuple(starts)
