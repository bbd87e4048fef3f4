"""From what a turn did to a picture of its flow: sources, programs, and where it all goes.

Owns which nodes and lines the picture has, and the same in words. It must not paint.
Pure; any thread.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from app.store.records import CallGroup, TurnRecord
from app.ui import words
from sandbox.changeset import SentencePart, sentence_parts
from sandbox.ports import Reason

Column = Literal[0, 1, 2]
_MOST = 5
_URL = ("http://", "https://")


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A box. `column`: 0 sources, 1 programs, 2 where it goes; `marked`: is unusual."""

    text: str
    column: Column
    marked: bool = False
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """From one box to another, by their numbers."""

    start: int
    end: int
    marked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowPicture:
    """Boxes and lines."""

    nodes: tuple[Node, ...]
    lines: tuple[Line, ...]

    def told(self) -> str:
        """The picture in words, the unusual first."""
        ways = sorted(self.lines, key=lambda one: not one.marked)
        return "; ".join(f"{self.nodes[w.start].text} → {self.nodes[w.end].text}" for w in ways)


class _Drawing:
    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.lines: list[Line] = []
        self._places: dict[tuple[int, str], int] = {}

    def node(self, text: str, column: Column, *, marked: bool = False, detail: str = "") -> int:
        place = self._places.get((column, text))
        if place is None:
            place = self._places[column, text] = len(self.nodes)
            self.nodes.append(Node(text=text, column=column, marked=marked, detail=detail))
        elif marked and not self.nodes[place].marked:
            self.nodes[place] = Node(text=text, column=column, marked=True, detail=detail)
        return place

    def line(self, start: int, end: int, *, marked: bool = False) -> None:
        for place, one in enumerate(self.lines):
            if (one.start, one.end) == (start, end):
                self.lines[place] = Line(start=start, end=end, marked=marked or one.marked)
                return
        self.lines.append(Line(start=start, end=end, marked=marked))


def picture_of(
    turn: TurnRecord, reasons: Sequence[Reason], tr: Callable[[str], str]
) -> FlowPicture:
    """The flow of a turn: what its programs read, and what they do with it."""
    drawing = _Drawing()
    parts = () if turn.changes is None else sentence_parts(turn.changes)
    sinks = {part.kind: drawing.node(_sink(part, tr), 2) for part in parts}
    for program in turn.programs:
        if program.status == "error":
            continue
        name = tr("Program") if len(turn.programs) == 1 else tr("Program {0}").format(program.index)
        middle = drawing.node(name, 1)
        for group in program.calls:
            source = _source(group, tr)
            if source:
                drawing.line(drawing.node(source, 0), middle)
            elif group.kind in ("request", "command", "tool"):
                drawing.line(middle, drawing.node(_outward(group), 2))
        for sink in sinks.values():
            drawing.line(middle, sink)
    for reason in reasons:
        _mark(drawing, reason, sinks, tr)
    return FlowPicture(nodes=tuple(drawing.nodes), lines=tuple(drawing.lines))


def _mark(
    drawing: _Drawing, reason: Reason, sinks: dict[str, int], tr: Callable[[str], str]
) -> None:
    data = reason.data
    end = _end_of(drawing, reason, sinks)
    if end is None:
        return
    line = tr("Line {0}").format(data["line"]) if "line" in data else tr("Program")
    middle = drawing.node(line, 1, marked=True)
    if "source" in data:
        drawing.line(drawing.node(_short(str(data["source"])), 0, marked=True), middle, marked=True)
    drawing.line(middle, end, marked=True)


def _end_of(drawing: _Drawing, reason: Reason, sinks: dict[str, int]) -> int | None:
    data = reason.data
    if reason.code == "bulk-loss":
        lost = ("deleted", "modified", "moved", "removed_folders")
        kind = next((one for one in lost if one in sinks), "")
        return _marked(drawing, sinks, kind)
    if data.get("host"):
        return drawing.node(str(data["host"]), 2, marked=True)
    if "tool" in data or "command" in data:
        return drawing.node(str(data.get("tool") or data.get("command")), 2, marked=True)
    verb = reason.code.rpartition("-")[2]
    kind = {"delete": "deleted", "move": "moved", "overwrite": "modified"}.get(verb, "")
    if kind in sinks:
        return _marked(drawing, sinks, kind)
    return drawing.node(_short(str(data["path"])), 2, marked=True) if "path" in data else None


def _marked(drawing: _Drawing, sinks: dict[str, int], kind: str) -> int | None:
    place = sinks.get(kind)
    if place is not None:
        drawing.node(drawing.nodes[place].text, 2, marked=True)
    return place


def _source(group: CallGroup, tr: Callable[[str], str]) -> str:
    if group.kind != "read":
        return ""
    if group.example.startswith(_URL):
        return urlsplit(group.example).hostname or group.example
    if group.folder:
        return tr("names in {0}").format(_short(group.example))
    return _short(group.example) if group.count == 1 else words.count(group.count, "file", "files")


def _outward(group: CallGroup) -> str:
    if group.example.startswith(_URL):
        return urlsplit(group.example).hostname or group.example
    return group.example


def _sink(part: SentencePart, tr: Callable[[str], str]) -> str:
    texts = {
        "moved": tr("{0} moved"),
        "moved_folders": tr("{0} folders moved"),
        "new_folders": tr("{0} new folders"),
        "created": tr("{0} created"),
        "modified": tr("{0} changed"),
        "deleted": tr("{0} deleted"),
        "removed_folders": tr("{0} folders removed"),
        "metadata": tr("{0} times or modes"),
    }
    if part.count == 1 and part.examples and part.kind in ("created", "modified", "deleted"):
        return texts[part.kind].format(_short(part.examples[0]))
    return texts.get(part.kind, "{0}").format(part.count)


def _short(path: str) -> str:
    if path.startswith(_URL):
        return urlsplit(path).hostname or path
    name = posixpath.basename(path.rstrip("/")) or path
    return name if name.isprintable() else ascii(name)[1:-1]
