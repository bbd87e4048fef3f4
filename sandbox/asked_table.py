"""A table that the person is asked to edit, as text: how it travels to the window and back.

Owns its form and what comes back: the same columns, each cell of the kind that it was where the
text allows it. Pure; any thread.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

MOST_ROWS = 1_000
MOST_COLUMNS = 50
MOST_CHARS = 500_000
UNCHANGED = frozenset({"", "ok", "done", "unchanged"})
"""Answers that leave a table as it is."""

Cell = str | int | float | bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedTable:
    """`columns`: their names; `rows`: the cells, one for each column."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def text(self) -> str:
        """As JSON, for a question."""
        return json.dumps(
            {"title": self.title, "columns": self.columns, "rows": self.rows}, ensure_ascii=False
        )

    def records(self) -> list[dict[str, Cell]]:
        """As a program has it."""
        return [dict(zip(self.columns, line, strict=True)) for line in self.rows]

    def edited(self, answer: str) -> list[dict[str, Cell]]:
        """The rows of an answer, which is JSON: a list of objects, or of lists in the order of the
        columns. Raises `ValueError` for anything else.
        """
        if answer.strip().lower() in UNCHANGED:
            return self.records()
        try:
            found: object = json.loads(answer)
        except ValueError as error:
            raise ValueError("the table's rows have to be JSON, or 'ok' to leave them") from error
        if not isinstance(found, list) or len(cast("list[object]", found)) > MOST_ROWS:
            raise ValueError(f"the rows have to be a list of at most {MOST_ROWS:,}")
        lines = [self._line(line) for line in cast("list[object]", found)]
        kinds = [_kind([line[place] for line in self.rows]) for place in range(len(self.columns))]
        return [
            {
                name: _as(cell, kind)
                for name, cell, kind in zip(self.columns, line, kinds, strict=True)
            }
            for line in lines
        ]

    def _line(self, line: object) -> list[Cell]:
        if isinstance(line, dict):
            named = cast("dict[str, Cell]", line)
            if set(named) - set(self.columns):
                raise ValueError(f"the columns are {', '.join(self.columns)}")
            cells: list[Any] = [named.get(name) for name in self.columns]
        elif isinstance(line, list):
            cells = cast("list[Any]", line)
        else:
            raise ValueError("a row has to be an object or a list")
        if len(cells) != len(self.columns) or not all(_is_cell(cell) for cell in cells):
            raise ValueError(f"a row has to have one plain value for each of {self.columns}")
        return cells


def table_of(rows: Sequence[Any], title: str) -> AskedTable:
    """The table of a program's rows: dicts, or lists. Raises `ValueError` when it is too large."""
    if not rows:
        raise ValueError("the table has no rows")
    if len(rows) > MOST_ROWS:
        raise ValueError(f"the table has more than {MOST_ROWS:,} rows")
    if isinstance(rows[0], Mapping):
        named = cast("Sequence[Mapping[str, Any]]", rows)
        columns = tuple(dict.fromkeys(str(name) for line in named for name in line))
        lines = [tuple(_cell(line.get(name)) for name in columns) for line in named]
    else:
        wide = max(len(line) for line in rows)
        columns = tuple(f"column {number}" for number in range(1, wide + 1))
        lines = [(*map(_cell, line), *[None] * (wide - len(line))) for line in rows]
    if len(columns) > MOST_COLUMNS:
        raise ValueError(f"the table has more than {MOST_COLUMNS} columns")
    table = AskedTable(title=title, columns=columns, rows=tuple(lines))
    if len(table.text()) > MOST_CHARS:
        raise ValueError("the table is too large to be edited; show fewer rows or columns")
    return table


def table_from(text: str) -> AskedTable:
    """The table of a question's text."""
    found = json.loads(text)
    return AskedTable(
        title=found["title"],
        columns=tuple(found["columns"]),
        rows=tuple(tuple(line) for line in found["rows"]),
    )


def _is_cell(value: object) -> bool:
    return value is None or isinstance(value, str | int | float)


def _cell(value: object) -> Cell:
    return value if isinstance(value, str | int | float) or value is None else str(value)


def _kind(cells: Sequence[Cell]) -> type[int] | type[float] | type[bool] | None:
    """What every cell of a column is that has a value; None for text and for a mixture."""
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds == {int, float}:
        return float
    (kind,) = kinds if len(kinds) == 1 else (str,)
    return None if kind is str else cast("type[int] | type[float] | type[bool]", kind)


def _as(cell: Cell, kind: type[int] | type[float] | type[bool] | None) -> Cell:
    """A cell of an answer; what a person typed into a column of numbers is a number."""
    if not isinstance(cell, str) or kind is None:
        return cell
    text = cell.strip()
    if not text:
        return None
    if kind is bool:
        return {"true": True, "false": False}.get(text.lower(), cell)
    for number in (int, float) if kind is float else (kind, float):
        try:
            return number(text)
        except ValueError:
            continue
    return cell
