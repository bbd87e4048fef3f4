"""Queries over files: right values, nothing but reading, and an end in time."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from sandbox.sql import Source, SqlLimits, select, table_name
from sandbox.tables import table_of

PEOPLE = b"name;age;zip;note\nAnn;31;01234;a\nBob;;99999;b, c\nZo\xc3\xab;7;00001;\n"


def ask(query: str, /, *params: object, limits: SqlLimits | None = None, **files: bytes) -> object:
    sources = [
        Source(table=table_name(name), file=name.replace("__", "."), read=lambda data=data: data)
        for name, data in files.items()
    ]
    sources = [
        Source(table=table_name(source.file), file=source.file, read=source.read)
        for source in sources
    ]
    return select(sources, query, list(params), limits=limits)


def database(path: Path, *statements: str) -> bytes:
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()
    return path.read_bytes()


def test_numbers_are_numbers_and_what_only_looks_like_one_stays_text() -> None:
    rows = ask("SELECT * FROM people ORDER BY name", people__csv=PEOPLE)
    assert rows == [
        {"name": "Ann", "age": 31, "zip": "01234", "note": "a"},
        {"name": "Bob", "age": None, "zip": "99999", "note": "b, c"},
        {"name": "Zoë", "age": 7, "zip": "00001", "note": ""},
    ]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,5\n2.5,6", [(1.0, 5), (2.5, 6)]),
        ("12345678901234567890,1", [("12345678901234567890", 1)]),
        ("1e999,-0.5", [("1e999", -0.5)]),
        ("nan,inf", [("nan", "inf")]),
        ("-3, 4", [(-3, 4)]),
        ("+49,007", [("+49", "007")]),
    ],
)
def test_a_column_is_numbers_only_when_nothing_is_lost(
    text: str, values: list[tuple[object, ...]]
) -> None:
    table = table_of("t.csv", f"a,b\n{text}\n".encode())
    assert [tuple(row) for row in table.rows] == values


def test_old_encodings_and_byte_order_marks_are_read() -> None:
    assert table_of("a.csv", "Straße;Ort\nä;Köln\n".encode("cp1252")).columns == ("Straße", "Ort")
    assert table_of("a.csv", b"\xef\xbb\xbfid,x\n1,2\n").columns == ("id", "x")
    assert table_of("a.tsv", "id\tx\n1\t2\n".encode("utf-16")).columns == ("id", "x")


def test_columns_that_sqlite_cannot_tell_apart_get_a_number() -> None:
    table = table_of("a.csv", b"id,ID,,id\n1,2,3,4,5\n")
    assert table.columns == ("id", "ID_2", "column_3", "id_3", "column_5")
    assert [tuple(row) for row in table.rows] == [(1, 2, 3, 4, 5)]


def test_json_in_its_forms_is_rows() -> None:
    listed = b'[{"a": 1, "b": {"c": [1]}}, {"a": 12345678901234567890}]'
    assert ask("SELECT a, json_extract(b, '$.c[0]') c FROM x", x__json=listed) == [
        {"a": 1, "c": 1},
        {"a": "12345678901234567890", "c": None},
    ]
    wrapped = b'{"count": 2, "items": [{"a": 1}, {"a": 2}]}'
    assert ask("SELECT sum(a) s FROM x", x__json=wrapped) == [{"s": 3}]
    assert ask("SELECT sum(a) s FROM x", x__jsonl=b'{"a": 1}\n\n{"a": 4}\n') == [{"s": 5}]
    assert ask("SELECT max(value) m FROM x", x__json=b"[3, 1]") == [{"m": 3}]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("x.json", b"{broken"),
        ("x.json", b"3"),
        ("x.json", b"[]"),
        ("x.json", b"[" * 100_000),
        ("x.csv", b""),
        ("x.txt", b"a,b\n"),
        ("x.db", b"not a database"),
    ],
)
def test_a_file_without_a_table_is_named(name: str, data: bytes) -> None:
    source = Source(table="x", file=name, read=lambda: data)
    with pytest.raises(ValueError, match=r"x\."):
        select([source], "SELECT 1", [])


def test_a_database_is_read_by_its_tables_names(tmp_path: Path) -> None:
    data = database(
        tmp_path / "shop.db",
        "PRAGMA journal_mode = WAL",
        "CREATE TABLE orders (id INTEGER, total REAL)",
        "INSERT INTO orders VALUES (1, 2.5), (2, 4)",
    )
    assert ask("SELECT sum(total) s FROM orders", shop__db=data) == [{"s": 6.5}]
    assert ask("SELECT count(*) n FROM shop.orders", shop__db=data) == [{"n": 2}]
    joined = "SELECT name FROM orders JOIN people ON people.age = 31 AND orders.id = 1"
    assert ask(joined, shop__db=data, people__csv=PEOPLE) == [{"name": "Ann"}]


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM people",
        "UPDATE people SET age = 1",
        "INSERT INTO people VALUES (1,2,3,4)",
        "DROP TABLE people",
        "CREATE TABLE other (a)",
        "CREATE TEMP TABLE other (a)",
        "ATTACH '/tmp/x.db' AS x",
        "ATTACH ':memory:' AS x",
        "DETACH shop",
        "PRAGMA writable_schema = 1",
        "PRAGMA query_only = 0",
        "PRAGMA temp_store_directory = '/tmp'",
        "VACUUM INTO '/tmp/x.db'",
        "SELECT load_extension('x')",
        "SELECT writefile('/tmp/x', 'y')",
        "WITH x AS (SELECT 1) DELETE FROM people",
        "REINDEX",
        "ANALYZE",
        "BEGIN",
        "SAVEPOINT a",
        "SELECT * FROM people; DROP TABLE people",
        "",
        "-- nothing",
    ],
)
def test_nothing_but_one_select_runs(query: str) -> None:
    with pytest.raises((PermissionError, ValueError)) as caught:
        ask(query, people__csv=PEOPLE)
    assert "sql()" in str(caught.value) or "not right" in str(caught.value)


def test_a_value_is_never_read_as_sql() -> None:
    attack = "'; DROP TABLE people; --"
    assert ask("SELECT ? AS x FROM people LIMIT 1", attack, people__csv=PEOPLE) == [{"x": attack}]


def test_names_of_files_and_columns_are_never_read_as_sql() -> None:
    data = b'a") AS (SELECT 1); --,"b""c"\n1,2\n'
    source = Source(table='t"; DROP TABLE x; --', file="t.csv", read=lambda: data)
    rows = select([source], 'SELECT * FROM "t""; DROP TABLE x; --"', [])
    assert rows == [{'a") AS (SELECT 1); --': 1, 'b"c': 2}]


def test_a_view_of_a_foreign_database_cannot_do_more(tmp_path: Path) -> None:
    data = database(
        tmp_path / "evil.db",
        "CREATE TABLE t (a)",
        "INSERT INTO t VALUES (1)",
        "CREATE VIEW v AS SELECT writefile('/tmp/x', a) FROM t",
    )
    with pytest.raises((PermissionError, ValueError)):
        ask("SELECT * FROM v", evil__db=data)


def test_a_damaged_database_is_an_error(tmp_path: Path) -> None:
    data = database(tmp_path / "a.db", "CREATE TABLE t (a)", "INSERT INTO t VALUES (1)")
    broken = data[:100] + b"\xff" * 3_100 + data[3_200:]
    with pytest.raises(ValueError, match=r"cannot be read|not right"):
        ask("SELECT * FROM t", a__db=broken)


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "


def test_a_query_without_end_is_ended() -> None:
    with pytest.raises(ValueError, match="took more than"):
        ask(f"{ENDLESS} SELECT count(*) FROM n", limits=SqlLimits(time_s=0.1))


def test_stop_ends_a_query() -> None:
    with pytest.raises(ValueError, match="took more than"):
        select([], f"{ENDLESS} SELECT count(*) FROM n", [], stopped=lambda: True)


def test_a_result_without_end_is_refused_instead_of_cut() -> None:
    with pytest.raises(ValueError, match="use LIMIT"):
        ask(f"{ENDLESS} SELECT i FROM n", limits=SqlLimits(rows=100))


def test_huge_values_are_refused() -> None:
    with pytest.raises(ValueError, match="not right"):
        ask("SELECT zeroblob(900000000)")
    with pytest.raises(ValueError, match="too large"):
        ask(
            f"{ENDLESS} SELECT hex(zeroblob(1000000)) FROM n",
            limits=SqlLimits(result_chars=10_000_000),
        )


def test_a_wrong_name_comes_back_with_what_there_is() -> None:
    with pytest.raises(ValueError, match=r"Did you mean 'people'\? Tables: people"):
        ask("SELECT * FROM peple", people__csv=PEOPLE)
    with pytest.raises(ValueError, match="Columns: people: name, age, zip, note"):
        ask("SELECT agee FROM people", people__csv=PEOPLE)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a/sales-2024.csv", "sales_2024"),
        ("2024.csv", "t_2024"),
        ("Größe m².tsv", "Größe_m²"),
        ("---.json", "t"),
        ("archive.tar", "archive_tar"),
    ],
)
def test_a_table_is_named_like_its_file(path: str, name: str) -> None:
    assert table_name(path) == name
