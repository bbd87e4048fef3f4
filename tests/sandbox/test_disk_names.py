"""Names that a disk takes for one, or does not take at all, found before a commit."""

from __future__ import annotations

import stat
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from sandbox import disk_names, stage_tree, verify
from sandbox.disk_names import NameRules, is_placeholder, rules_of
from sandbox.errors import CommitError
from sandbox.marks import marks
from sandbox.undo import undo
from tests.sandbox.faults import CrossDeviceFileSystem
from tests.sandbox.trees import Yard, contents, make_yard, picture

FOLDING = NameRules(folds_case=True, folds_forms=True)
WINDOWS = NameRules(folds_case=True, windows=True)


@pytest.mark.parametrize(
    ("one", "other", "rules", "same"),
    [
        ("Readme", "README", FOLDING, True),
        ("Straße", "STRASSE", FOLDING, True),
        ("ü", "u\u0308", FOLDING, True),
        ("ü", "u\u0308", WINDOWS, False),
        ("Ü", "ü", WINDOWS, True),
        ("a", "b", FOLDING, False),
        ("Readme", "README", NameRules(), False),
        ("ü", "u\u0308", NameRules(), False),
    ],
)
def test_names_are_one_as_the_disk_has_it(
    one: str, other: str, rules: NameRules, same: bool
) -> None:
    assert (rules.key(one) == rules.key(other)) == same


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("CON", "reserved"),
        ("nul.txt", "reserved"),
        ("com1", "reserved"),
        ("LPT9.log", "reserved"),
        ("com¹", "reserved"),
        ("a:b", "characters"),
        ("what?", "characters"),
        ("a\nb", "characters"),
        ("ends with dot.", "ending"),
        ("ends with space ", "ending"),
        ("console.txt", None),
        ("com10", None),
        (".hidden", None),
    ],
)
def test_what_windows_refuses_is_refused_there_and_nowhere_else(
    name: str, fault: str | None
) -> None:
    assert WINDOWS.fault(f"/f/{name}") == fault
    assert NameRules().fault(f"/f/{name}") is None


def test_names_and_paths_that_are_too_long_are_found() -> None:
    assert NameRules().fault("/f/" + "n" * 255) is None
    assert NameRules().fault("/f/" + "ü" * 128) == "long"
    assert NameRules().fault("/f" * 2100) == "long"


def test_an_ordinary_folder_here_folds_nothing(tmp_path: Path) -> None:
    (tmp_path / "Name").touch()
    (tmp_path / "nAME").touch()
    assert rules_of(str(tmp_path)) == NameRules()


def test_a_folder_in_which_names_are_found_in_other_capitals_folds(tmp_path: Path) -> None:
    (tmp_path / "Name").touch()
    (tmp_path / "nAME").hardlink_to(tmp_path / "Name")
    assert rules_of(str(tmp_path)).folds_case


@pytest.mark.parametrize(
    ("kind", "rules"),
    [
        ("vfat", NameRules(folds_case=True, windows=True)),
        ("ntfs3", NameRules(windows=True)),
        ("hfsplus", NameRules(folds_case=True, folds_forms=True)),
        ("ext4", NameRules()),
    ],
)
def test_the_kind_of_mount_says_what_is_folded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, rules: NameRules
) -> None:
    monkeypatch.setattr(disk_names, "_mount_kind", lambda folder: kind)
    assert rules_of(str(tmp_path)) == rules


@pytest.fixture
def folding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Yard:
    monkeypatch.setattr(verify, "rules_of", lambda folder: FOLDING)
    return make_yard(tmp_path, {"one": "1", "two": "2", "Readme": "r"})


def test_of_two_new_names_that_are_one_only_the_first_is_made(folding: Yard) -> None:
    folding.stage.write_bytes("Note", b"first")
    folding.stage.write_bytes("note", b"second")
    folding.stage.rename("one", "new/Ü")
    folding.stage.rename("two", "new/U\u0308")
    before = picture(folding.folder)
    report = folding.commit()
    assert {problem.reason for problem in report.conflicts} == {"same-name"}
    assert len(report.conflicts) == 2
    made = contents(folding.folder)
    assert sum(name.casefold() == "note" for name in made) == 1
    undo(folding.undo_folder)
    assert picture(folding.folder) == before


def test_a_name_may_change_its_capitals(folding: Yard) -> None:
    folding.stage.rename("Readme", "README")
    changes = folding.stage.changes()
    (folding.folder / "README").hardlink_to(folding.folder / "Readme")  # as it looks when folded
    verifier = verify.Verifier(changes.changes, folding.stage.grants)
    assert [verifier.check(change) for change in changes.changes] == [None]


