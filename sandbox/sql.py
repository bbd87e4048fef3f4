"""The tool `sql`: one SELECT over table files and SQLite files, in memory, changing nothing.

Owns which files become tables, what a query may do (an authorizer decides, not its text) and the
bounds of its time and result. Thread: the runner's.
Source: SQLite, "Defense Against The Dark Arts", sqlite.org/security.html.
"""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from sandbox.effects import Effect
from sandbox.names import shown
from sandbox.tables import DATABASES, JSON_TABLES, TEXT_TABLES, Table, suffix_of, table_of
from sandbox.tool_run import ToolRun
from sandbox.tools import Planned, tool

_KINDS = TEXT_TABLES | JSON_TABLES | DATABASES
_WORD = re.compile(r"[^\W\d]\w*")
_STEPS = 10_000
_TEXT_BYTES = 16 * 1024 * 1024
_QUERY_BYTES = 100_000
_HEADER = b"SQLite format 3\0"
_ALLOWED = frozenset(
    {
        sqlite3.SQLITE_SELECT,
        sqlite3.SQLITE_READ,
        sqlite3.SQLITE_FUNCTION,
        sqlite3.SQLITE_RECURSIVE,
    }
)
_FORBIDDEN_FUNCTIONS = frozenset(
    {"load_extension", "readfile", "writefile", "edit", "fts3_tokenizer", "randomblob"}
)

Read = Callable[[], bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlLimits:
    """Bounds of a query. `result_chars`: of all texts in the result."""

    rows: int = 100_000
    result_chars: int = 32 * 1024 * 1024
    time_s: float = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file that becomes a table (a database: all its tables, and `name.table`)."""

    table: str
    file: str
    read: Read


def sql(
    run: ToolRun,
    query: str,
    tables: dict[str, str | Path] | list[str | Path] | None = None,
    params: list[Any] | dict[str, Any] | None = None,
) -> Planned[list[dict[str, Any]]]:
    """Run one SELECT (SQLite) over CSV, TSV, JSON, JSON lines and SQLite files.

    A table is named like its file without the ending: sales-2024.csv is sales_2024. `tables` names
    files in other places: {"sales": "data/sales.csv"}. Use ? and `params` for values.
    """
    if len(query.encode("utf-8", "replace")) > _QUERY_BYTES:
        raise ValueError("the query is a text of at most 100 kB")
    effects: list[Effect] = []
    sources: list[Source] = []
    for name, path in _files(run, query, tables):
        effect, read = run.read(path)
        effects.append(effect)
        sources.append(Source(table=name, file=shown(path.rpartition("/")[2]), read=read))
    return Planned(
        effects=tuple(effects),
        do=lambda: select(sources, query, params or [], stopped=run.stopped),
    )


def _files(
    run: ToolRun, query: str, tables: Mapping[str, str | Path] | Sequence[str | Path] | None
) -> list[tuple[str, str]]:
    """Table names and paths that a query is about."""
    if isinstance(tables, Mapping):
        return [(str(name), run.paths.path(path)) for name, path in tables.items()]
    if tables is not None:
        paths = [run.paths.path(path) for path in tables]
        return [(table_name(path), path) for path in paths]
    words = {word.casefold() for word in _WORD.findall(query)} | set(
        re.findall(r'"([^"]+)"', query)
    )
    found: dict[str, str] = {}
    for name in sorted(run.paths.stage.listdir(run.paths.cwd)):
        table = table_name(name)
        if suffix_of(name) in _KINDS and {table.casefold(), name} & words:
            if table in found:
                raise ValueError(f"two files would be the table {table}; name one in `tables`")
            found[table] = f"{run.paths.cwd}/{name}"
    return list(found.items())


def table_name(path: str) -> str:
    """The name of the table of a file: its name without the ending, as an identifier."""
    stem = path.rpartition("/")[2]
    if suffix_of(stem) in _KINDS:
        stem = stem.rpartition(".")[0]
    name = re.sub(r"\W+", "_", stem).strip("_") or "t"
    return f"t_{name}" if name[0].isdigit() else name


def select(
    sources: Sequence[Source],
    query: str,
    params: Sequence[Any] | Mapping[str, Any],
    *,
    limits: SqlLimits | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> list[dict[str, Any]]:
    """The rows that a query gives.

    Raises `ValueError` with what is wrong and what tables there are, `PermissionError` for a query
    that would do anything but read.
    """
    limits = limits or SqlLimits()
    connection = sqlite3.connect(":memory:", isolation_level=None, cached_statements=0)
    try:
        columns = _load(connection, sources)
        refused: list[str] = []
        _lock(connection, refused)
        _bound(connection, limits, stopped)
        try:
            return _rows(connection.execute(query, params), limits)
        except (sqlite3.Error, sqlite3.Warning, OverflowError) as error:
            if refused:
                raise PermissionError("sql() only reads: write one SELECT") from error
            raise _explained(error, columns, limits) from error
    finally:
        connection.close()


def _load(connection: sqlite3.Connection, sources: Sequence[Source]) -> dict[str, list[str]]:
    """Make the tables; gives the columns of each, for hints."""
    columns: dict[str, list[str]] = {}
    for source in sources:
        data = source.read()
        if data.startswith(_HEADER) or suffix_of(source.file) in DATABASES:
            columns |= _attach(connection, source, data)
            continue
        table = table_of(source.file, data)
        _fill(connection, source.table, table)
        columns[source.table] = list(table.columns)
    return columns


def _fill(connection: sqlite3.Connection, name: str, table: Table) -> None:
    declared = ", ".join(map(_quoted, table.columns))
    marks = ", ".join("?" * len(table.columns))
    try:
        connection.execute(f"CREATE TABLE {_quoted(name)} ({declared})")
        connection.execute("BEGIN")
        connection.executemany(f"INSERT INTO {_quoted(name)} VALUES ({marks})", table.rows)  # noqa: S608  # quoted names
        connection.execute("COMMIT")
    except sqlite3.Error as error:
        raise ValueError(f"the table {name} cannot be made: {error}") from error


def _attach(connection: sqlite3.Connection, source: Source, data: bytes) -> dict[str, list[str]]:
    """A copy of a database file, in memory, below the source's name."""
    if not data.startswith(_HEADER):
        raise ValueError(f"{source.file} is not an SQLite database")
    # A database in memory has no write-ahead log: bytes 18 and 19 say "journal" (file format, 1.3).
    data = b"".join((data[:18], b"\x01\x01", data[20:]))
    try:
        connection.execute(f"ATTACH ':memory:' AS {_quoted(source.table)}")
        connection.deserialize(data, name=source.table)
        names = [
            str(row[0])
            for row in connection.execute(
                f"SELECT name FROM {_quoted(source.table)}.sqlite_master "  # noqa: S608  # quoted names
                "WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
            )
        ]
    except sqlite3.Error as error:
        raise ValueError(f"{source.file} cannot be read: {error}") from error
    return {name: [] for name in names}


def _lock(connection: sqlite3.Connection, refused: list[str]) -> None:
    """From here on, nothing but reading; files made by strangers are not trusted either."""
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA query_only = ON")
    connection.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)

    def authorize(action: int, first: str | None, second: str | None, *_: object) -> int:
        name = (second or "").casefold()
        if action not in _ALLOWED or (
            action == sqlite3.SQLITE_FUNCTION and name in _FORBIDDEN_FUNCTIONS
        ):
            refused.append(f"{action} {first or ''}")
            return sqlite3.SQLITE_DENY
        return sqlite3.SQLITE_OK

    connection.set_authorizer(authorize)


