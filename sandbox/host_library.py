"""Smaller functions of Python's library for the prelude's classes.

Owns their limits: what they are given and give back is bounded. No side effects. Thread: the
runner's.
"""

from __future__ import annotations

import bz2
import calendar
import codecs
import datetime as dt
import json
import lzma
import pprint
import urllib.parse
import uuid
from collections.abc import Callable, Mapping, Sequence
from email.message import EmailMessage
from html.parser import HTMLParser
from pathlib import PurePath, PurePosixPath
from typing import Any, Literal, cast
from zoneinfo import ZoneInfo

_HTML_CHARS = 32 * 1024 * 1024
_UNPACKED_BYTES = 64 * 1024 * 1024
_INTEGER_BYTES = 100_000


class _Path(PurePosixPath):
    def __repr__(self) -> str:
        return f"PosixPath({self.as_posix()!r})"


def _shown(value: Any) -> Any:
    """`value` with paths that show as a program's own do."""
    if isinstance(value, PurePath):
        return _Path(value)
    if isinstance(value, dict):
        items = cast("dict[Any, Any]", value).items()
        return {_shown(key): _shown(item) for key, item in items}
    if type(value) in (list, tuple, set):
        return type(value)(_shown(item) for item in cast("list[Any]", value))
    return value


def pretty(value: object, options: Mapping[str, Any]) -> str:
    """What `pprint.pformat` makes of a value of built-in types."""
    return pprint.pformat(_shown(value), **options)


