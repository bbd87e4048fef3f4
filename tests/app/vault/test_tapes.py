"""A turn's tape keeps handles, so that a resumed program has them again, and no known value."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic_monty import ClassInstance

from app.store.tape_file import Head, TapeFile, TapeUnusableError, scrub_tapes
from app.vault.redact import Redactor
from sandbox.plain import NotPlainError, from_text, to_text
from sandbox.secrets import handle, name_in
from tests.app.vault.canaries import TOKEN, leaks_in

HEAD = Head(turn_id="t1", interpreter="1")


def test_a_handle_is_kept_by_its_name() -> None:
    text = to_text({"h": [handle("github")]})
    found = from_text(text)["h"][0]

    assert isinstance(found, ClassInstance)
    assert name_in(found.value) == "github"


def test_other_instances_cannot_be_kept() -> None:
    with pytest.raises(NotPlainError):
        to_text(ClassInstance(object()))


def test_marks_hold_no_known_value_and_can_still_be_read(tmp_path: Path) -> None:
    redactor = Redactor()
    redactor.learn("github", TOKEN)
    path = tmp_path / "tape"
    first = to_text({"source": f"print({TOKEN!r})", "data": TOKEN.encode()}).encode()
    tape = TapeFile.new(path, HEAD, first, redactor.mark)
    tape.append(to_text([f"the token is {TOKEN}"]).encode(), sync=True)
    tape.close()

    assert leaks_in([("tape", path.read_bytes())]) == []
    again, marks = TapeFile.reopen(path, HEAD, redactor.mark)
    again.close()
    assert from_text(marks[0])["data"] != TOKEN.encode()
    assert from_text(marks[1])[0].startswith("the token is xxxx")


def test_what_was_on_a_tape_before_is_taken_out_of_open_and_closed_ones(tmp_path: Path) -> None:
    redactor = Redactor()
    mark = to_text([f"the token is {TOKEN}"]).encode()
    tapes = [TapeFile.new(tmp_path / name, HEAD, mark, redactor.mark) for name in ("a", "b")]
    tapes[0].close()
    redactor.learn("github", TOKEN)
    scrub_tapes(tmp_path, redactor.mark)
    tapes[1].append(b"later", sync=False)
    tapes[1].close()

    for name, last in (("a", 1), ("b", 2)):
        assert leaks_in([(name, (tmp_path / name).read_bytes())]) == []
        again, marks = TapeFile.reopen(tmp_path / name, HEAD)
        again.close()
        assert len(marks) == last


def test_a_damaged_tape_stays_damaged(tmp_path: Path) -> None:
    redactor = Redactor()
    redactor.learn("github", TOKEN)
    path = tmp_path / "a"
    tape = TapeFile.new(path, HEAD, to_text([f"the token is {TOKEN}"]).encode())
    tape.append(b"second", sync=False)
    tape.close()
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    scrub_tapes(tmp_path, redactor.mark)

    assert leaks_in([("a", path.read_bytes())]) == []
    with pytest.raises(TapeUnusableError):
        TapeFile.reopen(path, HEAD)
