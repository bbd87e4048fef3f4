"""Opens `store.db`: one connection, WAL, every commit on the disk before it counts.

Owned by the engine thread alone; other processes may have the same file open. Must not know what
the tables mean: that is `migrations.py` and the rooms beside it. `Tables` is sqlite-utils with its
types filled in.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, cast

from sqlite_utils import Database

from app.errors import AppError
from app.store.migrations import MIGRATIONS

_BUSY_MS = 10_000
_TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
_PLAIN = frozenset({"id", "at", "created", "updated", "started", "changed", "used", "owner"})


class Tables:
    """The store's tables: rows are dicts, every writing call is a transaction of its own.

    `scrub`: takes out of a value what must not be in the store; every value that is written goes
    through it, except ids and times.
    """

    def __init__(self, database: Database, path: Path) -> None:
        self._db = database
        self._path = path
        self.scrub: Callable[[Any], Any] = _as_it_is

    def rows(
        self, sql: str, values: Sequence[object] | dict[str, object] = ()
    ) -> list[dict[str, Any]]:
        """All rows of a query with ``?`` or ``:name`` values."""
        query = cast("Callable[..., Iterable[dict[str, Any]]]", self._db.query)  # pyright: ignore[reportUnknownMemberType]  # untyped library
        with self._told():
            return list(query(sql, values if isinstance(values, dict) else list(values)))

    def insert(self, table: str, row: dict[str, Any]) -> None:
        """Add a row."""
        with self._told():
            self._db.table(table).insert(self._scrubbed(row))  # pyright: ignore[reportUnknownMemberType]  # untyped library

    def update(self, table: str, key: str, row: dict[str, Any]) -> None:
        """Change columns of the row with this id, which is there."""
        with self._told():
            self._db.table(table).update(key, self._scrubbed(row))  # pyright: ignore[reportUnknownMemberType]  # untyped library

    def upsert(self, table: str, row: dict[str, Any]) -> None:
        """Add a row or change the one with its id."""
        with self._told():
            self._db.table(table).upsert(self._scrubbed(row), pk="id")  # pyright: ignore[reportUnknownMemberType]  # untyped library

    def delete(self, table: str, key: str) -> None:
        """Remove the row with this id and what refers to it."""
        with self.atomic():
            self.execute(f"DELETE FROM [{table}] WHERE id = ?", [key])  # noqa: S608  # own names

    def execute(self, sql: str, values: Sequence[object] = ()) -> int:
        """Run a statement inside `atomic`; returns the number of rows changed."""
        with self._told():
            values = [self.scrub(value) for value in values]
            return self._db.execute(sql, values).rowcount  # pyright: ignore[reportUnknownMemberType]  # untyped library

    def names(self) -> list[str]:
        """The tables there are."""
        return [row["name"] for row in self.rows(_TABLES)]

    def scrub_rows(self, table: str, after: int, limit: int) -> tuple[int | None, int]:
        """Take out of the next rows what `scrub` has come to know since they were written.

        `after`: the last row that was looked at, 0 at the beginning. Returns the same for the next
        call, None at the end, and how many cells were changed.
        """
        changed, last = 0, None
        with self.atomic():
            for row in self.rows(
                f"SELECT rowid AS _row, * FROM [{table}] WHERE rowid > ? ORDER BY rowid LIMIT ?",  # noqa: S608  # own names
                [after, limit],
            ):
                last = row.pop("_row")
                clean = self._scrubbed(row)
                for name in [name for name in row if clean[name] != row[name]]:
                    statement = f"UPDATE [{table}] SET [{name}] = ? WHERE rowid = ?"  # noqa: S608  # own names
                    changed += self.execute(statement, [clean[name], last])
        return last, changed

    def forget_freed(self) -> None:
        """Leave nothing of what was overwritten in the write-ahead log.

        The file itself keeps nothing: `secure_delete` overwrites what is freed.
        """
        with self._told():
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()  # pyright: ignore[reportUnknownMemberType]  # untyped library

    def _scrubbed(self, row: dict[str, Any]) -> dict[str, Any]:
        return {
            name: value if name in _PLAIN or name.endswith("_id") else self.scrub(value)
            for name, value in row.items()
        }

    @contextmanager
    def _told(self) -> Generator[None]:
        """A fault of the file or its disk, as an error that the person can act on."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.IntegrityError | sqlite3.ProgrammingError):
                raise  # ours
            raise unusable(self._path, error) from error

    def atomic(self) -> AbstractContextManager[object]:
        """Several statements as one transaction."""
        return self._db.atomic()

    def close(self) -> None:
        """Close the file."""
        self._db.close()


def _as_it_is(value: Any) -> Any:
    return value


def open_database(path: Path) -> Tables:
    """Open or make the store and bring it to this version.

    Raises: `AppError` when the file is not a database, is damaged, or was written by a newer
    version.
    """
    try:
        connection = sqlite3.connect(path, timeout=_BUSY_MS / 1000)
        connection.execute(f"PRAGMA busy_timeout={_BUSY_MS}")
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("PRAGMA secure_delete=ON")
        database = Database(connection)
        migrate(database, path)
    except sqlite3.DatabaseError as error:
        raise unusable(path, error) from error
    return Tables(database, path)


def unusable(path: Path, error: sqlite3.DatabaseError) -> AppError:
    """What is wrong with the store, in words: the disk, another process, or the file itself."""
    if isinstance(error, sqlite3.OperationalError):
        return AppError(
            f"The store cannot be used now: {path} ({error}).",
            hint="Free some space on its disk, check its permissions, and close other Drydocks.",
        )
    return AppError(
        f"The store is damaged or is no Drydock store: {path} ({error}).",
        hint="Move the file away to start with an empty one; your folders are not affected.",
    )


def migrate(database: Database, path: Path) -> None:
    """Run the migrations that are still to be run, each in a transaction of its own."""
    version = _version(database)
    if version > len(MIGRATIONS):
        raise AppError(
            f"The store {path} was written by a newer Drydock (format {version}).",
            hint="Use that version, or set DRYDOCK_HOME to another folder.",
        )
    connection = database.conn
    for number in range(version, len(MIGRATIONS)):
        connection.execute("BEGIN IMMEDIATE")
        try:
            if _version(database) == number:  # another process may have been faster
                for statement in MIGRATIONS[number]:
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version={number + 1}")
            connection.execute("COMMIT")
        except BaseException:
            connection.rollback()
            raise


def _version(database: Database) -> int:
    (version,) = database.conn.execute("PRAGMA user_version").fetchone()
    return int(version)
