"""The tape of a turn on the disk: cut off, altered, of other versions; said, and left as it is."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.store.tape_file import Head, TapeFile, TapeUnusableError

HEAD = Head(turn_id="t1", interpreter="1.4.0")
MARKS = [b"one", b"", b"three" * 100, bytes(range(256))]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "tapes" / "t1"
    tape = TapeFile.new(path, HEAD, MARKS[0])
    for mark in MARKS[1:]:
        tape.append(mark, sync=False)
    tape.close()
    return path


def marks_of(path: Path, head: Head = HEAD) -> list[bytes]:
    tape, marks = TapeFile.reopen(path, head)
    tape.close()
    return marks


def test_marks_come_back_in_order_and_more_are_added_after_them(path: Path) -> None:
    tape, marks = TapeFile.reopen(path, HEAD)
    assert marks == MARKS
    tape.append(b"five", sync=True)
    tape.close()
    assert marks_of(path) == [*MARKS, b"five"]


def test_a_mark_that_was_cut_off_is_dropped_and_written_over(path: Path) -> None:
    whole = path.read_bytes()
    for cut in range(1, 200):
        path.write_bytes(whole[:-cut])
        assert marks_of(path) == MARKS[:3]
    tape, _ = TapeFile.reopen(path, HEAD)
    tape.append(b"after", sync=False)
    tape.close()
    assert marks_of(path) == [*MARKS[:3], b"after"]


def test_a_changed_byte_anywhere_shows(path: Path) -> None:
    whole = path.read_bytes()
    for place in range(0, len(whole) - len(MARKS[-1]) - 8, 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        found: list[bytes] = []
        with suppress(TapeUnusableError):
            found = marks_of(path)
        assert found == MARKS[: len(found)], "a length that was changed cuts the rest off"
        assert len(found) < len(MARKS)


def test_a_mark_that_was_taken_out_shows(path: Path) -> None:
    whole = path.read_bytes()
    piece = whole.index(b"three" * 100)
    path.write_bytes(whole[: piece - 8] + whole[piece + 500 :])
    with pytest.raises(TapeUnusableError, match="altered"):
        marks_of(path)


@pytest.mark.parametrize(
    ("head", "said"),
    [
        (Head(turn_id="t1", interpreter="1.4.0", version=2), "an older Drydock"),
        (Head(turn_id="t1", interpreter="1.4.0", version=0), "a newer Drydock"),
        (Head(turn_id="t1", interpreter="1.5.0"), "interpreter 1.4.0, this is 1.5.0"),
        (Head(turn_id="t2", interpreter="1.4.0"), "another run"),
    ],
)
def test_another_version_or_run_is_named(path: Path, head: Head, said: str) -> None:
    before = path.read_bytes()
    with pytest.raises(TapeUnusableError, match=said):
        marks_of(path, head)
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"x" * 100, b"drydock tape\n", b"drydock tape\n\x01"])
def test_what_is_no_tape_is_said(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(TapeUnusableError):
        marks_of(path)
    path.unlink()
    with pytest.raises(TapeUnusableError, match="no record"):
        marks_of(path)


@given(marks=st.lists(st.binary(max_size=200), max_size=20))
def test_any_marks_come_back(tmp_path_factory: pytest.TempPathFactory, marks: list[bytes]) -> None:
    path = tmp_path_factory.mktemp("tape") / "t1"
    tape = TapeFile.new(path, HEAD, b"first")
    for mark in marks:
        tape.append(mark, sync=False)
    tape.close()
    assert marks_of(path) == [b"first", *marks]
