"""Known values do not stay in a text, in whatever form and however it is cut."""

from __future__ import annotations

import base64
import html
import itertools
import json
import re
import textwrap
from dataclasses import dataclass
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.vault.redact import SHORTEST_VALUE, Redactor

VALUE = 'ghp_Can4ry/+"0123\\ä=tail'
PLAIN = "sk-live-0123456789abcdefXYZ"


def knowing(*values: str) -> Redactor:
    redactor = Redactor()
    redactor.learn("github", *values)
    return redactor


def forms(value: str) -> dict[str, str]:
    raw = value.encode()
    return {
        "as it is": value,
        "base64, first place": base64.b64encode(raw).decode(),
        "base64, second place": base64.b64encode(b"x" + raw + b"yz").decode(),
        "base64, third place": base64.b64encode(b"xx" + raw + b"y").decode(),
        "base64url": base64.urlsafe_b64encode(b"user:" + raw).decode(),
        "base64 in a URL": quote(base64.b64encode(raw).decode(), safe=""),
        "hex": raw.hex(),
        "HEX": raw.hex().upper(),
        "hex in pairs": raw.hex(":"),
        "URL": quote(value),
        "URL, everything": quote(value, safe=""),
        "URL, plus": quote_plus(value),
        "URL, small letters": re.sub("%..", lambda m: m.group().lower(), quote(value, safe="")),
        "JSON": json.dumps({"a": value}),
        "JSON, Unicode": json.dumps({"a": value}, ensure_ascii=False),
        "JSON in JSON": json.dumps(json.dumps([value])),
        "repr": repr([value]),
        "repr of bytes": repr(raw),
        "HTML": html.escape(value),
        "numbers": str(list(raw)),
        "PowerShell": base64.b64encode(value.encode("utf-16-le")).decode(),
    }


def traces(value: str) -> list[str]:
    """Pieces of a value that would be left over if a form were only half removed."""
    raw = value.encode()
    return [value, value[4:-4], raw.hex()[8:-8], base64.b64encode(raw).decode()[4:-6]]


@pytest.mark.parametrize("value", [VALUE, PLAIN])
@pytest.mark.parametrize("form", sorted(forms(PLAIN)))
def test_every_form_of_a_value_is_taken_out(value: str, form: str) -> None:
    text = f"before {forms(value)[form]} after"

    clean = knowing(value).text(text)

    assert "[secret:github]" in clean
    assert clean.startswith("before ")
    assert clean.endswith(" after")
    assert not [trace for trace in traces(value) if trace in clean]


@pytest.mark.parametrize("form", sorted(forms(PLAIN)))
def test_in_bytes_a_value_is_overwritten_and_the_length_stays(form: str) -> None:
    data = b"\x00\x17" + forms(VALUE)[form].encode() + b"\xff"

    clean = knowing(VALUE).data(data)

    assert len(clean) == len(data)
    assert b"**" in clean
    assert not [trace for trace in traces(VALUE) if trace.encode() in clean]


@pytest.mark.parametrize("form", sorted(forms(PLAIN)))
def test_a_value_that_is_split_over_pieces_is_taken_out(form: str) -> None:
    text = f"before {forms(VALUE)[form]} after, gh"
    redactor = knowing(VALUE)
    for size in (1, 2, 3, 5, 7, 64):
        stream = redactor.stream()
        pieces = [stream.feed(text[at : at + size]) for at in range(0, len(text), size)]
        assert "".join([*pieces, stream.end()]) == redactor.text(text)


@given(before=st.text(max_size=30), after=st.text(max_size=30), cuts=st.sets(st.integers(0, 90)))
def test_pieces_give_what_the_whole_text_gives(before: str, after: str, cuts: set[int]) -> None:
    redactor = knowing(PLAIN, "sk-live-0123", "abcdefXYZ-and-more")
    text = f"{before}{PLAIN}{after}"
    at = [0, *sorted(cut for cut in cuts if cut < len(text)), len(text)]
    stream = redactor.stream()
    pieces = [stream.feed(text[a:b]) for a, b in itertools.pairwise(at)]

    assert "".join([*pieces, stream.end()]) == redactor.text(text)


@given(st.text(min_size=SHORTEST_VALUE, max_size=60), st.text(max_size=20), st.text(max_size=20))
def test_no_value_survives(value: str, before: str, after: str) -> None:
    clean = knowing(value).text(f"{before}{value}{after}")

    assert value not in clean or value in f"{before}[secret:github]{after}"


def test_a_text_that_comes_in_pieces_is_not_held_back_for_ever() -> None:
    stream = knowing(PLAIN).stream()

    assert stream.feed("The answer is ") == "The answer is "
    assert stream.feed("4 and sk-li") == "4 and "
    assert stream.feed("ght") == "sk-light"
    assert stream.end() == ""


def test_base64_in_lines_as_mail_has_it_is_taken_out() -> None:
    value = "long-" * 30
    mail = base64.encodebytes(f"user:{value}".encode()).decode()
    redactor = knowing(value)

    assert redactor.text(f"key:\n{mail}").startswith("key:\n[secret:github]")
    assert redactor.holds(json.dumps({"mail": mail}))
    assert "[secret:github]" in redactor.text(json.dumps({"mail": mail}))
    assert redactor.text("\n".join(textwrap.wrap(value.replace("-", "_"), 70))) != "[secret:github]"


def test_each_line_of_a_private_key_is_a_value() -> None:
    lines = ["MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", "BKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"]
    key = "\n".join(["-----BEGIN PRIVATE KEY-----", *lines, "-----END PRIVATE KEY-----"])

    clean = knowing(key).text(f"line 2 is {lines[1]}")

    assert clean == "line 2 is [secret:github]"


def test_the_longest_of_two_values_that_begin_alike_is_taken_out_whole() -> None:
    redactor = knowing("token-1", "token-1-extended")

    assert redactor.text("x token-1-extended y") == "x [secret:github] y"


def test_text_that_is_no_valid_unicode_is_cleaned_too() -> None:
    clean = knowing(PLAIN).text(f"\udcff{PLAIN}\udc80")

    assert clean == "\udcff[secret:github]\udc80"


def test_nothing_is_changed_when_nothing_is_known() -> None:
    redactor = Redactor()
    record = ["a", {"b": "c"}]

    assert redactor.value(record) is record
    assert redactor.text(PLAIN) == PLAIN
    assert not redactor.holds(PLAIN)
    assert redactor.stream().feed("sk-") == "sk-"


def test_what_is_forgotten_is_no_secret_any_more() -> None:
    redactor = knowing(PLAIN)
    redactor.forget("github")

    assert redactor.text(PLAIN) == PLAIN


@dataclass(frozen=True)
class Note:
    text: str
    number: int
    parts: tuple[str, ...]


def test_records_are_cleaned_all_the_way_down_and_kept_when_clean() -> None:
    redactor = knowing(PLAIN)
    clean = Note(text="a", number=3, parts=("b",))

    assert redactor.value(clean) is clean
    assert redactor.value({"k": [Note(text=PLAIN, number=1, parts=(PLAIN, "b"))]}) == {
        "k": [Note(text="[secret:github]", number=1, parts=("[secret:github]", "b"))]
    }


def test_a_column_of_json_stays_json() -> None:
    value = "1234567890"
    redactor = knowing(value)
    column = json.dumps({"size": 1234567890, "path": f"/a/{value}.txt"})

    assert json.loads(redactor.column(column)) == {
        "size": 1234567890,
        "path": "/a/[secret:github].txt",
    }
    assert redactor.column(f"[not json {value}") == "[not json [secret:github]"
    assert redactor.column(7) == 7
