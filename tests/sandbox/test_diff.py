"""Diffs: what is called out, what is recognised as no text, and how long files are cut."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.diff import MAX_LINES, content_after, content_before, diff_of, text_diff
from tests.sandbox.trees import make_yard


def test_a_changed_line_is_shown_with_its_place() -> None:
    before = "".join(f"line {n}\n" for n in range(100)).encode()
    diff = text_diff(before, before.replace(b"line 50\n", b"LINE 50\n"), "notes.txt")
    assert diff.kind == "text"
    assert (diff.added, diff.removed) == (1, 1)
    assert diff.lines[:3] == ("--- a/notes.txt", "+++ b/notes.txt", "@@ -48,7 +48,7 @@")
    assert "-line 50" in diff.lines
    assert "+LINE 50" in diff.lines
    assert not diff.cut


def test_new_and_deleted_files_have_one_side_only() -> None:
    assert text_diff(None, b"a\n", "n").lines[:2] == ("--- /dev/null", "+++ b/n")
    assert text_diff(b"a\n", None, "n").lines[:2] == ("--- a/n", "+++ /dev/null")
    assert text_diff(b"a\n", None, "n").removed == 1


def test_equal_contents_are_the_same() -> None:
    assert text_diff(b"a", b"a", "n").kind == "same"


def test_changed_line_endings_are_called_out_though_no_line_differs() -> None:
    diff = text_diff(b"a\r\nb\r\n", b"a\nb\n", "n")
    assert diff.changes_newlines
    assert not diff.changes_encoding
    assert (diff.added, diff.removed) == (0, 0)


def test_a_changed_encoding_is_called_out() -> None:
    diff = text_diff("Müller\n".encode("cp1252"), "Müller\n".encode(), "n")
    assert diff.changes_encoding
    assert not diff.changes_newlines


def test_a_byte_order_mark_is_an_encoding_of_its_own() -> None:
    assert text_diff("ü".encode("utf-8-sig"), "ü".encode(), "n").changes_encoding


@pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\n\0\0", b"\xff\xd8\xff\xe0\x10JFIF", b"\0"])
def test_binary_content_is_recognised(data: bytes) -> None:
    assert text_diff(data, b"text", "n").kind == "binary"


def test_a_long_diff_is_cut_and_says_so() -> None:
    before = "".join(f"{n}\n" for n in range(MAX_LINES * 3)).encode()
    diff = text_diff(before, before.replace(b"\n", b"!\n"), "n")
    assert diff.cut
    assert diff.removed == MAX_LINES


def test_contents_come_from_the_disk_and_from_the_stage(tmp_path: Path) -> None:
    yard = make_yard(tmp_path, {"log": "one\n", "copy-me": "c\n"})
    yard.stage.append_bytes("log", b"two\n")
    yard.stage.copy_file("copy-me", "copied", metadata=False)
    by_kind = {change.kind: change for change in yard.stage.changes().changes}
    assert content_before(by_kind["modify"]) == b"one\n"
    assert content_after(by_kind["modify"], yard.blobs) == b"one\ntwo\n"
    assert content_before(by_kind["create"]) is None
    assert content_after(by_kind["create"], yard.blobs) == b"c\n"


def test_a_moved_file_has_no_diff_and_a_moved_and_modified_one_has(tmp_path: Path) -> None:
    yard = make_yard(tmp_path, {"a": "1\n", "b": "2\n"})
    yard.stage.rename("a", "moved")
    yard.stage.rename("b", "other")
    yard.stage.write_bytes("other", b"3\n")
    diffs = [diff_of(change, yard.blobs) for change in yard.stage.changes().changes]
    assert sorted(diff.kind for diff in diffs) == ["same", "text"]
