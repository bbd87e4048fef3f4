"""Rows of table files: CSV and TSV, JSON and JSON lines, for `sql`.

Owns separators, column names and value types: a column is numbers when every value in it is one
that number and text agree on, so that `007` and 20-digit ids stay as they are. Pure; any thread.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from sandbox.text_guess import guess

Value = str | int | float | None

TEXT_TABLES = frozenset({".csv", ".tsv", ".tab"})
JSON_TABLES = frozenset({".json", ".jsonl", ".ndjson"})
DATABASES = frozenset({".sqlite", ".sqlite3", ".db", ".db3"})

_INTEGER = re.compile(r"-?(?:0|[1-9]\d{0,17})")
_REAL = re.compile(r"-?(?:0|[1-9]\d*)?\.\d+(?:[eE][+-]?\d{1,2})?|-?(?:0|[1-9]\d{0,14})(?:\.\d*)?")
_SEPARATORS = ",;\t|"
_FIELD_CHARS = 16 * 1024 * 1024
_MOST_COLUMNS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Columns, and rows with a value for each."""

    columns: tuple[str, ...]
    rows: list[Sequence[Value]]


def table_of(name: str, data: bytes) -> Table:
    """The table in a file; raises `ValueError` when there is none."""
    suffix = suffix_of(name)
    if suffix in TEXT_TABLES:
        return _separated(name, guess(data), "\t" if suffix != ".csv" else None)
    if suffix in JSON_TABLES:
        return _records(name, guess(data), lines=suffix != ".json")
    raise ValueError(f"{name} is not a table: use CSV, TSV, JSON, JSON lines or SQLite files")


def suffix_of(name: str) -> str:
    """The ending of a file's name in lower case, with its dot."""
    stem, dot, ending = name.rpartition(".")
    return f".{ending}".casefold() if dot and stem else ""


def _separated(name: str, text: str, separator: str | None) -> Table:
    first = text.partition("\n")[0]
    separator = separator or max(_SEPARATORS, key=first.count)
    csv.field_size_limit(_FIELD_CHARS)
    try:
        lines = [
            row for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator) if row
        ]
    except csv.Error as error:
        raise ValueError(f"{name} cannot be read as a table: {error}") from error
    if not lines:
        raise ValueError(f"{name} is empty")
    width = max(map(len, lines))
    header = lines[0] + [""] * (width - len(lines[0]))
    columns = _unique(name, [text.strip() for text in header])
    body = [row + [""] * (width - len(row)) for row in lines[1:]]
    typed = [_typed(column) for column in zip(*body, strict=True)]
    rows: list[Sequence[Value]] = list(zip(*typed, strict=True))
    return Table(columns=columns, rows=rows)


def _typed(column: Sequence[str]) -> Sequence[Value]:
    """A column as numbers when all that is in it are numbers; empty ones are then missing."""
    filled = [value.strip() for value in column if value.strip()]
    if filled and all(map(_INTEGER.fullmatch, filled)):
        return [int(value) if value.strip() else None for value in column]
    if filled and all(map(_REAL.fullmatch, filled)):
        return [float(value) if value.strip() else None for value in column]
    return column


def _records(name: str, text: str, *, lines: bool) -> Table:
    try:
        if lines:
            items: Any = [json.loads(line) for line in text.splitlines() if line.strip()]
        else:
            items = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{name} is not valid JSON: {error}") from error
    records = [_record(item) for item in _items(name, items)]
    keys = list(dict.fromkeys(key for record in records for key in record))
    columns = _unique(name, keys)
    rows: list[Sequence[Value]] = [[record.get(key) for key in keys] for record in records]
    if not columns:
        raise ValueError(f"{name} holds no records")
    return Table(columns=columns, rows=rows)


def _items(name: str, items: object) -> Iterable[object]:
    """The records in a JSON value: a list, or the one list in an object, or the object itself."""
    if isinstance(items, list):
        return cast("list[object]", items)
    if not isinstance(items, dict):
        raise ValueError(f"{name} holds one value, not records")
    inner = cast("dict[str, object]", items)
    lists = [cast("list[object]", value) for value in inner.values() if isinstance(value, list)]
    return lists[0] if len(lists) == 1 else [inner]


def _record(item: object) -> Mapping[str, Value]:
    if not isinstance(item, dict):
        return {"value": _cell(item)}
    return {key: _cell(value) for key, value in cast("dict[str, object]", item).items()}


def _cell(value: object) -> Value:
    """A JSON value as SQLite has it; what is nested stays JSON text, as SQLite's functions take."""
    if value is None or isinstance(value, str | float):
        return value
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**63 else str(value)
    return json.dumps(value, ensure_ascii=False)


def _unique(name: str, columns: Sequence[str]) -> tuple[str, ...]:
    """Column names that SQLite can tell apart: it ignores case."""
    if len(columns) > _MOST_COLUMNS:
        raise ValueError(f"{name} has more than {_MOST_COLUMNS:,} columns")
    taken: set[str] = set()
    found: list[str] = []
    for number, column in enumerate(columns, 1):
        wanted = column or f"column_{number}"
        unique, count = wanted, 1
        while unique.casefold() in taken:
            count += 1
            unique = f"{wanted}_{count}"
        taken.add(unique.casefold())
        found.append(unique)
    return tuple(found)