def _bound(connection: sqlite3.Connection, limits: SqlLimits, stopped: Callable[[], bool]) -> None:
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _TEXT_BYTES)
    connection.setlimit(sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 200)
    connection.setlimit(sqlite3.SQLITE_LIMIT_COMPOUND_SELECT, 100)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 10)
    connection.setlimit(sqlite3.SQLITE_LIMIT_WORKER_THREADS, 0)
    ends = time.monotonic() + limits.time_s
    connection.set_progress_handler(lambda: stopped() or time.monotonic() > ends, _STEPS)


def _rows(cursor: sqlite3.Cursor, limits: SqlLimits) -> list[dict[str, Any]]:
    names = [str(item[0]) for item in cursor.description or ()]
    if not names:
        raise PermissionError("sql() only reads: write one SELECT")
    rows: list[dict[str, Any]] = []
    chars = 0
    for row in cursor:
        chars += sum(len(value) for value in row if isinstance(value, str | bytes))
        if len(rows) >= limits.rows or chars > limits.result_chars:
            raise ValueError(
                f"the result has more than {limits.rows:,} rows or is too large: "
                "aggregate in the query, or use LIMIT"
            )
        rows.append(dict(zip(names, row, strict=True)))
    return rows


def _explained(
    error: Exception, columns: Mapping[str, Sequence[str]], limits: SqlLimits
) -> ValueError:
    """An error of SQLite with what a model needs to correct the query."""
    text = str(error)
    if "interrupted" in text:
        return ValueError(f"the query took more than {limits.time_s:g} s; make it simpler")
    if "no such table" in text:
        wanted = text.rpartition(": ")[2]
        near = get_close_matches(wanted, columns, n=1)
        meant = f" Did you mean {near[0]!r}?" if near else ""
        there = (
            f"Tables: {', '.join(columns)}."
            if columns
            else ('Name the files: tables={"name": "path/to/file.csv"}.')
        )
        return ValueError(f"{text}.{meant} {there}")
    if "no such column" in text:
        listed = "; ".join(
            f"{name}: {', '.join(names)}" for name, names in columns.items() if names
        )
        return ValueError(f"{text}. Columns: {listed}")
    return ValueError(f"the query is not right: {text}")


def _quoted(name: str) -> str:
    """A name as an identifier in SQL, whatever is in it."""
    return '"' + name.replace('"', '""').replace("\0", "") + '"'


SQL_TOOLS = (
    tool(
        sql,
        kinds=["read"],
        roles={"query": "query", "tables": "path", "params": "data"},
        labels=["private"],
        cost="files",
        cues=["sql", "sqlite", "sqlite3", "database", "select"],
    ),
)
