"""What is kept of answers comes back as it was, and what is no answer is refused."""

from __future__ import annotations

import datetime as dt
import json
import math
from pathlib import PurePosixPath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox import fingerprint
from sandbox.effects import Effect, Span
from sandbox.plain import NotPlainError, from_text, to_text
from sandbox.tape import Recorded, Reply, Result, Tape, TapeDamagedError, reply_mark

PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
    | st.dates()
    | st.datetimes(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.text() | st.integers(), inner)
        | st.tuples(inner, inner)
    ),
    max_leaves=20,
)
EFFECT = Effect(
    kind="request",
    path="https://example.org/",
    size_bytes=3,
    call="http_request",
    span=Span(start=1, end=9, line=2),
)


@given(PLAIN)
def test_a_plain_value_comes_back_as_it_was(value: object) -> None:
    assert from_text(to_text(value)) == value


@pytest.mark.parametrize(
    "value", ["\udcff", {(1, 2): {3}}, frozenset({b"x"}), dt.time(3, 4), EFFECT]
)
def test_so_do_names_that_are_no_unicode_sets_and_effects(value: object) -> None:
    assert from_text(to_text(value)) == value


def test_a_path_comes_back_as_one_and_no_number_is_lost() -> None:
    assert from_text(to_text(PurePosixPath("/a/b"))) == PurePosixPath("/a/b")
    assert math.isnan(from_text(to_text(math.nan)))


@pytest.mark.parametrize(
    "error",
    [
        FileNotFoundError(2, "No such file or directory", "a.txt"),
        OSError(18, "Invalid cross-device link", "a", None, "b"),
        PermissionError("not allowed"),
        KeyError("name"),
        ValueError(1, "two"),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
    ],
)
def test_an_error_comes_back_as_the_same_error(error: Exception) -> None:
    found = from_text(to_text(error))
    assert type(found) is type(error)
    assert str(found) == str(error)


def test_an_error_of_a_library_comes_back_as_the_built_in_one() -> None:
    with pytest.raises(ValueError) as caught:
        json.loads("{")
    assert type(caught.value) is json.JSONDecodeError
    assert type(from_text(to_text(caught.value))) is ValueError


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '{"t":"unknown","v":1}',
        '{"v":1}',
        '{"t":"error","v":["eval",["1"]]}',
        '{"t":"error","v":["KeyboardInterrupt",[]]}',
        '{"t":"effect","v":{"no":"field"}}',
        '{"t":"bytes","v":"***"}',
    ],
)
def test_what_is_no_such_text_is_refused(text: str) -> None:
    with pytest.raises(NotPlainError):
        from_text(text)


def test_what_cannot_be_kept_is_refused() -> None:
    with pytest.raises(NotPlainError):
        to_text(object())


@pytest.mark.parametrize("first", [1, "a", b"a", [1], (1,), {"a": 1}, PurePosixPath("a")])
@pytest.mark.parametrize("second", [2, "b", b"b", [2], (2,), {"a": 2}, PurePosixPath("b")])
def test_another_argument_or_answer_has_another_digest(first: Any, second: Any) -> None:
    call = fingerprint.of_call("open", [first], {})
    assert call == fingerprint.of_call("open", [first], {})
    assert call != fingerprint.of_call("open", [second], {})
    assert call != fingerprint.of_call("stat", [first], {})
    digests = [fingerprint.digest(call, fingerprint.of_value(value)) for value in (first, second)]
    assert digests[0] != digests[1]


class Marks(list[bytes]):
    """A log in memory. `synced`: how many marks were there at each sync."""

    def __init__(self) -> None:
        super().__init__()
        self.synced: list[int] = []

    def append(self, mark: bytes, *, sync: bool = False) -> None:  # type: ignore[override]
        super().append(mark)
        if sync:
            self.synced.append(len(self))

    def recorded(self) -> Recorded:
        found = Recorded()
        for mark in self:
            found.add(mark)
        return found


def test_a_tape_plays_what_was_recorded_in_order() -> None:
    marks = Marks()
    tape = Tape(marks)
    tape.did(b"a" * 8, None)
    tape.did(b"b" * 8, 123)
    tape.answered(b"c" * 8, Result(value=1.5))
    tape.begin(3, b"d" * 8, (EFFECT,), final=True)
    tape.done(3, Result(error=ConnectionError("lost")), final=True)
    tape.settle([3])
    played = Tape(None, marks.recorded())
    kinds = [cell.kind for number in range(4) if (cell := played.cell(number)) is not None]
    assert kinds == ["done", "timed", "value", "begun"]
    assert played.cell(4) is None
    second, third, fourth = (played.cell(number) for number in (1, 2, 3))
    assert second is not None
    assert second.time_ns == 123
    assert third is not None
    assert third.result.value == 1.5
    assert fourth is not None
    assert (fourth.effects, fourth.final) == ((EFFECT,), True)
    assert str(played.result(3).error) == "lost"  # type: ignore[union-attr]
    assert [played.next_settled(), played.next_settled()] == [(3,), None]


def test_what_cannot_be_taken_back_is_on_the_disk_before_and_after() -> None:
    marks = Marks()
    tape = Tape(marks)
    tape.did(b"a" * 8, None)
    tape.begin(1, b"d" * 8, (EFFECT,), final=True)
    assert marks.synced == [1]
    tape.done(1, Result(value="ok"), final=True)
    assert marks.synced == [1, 2]
    tape.begin(2, b"e" * 8, (), final=False)
    tape.done(2, Result(value="ok"), final=False)
    assert marks.synced == [1, 2]
    assert tape.made() == [(b"d" * 8, Result(value="ok"))]


def test_an_answer_is_for_one_kind_of_question_about_one_call() -> None:
    reply = Reply(ordinal=4, kind="effects", digest=b"x" * 8, approved=True, text="yes")
    recorded = Recorded()
    recorded.add(reply_mark(reply))
    tape = Tape(None, recorded)
    assert tape.reply(4, "effects", b"x" * 8) == reply
    assert tape.reply(4, "effects", b"y" * 8) is None
    assert tape.reply(4, "unknown", b"x" * 8) is None
    assert tape.reply(5, "effects", b"x" * 8) is None


def test_an_approval_to_repeat_is_spent_when_it_is_used() -> None:
    marks = Marks()
    reply = Reply(ordinal=0, kind="unknown", digest=b"x" * 8, approved=True)
    marks.append(reply_mark(reply))
    Tape(marks).begin_again(0, b"x" * 8)
    assert Tape(None, marks.recorded()).reply(0, "unknown", b"x" * 8) is None


def test_a_program_run_from_its_start_remembers_what_was_done_for_good() -> None:
    marks = Marks()
    tape = Tape(marks)
    tape.begin(0, b"d" * 8, (EFFECT,), final=True)
    tape.done(0, Result(value="sent"), final=True)
    tape.flush()
    recorded = marks.recorded()
    recorded.add(b"x")
    again = Tape(None, recorded)
    assert again.cell(0) is None
    assert list(again.former) == [(b"d" * 8, Result(value="sent"))]


@pytest.mark.parametrize("mark", [b"c\xff", b"cd123", b"r{}", b"s[", b"?", b"a[]"])
def test_a_mark_that_makes_no_sense_is_said_to_be_damaged(mark: bytes) -> None:
    with pytest.raises(TapeDamagedError):
        Recorded().add(mark)
