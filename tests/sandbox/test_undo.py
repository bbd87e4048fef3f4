"""Undo of one turn, where the person has gone on working meanwhile."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.errors import CommitError
from sandbox.tree import base_of
from sandbox.undo import UndoReport, undo
from sandbox.verify import difference
from tests.sandbox.trees import Yard, contents, make_yard, picture

FILES = {"a/x": "ax", "a/y": "ay", "one": "1", "two": "2", "gone/g": "g"}


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    return make_yard(tmp_path, FILES)


def reasons(report: UndoReport, yard: Yard) -> dict[str, str]:
    start = len(str(yard.folder)) + 1
    return {problem.path[start:]: problem.reason for problem in report.conflicts}


def test_a_file_edited_after_the_commit_is_named_and_kept(yard: Yard) -> None:
    yard.stage.write_bytes("one", b"ours")
    yard.stage.write_bytes("two", b"ours too")
    yard.commit()
    (yard.folder / "one").write_text("edited by hand")
    report = undo(yard.undo_folder)
    assert reasons(report, yard) == {"one": "changed"}
    assert [change.path for change in report.restored] == [str(yard.folder / "two")]
    assert (yard.folder / "one").read_text() == "edited by hand"
    assert (yard.folder / "two").read_text() == "2"


def test_a_new_folder_stays_when_something_was_put_into_it(yard: Yard) -> None:
    yard.stage.rename("one", "sorted/one")
    yard.stage.rename("two", "sorted/two")
    yard.commit()
    (yard.folder / "sorted/mine").write_text("m")
    report = undo(yard.undo_folder)
    assert reasons(report, yard) == {"sorted": "not-empty"}
    assert contents(yard.folder / "sorted") == {".": None, "mine": b"m"}
    assert (yard.folder / "one").read_text() == "1"


def test_a_new_folder_stays_under_a_file_that_was_edited_in_it(yard: Yard) -> None:
    yard.stage.write_bytes("new/in/file", b"f")
    yard.stage.write_bytes("new/other", b"o")
    yard.commit()
    (yard.folder / "new/in/file").write_text("edited")
    report = undo(yard.undo_folder)
    assert set(reasons(report, yard)) == {"new", "new/in", "new/in/file"}
    assert not (yard.folder / "new/other").exists()
    assert (yard.folder / "new/in/file").read_text() == "edited"


def test_a_deleted_file_does_not_come_back_over_a_new_one(yard: Yard) -> None:
    yard.stage.unlink("one")
    yard.stage.unlink("two")
    yard.commit()
    (yard.folder / "one").write_text("a new one")
    report = undo(yard.undo_folder)
    assert reasons(report, yard) == {"one": "occupied"}
    assert (yard.folder / "one").read_text() == "a new one"
    assert (yard.folder / "two").read_text() == "2"


def test_a_deleted_folder_does_not_come_back_over_a_new_one(yard: Yard) -> None:
    yard.stage.rmtree("gone")
    yard.stage.unlink("one")
    yard.commit()
    (yard.folder / "gone").mkdir()
    report = undo(yard.undo_folder)
    assert reasons(report, yard) == {"gone": "occupied", "gone/g": "needs-another"}
    assert contents(yard.folder / "gone") == {".": None}
    assert (yard.folder / "one").exists()


def test_a_renamed_folder_goes_back_with_an_edit_made_in_it_later(yard: Yard) -> None:
    yard.stage.rename("a", "b")
    yard.stage.write_bytes("b/x", b"ours")
    yard.stage.write_bytes("b/z", b"ours")
    yard.stage.unlink("b/y")
    yard.commit()
    (yard.folder / "b/x").write_text("by hand")
    report = undo(yard.undo_folder)
    assert reasons(report, yard) == {"b/x": "changed"}
    assert contents(yard.folder / "a") == {".": None, "x": b"by hand", "y": b"ay"}
    assert not (yard.folder / "b").exists()


def test_what_was_deleted_in_a_renamed_folder_waits_for_that_folder(yard: Yard) -> None:
    yard.stage.rename("a", "b")
    yard.stage.unlink("b/y")
    yard.stage.unlink("one")
    yard.commit()
    (yard.folder / "a").mkdir()
    report = undo(yard.undo_folder)
    assert set(reasons(report, yard)) == {"b", "a/y"}
    assert contents(yard.folder / "b") == {".": None, "x": b"ax"}
    assert (yard.folder / "one").exists()


def test_half_a_swap_is_not_taken_back(yard: Yard) -> None:
    yard.stage.rename("one", "aside")
    yard.stage.rename("two", "one")
    yard.stage.rename("aside", "two")
    yard.commit()
    (yard.folder / "one").write_text("by hand")
    assert set(reasons(undo(yard.undo_folder), yard)) == {"one", "two"}
    assert (yard.folder / "two").read_text() == "1"


def test_a_folder_that_others_used_since_keeps_its_time(yard: Yard) -> None:
    yard.stage.write_bytes("a/new", b"n")
    yard.stage.write_bytes("new", b"n")
    yard.commit()
    (yard.folder / "a/mine").write_text("m")
    os.utime(yard.folder / "a", ns=(5, 5_000_000_000))
    undo(yard.undo_folder)
    assert (yard.folder / "a").stat().st_mtime_ns > 1_500_000_000_999_999_999
    assert yard.folder.stat().st_mtime_ns == 1_400_000_000_987_654_321


def test_a_disk_that_was_plugged_in_again_does_not_stand_against_an_undo(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = picture(yard.folder)
    yard.stage.write_bytes("one", b"ours")
    yard.stage.rename("two", "three")
    yard.commit()
    journal = yard.undo_folder / "commit.jsonl"
    device = yard.folder.stat().st_dev
    text = journal.read_text()
    journal.write_text(text.replace(f'"device": {device}', f'"device": {device + 1}'))
    assert undo(yard.undo_folder).conflicts == ()
    assert picture(yard.folder) == before


def test_inode_numbers_count_only_where_the_disk_has_its_own(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = yard.folder / "one"
    base = base_of(path.stat())
    other = replace(base, inode=base.inode + 1)
    assert difference(str(path), other) == "changed"
    monkeypatch.setattr("sandbox.verify.keeps_inodes", lambda device: False)
    assert difference(str(path), other) is None
    assert difference(str(path), replace(other, size_bytes=9)) == "changed"


def test_an_undo_happens_once(yard: Yard) -> None:
    yard.stage.unlink("one")
    yard.commit()
    undo(yard.undo_folder)
    with pytest.raises(CommitError, match="already"):
        undo(yard.undo_folder)


def test_there_is_nothing_to_undo_without_a_commit(tmp_path: Path) -> None:
    with pytest.raises(CommitError, match="nothing here"):
        undo(tmp_path)


def test_turns_are_undone_in_reverse(yard: Yard, tmp_path: Path) -> None:
    before = picture(yard.folder)
    folders = [tmp_path / "undo1", tmp_path / "undo2", tmp_path / "undo3"]
    for number, folder in enumerate(folders):
        yard.undo_folder = folder
        yard.stage.append_bytes("one", b"+%d" % number)
        yard.stage.rename("two", f"step{number}/two")
        yard.commit()
        yard.restage()
        yard.stage.rename(f"step{number}/two", "two")
        yard.undo_folder = tmp_path / f"{folder.name}-back"
        yard.commit()
        yard.restage()
    for folder in reversed(folders):
        assert undo(folder.parent / f"{folder.name}-back").conflicts == ()
        assert undo(folder).conflicts == ()
    assert picture(yard.folder) == before
