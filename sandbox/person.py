"""Tools that speak with the person: `ask_user` waits for an answer, `show` puts something in view.

Owns what may be asked and shown, and how much of it. What is shown leaves no trace outside the
app. Thread: the runner's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from sandbox.effects import Effect
from sandbox.shown import Shown
from sandbox.tool_run import ToolRun
from sandbox.tools import Planned, tool

_QUESTION_CHARS = 4_000
_CHOICES = 20
_TEXT_CHARS = 64_000
_ROWS = 1_000
_COLUMNS = 50
_CELL_CHARS = 1_000
_POINTS = 1_000


def ask_user(run: ToolRun, question: str, choices: list[str] | None = None) -> Planned[str]:
    """Ask the person a question and wait for the answer, which is returned as text.

    With choices the answer is one of them.
    """
    del run
    asked = question.strip()
    if not asked:
        raise ValueError("the question is empty")
    if len(asked) > _QUESTION_CHARS:
        raise ValueError(f"the question is longer than {_QUESTION_CHARS:,} characters")
    offered = tuple(dict.fromkeys(str(choice) for choice in choices or ()))
    if len(offered) > _CHOICES:
        raise ValueError(f"there are more than {_CHOICES} choices")
    return Planned(
        do=lambda: "",
        effects=(Effect(kind="ask", path=""),),
        exact=asked,
        choices=offered,
        asks_person=True,
    )


def show(
    run: ToolRun,
    text: str | None = None,
    table: list[dict[str, object]] | list[list[object]] | list[tuple[object, ...]] | None = None,
    chart: dict[str, float] | list[tuple[str, float]] | None = None,
    file: str | None = None,
    title: str = "",
) -> Planned[None]:
    """Show the person a text, a table (rows), a chart (label and value) or a file."""
    given = [item for item in (text, table, chart, file) if item is not None]
    if len(given) != 1:
        raise ValueError("show() takes one of text, table, chart or file")
    if table is not None:
        shown = _table(table)
    elif chart is not None:
        shown = _chart(chart)
    elif file is not None:
        path = run.paths.path(file)
        run.paths.stage.stat(path)
        shown = Shown(kind="file", text=path)
    else:
        shown = Shown(kind="text", text=_cut(str(text), _TEXT_CHARS))
    shown = replace(shown, title=_cut(title, _CELL_CHARS))
    effect = Effect(kind="show", path=shown.text if shown.kind == "file" else "")
    return Planned(do=lambda: run.shown.append(shown), effects=(effect,))


def _table(table: Sequence[Any]) -> Shown:
    if table and isinstance(table[0], Mapping):
        named = cast("Sequence[Mapping[str, Any]]", table)
        columns = tuple(dict.fromkeys(str(name) for line in named[:_ROWS] for name in line))
        rows = [tuple(line.get(name, "") for name in columns) for line in named[:_ROWS]]
    else:
        columns = ()
        rows = [tuple(line) for line in table[:_ROWS]]
    return Shown(
        kind="table",
        columns=tuple(_cut(name, _CELL_CHARS) for name in columns[:_COLUMNS]),
        rows=tuple(tuple(_cut(str(c), _CELL_CHARS) for c in line[:_COLUMNS]) for line in rows),
        left_out=max(0, len(table) - _ROWS),
    )


def _chart(chart: Mapping[str, float] | Sequence[tuple[str, float]]) -> Shown:
    points = list(chart.items()) if isinstance(chart, Mapping) else list(chart)
    rows = tuple((_cut(str(label), _CELL_CHARS), repr(float(value))) for label, value in points)
    return Shown(kind="chart", rows=rows[:_POINTS], left_out=max(0, len(rows) - _POINTS))


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]} ..."


PERSON_TOOLS = (
    tool(
        ask_user,
        kinds=["ask"],
        roles={"question": "data", "choices": "option"},
        cues=["ask me", "let me choose", "ask + before"],
    ),
    tool(
        show,
        kinds=["show"],
        roles={"text": "data", "table": "data", "chart": "data", "file": "path", "title": "option"},
        cues=["show me + table", "chart", "plot", "diagram"],
    ),
)