def test_a_name_that_the_disk_refuses_is_a_conflict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verify, "rules_of", lambda folder: WINDOWS)
    yard = make_yard(tmp_path, {"one": "1"})
    yard.stage.write_bytes("con.txt", b"c")
    yard.stage.rename("one", "a:b")
    yard.stage.write_bytes("fine", b"f")
    report = yard.commit()
    assert [problem.reason for problem in report.conflicts] == ["bad-name", "bad-name"]
    assert contents(yard.folder) == {".": None, "one": b"1", "fine": b"f"}


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"st_file_attributes": 0x400000}, True),
        ({"st_file_attributes": 0x1000}, True),
        ({"st_flags": 0x40000000}, True),
        ({"st_file_attributes": 0x20}, False),
        ({}, False),
    ],
)
def test_files_that_are_in_the_cloud_only_are_known(facts: dict[str, int], expected: bool) -> None:
    assert is_placeholder(cast("Any", SimpleNamespace(st_mode=stat.S_IFREG, **facts))) == expected


def test_a_file_in_the_cloud_is_not_read_but_moved_and_deleted_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard = make_yard(tmp_path, {"stub": "", "other": ""})
    monkeypatch.setattr("sandbox.stage.is_placeholder", lambda st: True)
    for read in (yard.stage.read_bytes, yard.stage.open_reader, yard.stage.sha256):
        with pytest.raises(PermissionError, match="in the cloud only"):
            read("stub")
    yard.stage.rename("stub", "moved")
    yard.stage.unlink("other")
    assert sorted(change.kind for change in yard.stage.changes().changes) == ["delete", "move"]


def test_what_is_only_in_the_cloud_is_named_in_the_change_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard = make_yard(tmp_path, {"stub": "", "other": "", ".photo.heic.icloud": "bplist"})
    monkeypatch.setattr("sandbox.tree.is_placeholder", lambda st: stat.S_ISREG(st.st_mode))
    yard.stage.rename("stub", "moved")
    yard.stage.unlink("other")
    found = {change.path: marks(change, ()) for change in yard.stage.changes().changes}
    assert [("in-cloud" in of_one) for of_one in found.values()] == [True, True]
    with pytest.raises(PermissionError, match="in the cloud only"):
        yard.stage.read_bytes(".photo.heic.icloud")


def test_a_copy_that_would_fetch_from_the_cloud_is_not_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard = make_yard(tmp_path, {"stub": "s"})
    before = picture(yard.folder)
    yard.stage.unlink("stub")
    monkeypatch.setattr("sandbox.commit_content.is_placeholder", lambda st: True)
    with pytest.raises(CommitError, match="in the cloud only"):
        yard.commit(fs=CrossDeviceFileSystem(str(yard.folder)))
    assert picture(yard.folder) == before


@pytest.mark.parametrize("name", ["n" * 256, "\u00fc" * 128, "/".join(["deep" * 40] * 26)])
def test_a_name_or_path_that_is_too_long_is_refused_by_the_stage_already(
    tmp_path: Path, name: str
) -> None:
    yard = make_yard(tmp_path, {"one": "1"})
    for attempt in (
        lambda: yard.stage.write_bytes(name, b"x"),
        lambda: yard.stage.rename("one", name),
        lambda: yard.stage.mkdir(name, parents=True),
        lambda: yard.stage.write_bytes(f"new/{name}", b"x"),
        lambda: yard.stage.rename("one", f"new/{name}"),
    ):
        with pytest.raises(OSError, match="too long"):
            attempt()
    assert yard.stage.read_bytes("one") == b"1"
    assert all(change.kind == "mkdir" for change in yard.stage.changes().changes)


@pytest.mark.parametrize(
    ("name", "text"),
    [("con.txt", "meaning of its own"), ("a:b", "takes none of"), ("end.", "ends with a dot")],
)
def test_a_name_that_the_disk_refuses_is_refused_by_the_stage_already(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    monkeypatch.setattr(stage_tree, "rules_of", lambda folder: WINDOWS)
    yard = make_yard(tmp_path, {"one": "1"})
    with pytest.raises(OSError, match=text):
        yard.stage.write_bytes(name, b"x")
    with pytest.raises(OSError, match=text):
        yard.stage.rename("one", name)
    assert yard.stage.read_bytes("one") == b"1"
    assert yard.stage.changes().changes == ()
