"""Tools for the side panel: what the person selected there, a file to look at, a filter, a table.

Owns what each asks or shows. A question is a question like any other: it waits durably, and is
answered in the window or on the command line. Also written ``ui.selection()`` and so on.
Thread: the runner's.
"""

from __future__ import annotations

from typing import Any

from sandbox.asked_table import AskedTable, table_of
from sandbox.effects import Effect
from sandbox.shown import Shown
from sandbox.tool_run import ToolRun
from sandbox.tools import Planned, tool

PREFIX = "ui_"
_TITLE_CHARS = 200
_FILTER_CHARS = 200
_MOST_SELECTED = 10_000


def ui_selection(run: ToolRun) -> Planned[list[str]]:
    """The files and folders that the person has selected in the side panel, as full paths.

    Waits for a selection when there is none. Also written ui.selection().
    """
    return Planned(
        do=list,
        effects=(Effect(kind="ask", path=""),),
        exact="Select files or folders for the program.",
        asks_person=True,
        taken=lambda text: _selected(run, text),
    )


def _selected(run: ToolRun, text: str) -> list[str]:
    """The paths of an answer, one a line, each in a granted folder and there."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > _MOST_SELECTED:
        raise ValueError(f"more than {_MOST_SELECTED:,} files are selected; select their folder")
    paths = [run.paths.path(line) for line in lines]
    for path in paths:
        run.paths.stage.stat(path)
    return paths


def ui_open(run: ToolRun, path: str) -> Planned[None]:
    """Show a file or folder of the person in the side panel. Also written ui.open(path)."""
    place = run.paths.path(path)
    run.paths.stage.stat(place)
    return Planned(
        do=lambda: run.shown.append(Shown(kind="open", text=place)),
        effects=(Effect(kind="show", path=place),),
    )


def ui_set_filter(run: ToolRun, pattern: str) -> Planned[None]:
    """Have the side panel list only files whose names fit, as "*.jpg"; "" for all.

    Also written ui.set_filter(pattern).
    """
    wanted = pattern.strip()
    if len(wanted) > _FILTER_CHARS or not wanted.isprintable():
        raise ValueError("the filter is no pattern for names, such as '*.jpg'")
    return Planned(
        do=lambda: run.shown.append(Shown(kind="filter", text=wanted)),
        effects=(Effect(kind="show", path=""),),
    )


def ui_table(
    run: ToolRun,
    rows: list[dict[str, object]] | list[list[object]] | list[tuple[object, ...]],
    editable: bool = False,
    title: str = "",
) -> Planned[list[dict[str, Any]]]:
    """Show rows (dicts or lists) as a table in the side panel; gives the rows, as dicts.

    With editable=True it waits until the person has edited them, and gives the edited rows.
    Also written ui.table(rows, editable=True).
    """
    table = table_of(rows, " ".join(title.split())[:_TITLE_CHARS])
    if editable:
        return Planned(
            do=table.records,
            effects=(Effect(kind="ask", path=""),),
            exact=table.text(),
            asks_person=True,
            taken=table.edited,
        )

    def do() -> list[dict[str, Any]]:
        run.shown.append(_shown(table))
        return table.records()

    return Planned(do=do, effects=(Effect(kind="show", path=""),))


def _shown(table: AskedTable) -> Shown:
    lines = [["" if cell is None else str(cell) for cell in line] for line in table.rows]
    return Shown(
        kind="table", title=table.title, columns=table.columns, rows=tuple(map(tuple, lines))
    )


PANEL_TOOLS = (
    tool(
        ui_selection,
        kinds=["ask"],
        labels=["private"],
        cues=["selected", "my selection"],
    ),
    tool(ui_open, kinds=["show"], roles={"path": "path"}, cues=["side panel"]),
    tool(ui_set_filter, kinds=["show"], roles={"pattern": "option"}, cues=["side panel"]),
    tool(
        ui_table,
        kinds=["ask", "show"],
        roles={"rows": "data", "editable": "option", "title": "option"},
        labels=["private"],
        cues=["let me edit", "i edit", "editable", "edit + table"],
    ),
)
