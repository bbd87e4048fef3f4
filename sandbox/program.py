"""A program made ready to run: its source, the bridged source and the exact way back.

Owns `prepare`: syntax repair, then the dialect's rewrites, then the last value as the answer.
It must not run anything. Pure; any thread.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

from sandbox.builtin_tools import builtin_tools
from sandbox.dialect import bridge
from sandbox.edits import PositionMap
from sandbox.effects import Span
from sandbox.syntax import parse_repaired
from sandbox.tools import ToolSet


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One program of a model.

    `source`: as written; `repaired`: what the interpreter runs; `notes`: what was changed, one line
    each, for people; `maps`: from `repaired` back to `source`, applied in order.
    """

    source: str
    repaired: str
    notes: tuple[str, ...] = ()
    maps: tuple[PositionMap, ...] = field(default=(), repr=False)
    line_starts: tuple[int, ...] = field(default=(0,), repr=False)
    repaired_line_starts: tuple[int, ...] = field(default=(0,), repr=False)

    def original_span(self, start: int, end: int) -> Span:
        """The span in `source` (UTF-8 bytes, end exclusive) of a span in `repaired`."""
        for position_map in self.maps:
            start, end = position_map.start(start), position_map.end(end)
        end = max(start, end)
        return Span(start=start, end=end, line=bisect_right(self.line_starts, start))

    def original_line(self, repaired_line: int, repaired_column: int = 1) -> int:
        """The 1-based line in `source` of a 1-based line and column in `repaired`."""
        index = min(max(repaired_line, 1), len(self.repaired_line_starts)) - 1
        offset = self.repaired_line_starts[index] + max(repaired_column - 1, 0)
        return self.original_span(offset, offset + 1).line


def prepare(source: str, tools: ToolSet | None = None) -> Program:
    """Make a program ready to run. `tools`: what it can call; the built-in ones by default.

    Raises `ProgramFaultError` when it cannot be parsed, or uses something that cannot be bridged
    with the same meaning; the fault says what to write instead.
    """
    parsed = parse_repaired(source)
    bridged = bridge(parsed.text, parsed.tree, tools or builtin_tools())
    maps = (bridged.position_map, *parsed.maps)
    unlocated = Program(
        source=source,
        repaired=bridged.text,
        maps=maps,
        line_starts=line_starts(source.encode("utf-8", "replace")),
    )
    notes = [*parsed.notes]
    for offset, text in bridged.notes:
        line = _original_line_of(unlocated, parsed.maps, offset)
        notes.append(f"line {line}: {text}")
    return Program(
        source=source,
        repaired=bridged.text,
        notes=tuple(dict.fromkeys(notes)),
        maps=maps,
        line_starts=unlocated.line_starts,
        repaired_line_starts=line_starts(bridged.text.encode()),
    )


def _original_line_of(program: Program, maps: tuple[PositionMap, ...], offset: int) -> int:
    for position_map in maps:
        offset = position_map.start(offset)
    return bisect_right(program.line_starts, offset)


def line_starts(text: bytes) -> tuple[int, ...]:
    """Byte offsets at which the lines of `text` start."""
    starts = [0]
    starts.extend(index + 1 for index, byte in enumerate(text) if byte == 0x0A)
    return tuple(starts)
