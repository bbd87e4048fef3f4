"""Parses and writes formats for the prelude's classes: XML, INI, mail, SQLite, fractions, URLs.

Owns their limits: no entities in XML, no other files from SQL, time and rows bounded. Touches the
stage for databases alone. Thread: the runner's.
"""

from __future__ import annotations

import configparser
import csv
import difflib
import email
import email.policy
import email.utils
import sqlite3
import time
import urllib.parse
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from email.message import EmailMessage, Message
from fractions import Fraction
from typing import Any, cast

from sandbox.host_answer import Answer
from sandbox.host_archives import FAILED
from sandbox.host_files import HostPaths

_XML_CHARS = 32 * 1024 * 1024
_ROWS = 100_000
_SQL_S = 10.0
_COMPARED = 20_000
_ERRORS = (ET.ParseError, configparser.Error, sqlite3.Error, csv.Error)


class HostFormats:
    """Functions of the prelude's format classes, by name."""

    def __init__(self, paths: HostPaths) -> None:
        self._paths = paths
        self._databases: dict[int, tuple[sqlite3.Connection, str | None]] = {}
        self._until = 0.0
        pure: dict[str, Callable[..., object]] = {
            "__dd_xml_parse": _xml_parse,
            "__dd_xml_text": _xml_text,
            "__dd_ini_parse": _ini_parse,
            "__dd_mail_parse": _mail_parse,
            "__dd_mail_address": email.utils.parseaddr,
            "__dd_mail_date": email.utils.parsedate_to_datetime,
            "__dd_ratio": _ratio,
            "__dd_limited": _limited,
            "__dd_ratio_of": _ratio_of,
            "__dd_opcodes": _opcodes,
            "__dd_url_parse": _url_parse,
            "__dd_url_text": _url_text,
            "__dd_csv_sniff": _sniff,
            "__dd_csv_has_header": csv.Sniffer().has_header,
            "__dd_sql_run": self._run,
            "__dd_sql_rollback": self._rollback,
        }
        self._calls: dict[str, Callable[..., Answer]] = {
            **{name: _pure(function) for name, function in pure.items()},
            "__dd_sql_open": self._open,
            "__dd_sql_commit": self._commit,
            "__dd_sql_close": self._close_database,
        }

    def answer(
        self, name: str, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> Answer | None:
        """What call `name` would do, or None for an unknown call; raises what Python raises."""
        call = self._calls.get(name)
        return None if call is None else call(*args, **kwargs)

    def close(self) -> None:
        """Close the databases that the program left open."""
        for connection, _ in self._databases.values():
            connection.close()
        self._databases.clear()

    def _open(self, database: object) -> Answer:
        if database == ":memory:":
            return Answer(do=lambda: self._connected(b"", None))
        path = self._paths.path(database)
        if not self._paths.stage.exists(path):
            effect = self._paths.written(path, 0)

            def create() -> int:
                self._paths.stage.create(path)
                return self._connected(b"", path)

            return Answer(effects=(effect,), do=create)
        effect, read = self._paths.read(path)
        return Answer(effects=(effect,), do=lambda: self._connected(read(), path))

    def _connected(self, data: bytes, path: str | None) -> int:
        connection = sqlite3.connect(":memory:")
        if data:
            connection.deserialize(data)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.set_progress_handler(lambda: time.monotonic() > self._until, 10_000)
        connection.execute(f"PRAGMA max_page_count = {self._paths.limits.memory_bytes // 4096}")
        number = len(self._databases) + 1
        self._databases[number] = (connection, path)
        return number

    def _run(
        self, number: int, sql: str, parameters: Any, many: bool
    ) -> tuple[list[str], list[tuple[Any, ...]], int, int | None]:
        connection, _ = self._databases[number]
        self._until = time.monotonic() + _SQL_S
        if many:
            cursor = connection.executemany(sql, parameters)
        elif parameters is None:
            cursor = connection.executescript(sql)
        else:
            cursor = connection.execute(sql, parameters)
        rows = cursor.fetchmany(_ROWS + 1) if cursor.description else []
        if len(rows) > _ROWS:
            raise OSError(27, f"the query has more than {_ROWS:,} rows; add a LIMIT", "")
        names = [column[0] for column in cursor.description or ()]
        return names, rows, cursor.rowcount, cursor.lastrowid

    def _rollback(self, number: int) -> None:
        self._databases[number][0].rollback()

    def _commit(self, number: int) -> Answer:
        connection, path = self._databases[number]
        if path is None:
            return Answer(do=connection.commit)

        def do() -> None:
            connection.commit()
            self._paths.stage.write_bytes(path, connection.serialize())

        return Answer(effects=(self._paths.effect("modify", path),), do=do)

    def _close_database(self, number: int) -> Answer:
        def do() -> None:
            connection, _ = self._databases[number]
            connection.close()

        return Answer(do=do)


def _pure(function: Callable[..., object]) -> Callable[..., Answer]:
    def answer(*args: object, **kwargs: object) -> Answer:
        def do() -> object:
            try:
                return function(*args, **kwargs)
            except _ERRORS as error:
                return (FAILED, str(error))

        return Answer(do=do)

    return answer


def _xml_parse(data: str | bytes) -> object:
    head = data if isinstance(data, str) else data.decode("latin-1")
    if len(head) > _XML_CHARS:
        raise ValueError("the XML is too large")
    if "<!ENTITY" in head or "\x00" in head:
        raise ValueError("XML with entities of its own is not read")
    return _plain(ET.fromstring(data))  # noqa: S314 - entities are refused above


def _plain(element: ET.Element) -> tuple[object, ...]:
    children = [_plain(child) for child in element]
    return (element.tag, dict(element.attrib), element.text, element.tail, children)


def _made(found: Any) -> ET.Element:
    tag, attrib, text, tail, children = found
    element = ET.Element(tag, attrib)
    element.text, element.tail = text, tail
    element.extend(_made(child) for child in children)
    return element


def _xml_text(found: Any, encoding: str, declaration: bool | None, method: str, short: bool) -> Any:
    return ET.tostring(
        _made(found),
        encoding=encoding,
        xml_declaration=declaration,
        method=cast("Any", method),
        short_empty_elements=short,
    )


def _ini_parse(text: str, options: dict[str, Any], case: bool) -> object:
    for name in ("delimiters", "comment_prefixes"):
        if name in options:
            options[name] = tuple(options[name])
    parser = configparser.RawConfigParser(**options)
    if case:
        parser.optionxform = str  # type: ignore[assignment]
    parser.read_string(text)
    sections = {name: dict(cast("Any", parser)._sections[name]) for name in parser.sections()}
    return dict(parser.defaults()), sections


def _mail_parse(data: str | bytes, modern: bool) -> object:
    policy: Any = email.policy.default if modern else email.policy.compat32
    if isinstance(data, bytes):
        return _mail(email.message_from_bytes(data, policy=policy))
    return _mail(email.message_from_string(data, policy=policy))


def _mail(message: Message) -> dict[str, object]:
    parts = message.get_payload() if message.is_multipart() else []
    content: object = None
    if isinstance(message, EmailMessage) and not parts:
        content = message.get_content()
        content = content if isinstance(content, str | bytes) else None
    payload = None if parts else message.get_payload()
    data = None if parts else message.get_payload(decode=True)
    return {
        "headers": [(key, str(value)) for key, value in message.items()],
        "type": message.get_content_type(),
        "filename": message.get_filename(),
        "payload": payload if isinstance(payload, str) else None,
        "data": data if isinstance(data, bytes) else None,
        "content": content,
        "charset": message.get_content_charset(),
        "attachment": message.get_content_disposition() == "attachment",
        "parts": [_mail(part) for part in cast("list[Message]", parts)],
    }


def _ratio(value: object) -> tuple[int, int]:
    if not isinstance(value, str | float | Decimal):
        raise TypeError("both arguments should be Rational instances")
    fraction = Fraction(value)
    return fraction.numerator, fraction.denominator


def _limited(numerator: int, denominator: int, most: int) -> tuple[int, int]:
    found = Fraction(numerator, denominator).limit_denominator(most)
    return found.numerator, found.denominator


def _matcher(first: list[Any], second: list[Any]) -> difflib.SequenceMatcher[Any]:
    if len(first) + len(second) > _COMPARED:
        raise ValueError("the texts are too long to be compared; compare smaller parts")
    return difflib.SequenceMatcher(None, first, second)


def _ratio_of(first: list[Any], second: list[Any]) -> float:
    return _matcher(first, second).ratio()


def _opcodes(first: list[Any], second: list[Any]) -> list[tuple[str, int, int, int, int]]:
    return [(op[0], op[1], op[2], op[3], op[4]) for op in _matcher(first, second).get_opcodes()]


def _url_parse(url: str) -> tuple[object, ...]:
    found = urllib.parse.urlparse(url)
    return (tuple(found), found.hostname, found.port, found.username, found.password)


def _url_text(parts: Sequence[str]) -> str:
    return str(urllib.parse.urlunparse(tuple(parts)))


def _sniff(sample: str, delimiters: str | None) -> tuple[object, ...]:
    found = csv.Sniffer().sniff(sample[:100_000], delimiters)
    return (
        found.delimiter,
        found.quotechar,
        found.doublequote,
        found.skipinitialspace,
        found.lineterminator,
    )
