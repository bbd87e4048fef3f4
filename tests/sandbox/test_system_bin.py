"""What was deleted is in the system's bin too, and undo does not need it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest

from sandbox.redo import redo
from sandbox.system_bin import put_into_bin, take_out_of_bin
from sandbox.undo import undo
from tests.sandbox.faults import CrossDeviceFileSystem
from tests.sandbox.trees import Yard, contents, make_yard, picture

pytestmark = pytest.mark.skipif(
    sys.platform in ("win32", "darwin"), reason="the bin of freedesktop.org"
)
FILES = {"one": "1", "a/x": "ax", "a/in/y": "ay", "name \u00fc%": "n", "kept": "k"}


@pytest.fixture
def bin_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data" / "Trash"


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    yard = make_yard(tmp_path, FILES)
    yard.stage.unlink("one")
    yard.stage.unlink("name \u00fc%")
    yard.stage.rmtree("a")
    yard.stage.write_bytes("kept", b"edited")
    return yard


def entries(bin_folder: Path) -> dict[str, str]:
    """Name in the bin -> the path that it had."""
    found: dict[str, str] = {}
    for info in sorted((bin_folder / "info").iterdir()):
        lines = info.read_text(encoding="ascii").splitlines()
        assert lines[0] == "[Trash Info]"
        assert lines[2].startswith("DeletionDate=20")
        found[info.stem] = unquote(lines[1].removeprefix("Path="))
    return found


@pytest.mark.parametrize("apart", [False, True])
def test_deleted_files_and_folders_are_there_under_their_names(
    yard: Yard, bin_folder: Path, apart: bool
) -> None:
    fs = CrossDeviceFileSystem(str(yard.folder)) if apart else None
    before = picture(yard.folder)
    yard.commit(fs=fs)
    assert put_into_bin(yard.undo_folder) == 3
    names = ("one", "a", "name \u00fc%")
    assert entries(bin_folder) == {name: str(yard.folder / name) for name in names}
    there = picture(bin_folder / "files")
    assert {name: there[name] for name in ("a", "a/x", "a/in/y", "one")} == {
        name: before[name] for name in ("a", "a/x", "a/in/y", "one")
    }
    assert undo(yard.undo_folder, fs=fs).conflicts == ()
    take_out_of_bin(yard.undo_folder)
    assert picture(yard.folder) == before
    assert entries(bin_folder) == {}
    assert contents(bin_folder / "files") == {".": None}
    assert (yard.folder / "one").stat().st_nlink == 1
    redo(yard.undo_folder, grants=yard.stage.grants, fs=fs)
    assert put_into_bin(yard.undo_folder) == 3


def test_undo_works_when_the_bin_was_emptied(yard: Yard, bin_folder: Path) -> None:
    before = picture(yard.folder)
    yard.commit()
    put_into_bin(yard.undo_folder)
    for path in (bin_folder / "files").rglob("*"):
        if path.is_file():
            path.unlink()
    assert undo(yard.undo_folder).conflicts == ()
    take_out_of_bin(yard.undo_folder)
    assert picture(yard.folder) == before


def test_a_name_that_is_in_the_bin_already_gets_a_number(yard: Yard, bin_folder: Path) -> None:
    (bin_folder / "files").mkdir(parents=True)
    (bin_folder / "files" / "one").write_text("another one")
    yard.commit()
    put_into_bin(yard.undo_folder)
    assert entries(bin_folder)["one.2"] == str(yard.folder / "one")
    assert (bin_folder / "files" / "one").read_text() == "another one"
    assert (bin_folder / "files" / "one.2").read_text() == "1"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_bin_that_takes_nothing_says_so(yard: Yard, bin_folder: Path) -> None:
    bin_folder.parent.mkdir()
    bin_folder.parent.chmod(0o500)
    yard.commit()
    with pytest.raises(PermissionError):
        put_into_bin(yard.undo_folder)
