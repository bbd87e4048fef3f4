"""The forms in which a value can turn up in a text: as it is, and as programs and formats write it.

Owns the list of forms. Of base64 only the characters that the value alone decides are a form, in
each of the three places where it can begin. Pure; any thread.
Source: RFC 4648 (base16, base64, base64url), RFC 3986 (percent-encoding), RFC 8259 (JSON).
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterator
from urllib.parse import quote, quote_plus

_SHORTEST = 6
_WRAPPED_LINE = 16
_PERCENT = re.compile("%[0-9A-F]{2}")


def forms_of(value: str) -> frozenset[str]:
    """Every form of `value` that is long enough to be told from other text."""
    found: set[str] = set()
    for text in (value, *_lines(value)):
        found.update(_forms(text))
    return frozenset(form for form in found if len(form) >= _SHORTEST)


def _lines(value: str) -> list[str]:
    """The long lines of a value of many lines, such as a private key, which is printed by line."""
    lines = [line.strip() for line in value.splitlines()]
    if len(lines) < 2:
        return []
    return [line for line in lines if len(line) >= _WRAPPED_LINE and not line.startswith("-----")]


def _forms(text: str) -> Iterator[str]:
    yield text
    yield from _escaped(text)
    for raw in dict.fromkeys((_bytes(text, "utf-8"), _bytes(text, "utf-16-le"))):
        yield from _coded(raw)


def _escaped(text: str) -> Iterator[str]:
    for ascii_only in (True, False):
        once = _json(text, ascii_only)
        yield once
        yield once.replace("/", "\\/")
        for again in (True, False):  # JSON within JSON
            yield _json(once, again)
    yield repr(text)[1:-1]
    yield ascii(text)[1:-1]
    yield repr(_bytes(text, "utf-8"))[2:-1]
    yield html.escape(text)
    yield html.escape(text, quote=False)
    raw = _bytes(text, "utf-8")
    for url in (
        quote(raw, safe=""),
        quote(raw, safe="/"),
        quote_plus(raw),
        "".join(f"%{byte:02X}" for byte in raw),
    ):
        yield url
        yield _PERCENT.sub(lambda found: found.group().lower(), url)


def _coded(raw: bytes) -> Iterator[str]:
    for digits in (raw.hex(), raw.hex().upper()):
        yield digits
        pairs = [digits[at : at + 2] for at in range(0, len(digits), 2)]
        for between in (" ", ":", "\\x"):
            yield between.join(pairs)
    for between in (", ", ","):
        yield between.join(map(str, raw))
    for core in _base64_cores(raw):
        yield core
        yield core.replace("+", "-").replace("/", "_")
        yield quote(core, safe="")


def _base64_cores(raw: bytes) -> Iterator[str]:
    """What is the same in base64 whatever stands before and after, for each alignment."""
    for before in range(3):
        text = base64.b64encode(bytes(before) + raw).decode("ascii")
        begin = -(-before * 8 // 6)
        end = (before + len(raw)) * 8 // 6
        yield text[begin:end]


def _json(text: str, ascii_only: bool) -> str:
    return json.dumps(text, ensure_ascii=ascii_only)[1:-1]


def _bytes(text: str, encoding: str) -> bytes:
    return text.encode(encoding, "surrogatepass")