class _Events(HTMLParser):
    """Collects what a program's parser is told, in order."""

    def __init__(self, *, convert: bool) -> None:
        super().__init__(convert_charrefs=convert)
        self.events: list[tuple[str, tuple[object, ...], tuple[int, int], str | None]] = []

    def _add(self, name: str, *args: object) -> None:
        self.events.append((name, args, self.getpos(), self.get_starttag_text()))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._add("handle_starttag", tag, attrs)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._add("handle_startendtag", tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        self._add("handle_endtag", tag)

    def handle_data(self, data: str) -> None:
        self._add("handle_data", data)

    def handle_comment(self, data: str) -> None:
        self._add("handle_comment", data)

    def handle_decl(self, decl: str) -> None:
        self._add("handle_decl", decl)

    def handle_pi(self, data: str) -> None:
        self._add("handle_pi", data)

    def handle_entityref(self, name: str) -> None:
        self._add("handle_entityref", name)

    def handle_charref(self, name: str) -> None:
        self._add("handle_charref", name)

    def unknown_decl(self, data: str) -> None:
        self._add("unknown_decl", data)


def html_events(text: str, end: bool, convert: bool) -> tuple[object, str]:
    """What a page's parser is told, and the text that it has not read yet."""
    if len(text) > _HTML_CHARS:
        raise ValueError("the page is too large")
    parser = _Events(convert=convert)
    parser.feed(text)
    if end:
        parser.close()
    return parser.events, parser.rawdata


def json_numbers(text: str | bytes) -> object:
    """JSON whose numbers stay as they are written, each as its kind and text."""
    return json.loads(
        text, parse_float=lambda found: ("float", found), parse_int=lambda found: ("int", found)
    )


def text_bytes(text: str, encoding: str, errors: str) -> bytes:
    """As `str.encode`, for the encodings of text."""
    return text.encode(_encoding(encoding), errors)


def bytes_text(data: bytes, encoding: str, errors: str) -> str:
    """As `bytes.decode`, for the encodings of text."""
    return bytes(data).decode(_encoding(encoding), errors)


def _encoding(name: str) -> str:
    if not getattr(codecs.lookup(name), "_is_text_encoding", True):
        raise LookupError(f"{name!r} is not a text encoding")
    return name


def zone_offset(key: str, parts: Sequence[int], utc: bool, fold: int) -> tuple[int, str]:
    """The seconds and the name that hold in a zone; `parts`: of a moment there, or in UTC."""
    zone = ZoneInfo(key)
    year, month, day, hour, minute, second, micro = parts
    moment = dt.datetime(
        year, month, day, hour, minute, second, micro, tzinfo=dt.UTC if utc else zone, fold=fold
    ).astimezone(zone)
    if not utc:
        moment = moment.replace(
            year=year, month=month, day=day, hour=hour, minute=minute, fold=fold
        )
    offset = moment.utcoffset() or dt.timedelta()
    return int(offset.total_seconds()), moment.tzname() or key


def calendar_dates(year: int, month: int, first: int) -> list[list[dt.date]]:
    """The weeks of a month."""
    return calendar.Calendar(first).monthdatescalendar(year, month)


def calendar_text(first: int, year: int, month: int, width: int, lines: int) -> str:
    """A month as a text."""
    return calendar.TextCalendar(first).formatmonth(year, month, min(width, 99), min(lines, 9))


def time_fields(value: dt.date) -> tuple[int, ...]:
    """The fields of `value.timetuple()`."""
    return tuple(value.timetuple())


def bytes_int(data: bytes, byteorder: Literal["little", "big"], signed: bool) -> int:
    """As `int.from_bytes`."""
    return int.from_bytes(data[: _INTEGER_BYTES + 1], byteorder, signed=signed)


def int_bytes(number: int, length: int, byteorder: Literal["little", "big"], signed: bool) -> bytes:
    """As `int.to_bytes`."""
    return number.to_bytes(min(length, _INTEGER_BYTES), byteorder, signed=signed)


def mail_made(
    headers: Sequence[tuple[str, str]], steps: Sequence[tuple[str, list[Any], dict[str, Any]]]
) -> bytes:
    """The text of a message that a program put together."""
    message = EmailMessage()
    for name, value in headers:
        message[name] = value
    for name, args, options in steps:
        getattr(message, name)(*args, **options)
    return message.as_bytes()


def uuid_named(version: int, namespace: str, name: str) -> str:
    """A UUID made of a name."""
    make = uuid.uuid3 if version == 3 else uuid.uuid5
    return str(make(uuid.UUID(namespace), name))


def uuid_checked(text: str) -> tuple[str, int | None]:
    """A UUID in its usual form, and its version."""
    found = uuid.UUID(text)
    return str(found), found.version


def _unpacked(decompressor: Any, data: bytes) -> bytes:
    found = bytes(decompressor.decompress(data, _UNPACKED_BYTES))
    if not decompressor.eof:
        raise ValueError("the data is not whole or unpacks to too much")
    return found


LIBRARY_FUNCTIONS: dict[str, Callable[..., object]] = {
    "__dd_pretty": pretty,
    "__dd_json_numbers": json_numbers,
    "__dd_text_bytes": text_bytes,
    "__dd_bytes_text": bytes_text,
    "__dd_zone_offset": zone_offset,
    "__dd_html_events": html_events,
    "__dd_calendar_dates": calendar_dates,
    "__dd_calendar_text": calendar_text,
    "__dd_time_fields": time_fields,
    "__dd_bytes_int": bytes_int,
    "__dd_int_bytes": int_bytes,
    "__dd_mail_made": mail_made,
    "__dd_uuid_named": uuid_named,
    "__dd_uuid_checked": uuid_checked,
}
"""Of the prelude's helpers, by name."""


def _bz2_decompress(data: bytes) -> bytes:
    return _unpacked(bz2.BZ2Decompressor(), data)


def _lzma_compress(data: bytes) -> bytes:
    return lzma.compress(data)


def _lzma_decompress(data: bytes) -> bytes:
    return _unpacked(lzma.LZMADecompressor(), data)


def _weekday(year: int, month: int, day: int) -> int:
    return int(calendar.weekday(year, month, day))


def _timegm(values: Sequence[int]) -> int:
    return calendar.timegm(tuple(values))


MODULE_FUNCTIONS: dict[str, Callable[..., object]] = {
    "urllib.parse.parse_qsl": urllib.parse.parse_qsl,
    "bz2.compress": bz2.compress,
    "bz2.decompress": _bz2_decompress,
    "lzma.compress": _lzma_compress,
    "lzma.decompress": _lzma_decompress,
    "calendar.weekday": _weekday,
    "calendar.monthcalendar": calendar.monthcalendar,
    "calendar.leapdays": calendar.leapdays,
    "calendar.timegm": _timegm,
}
"""Of modules, by dotted name."""
