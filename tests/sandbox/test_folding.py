"""A real file system that folds names: other spellings are the same entry, and may be changed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.commit import verified
from sandbox.disk_names import rules_of
from sandbox.redo import redo
from sandbox.undo import undo
from tests.sandbox.trees import Yard, contents, make_yard, picture

FILES = {"Readme.txt": "r", "A/x": "ax", "\u00dcn\u00ef.txt": "u", "gone": "g", "b": "b", "C": "c"}
START_S = 10.0
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def mount(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    if not Path("/dev/fuse").exists() or os.geteuid() != 0:
        pytest.skip("needs FUSE, and the right to mount")
    home = tmp_path_factory.mktemp("folding")
    backing, folder = home / "backing", home / "mount"
    backing.mkdir()
    folder.mkdir()
    command = [sys.executable, "-m", "tests.sandbox.folding", str(backing), str(folder)]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + START_S
        while not folder.is_mount() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        if not folder.is_mount():
            pytest.skip("needs libfuse and mfusepy")
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=False, capture_output=True)
        process.terminate()
        process.wait(START_S)


@pytest.fixture
def yard(tmp_path: Path, mount: Path) -> Iterator[Yard]:
    folder = mount / "granted"
    yield make_yard(tmp_path, FILES, folder=folder)
    shutil.rmtree(folder)


def there_and_back(yard: Yard) -> list[str]:
    """Commit, undo, redo and undo; the names that were there after the commit."""
    before = picture(yard.folder)
    assert yard.commit().conflicts == ()
    names = sorted(contents(yard.folder))
    assert undo(yard.undo_folder).conflicts == ()
    assert picture(yard.folder) == before
    assert redo(yard.undo_folder, grants=yard.stage.grants).conflicts == ()
    assert sorted(contents(yard.folder)) == names
    assert undo(yard.undo_folder).conflicts == ()
    assert picture(yard.folder) == before
    return names


def test_it_is_seen_to_fold(yard: Yard) -> None:
    rules = rules_of(str(yard.folder))
    assert rules.folds_case
    assert rules.folds_forms


def test_capitals_of_a_file_and_a_folder_change_with_what_is_in_it(yard: Yard) -> None:
    yard.stage.rename("Readme.txt", "README.txt")
    yard.stage.rename("A", "a")
    yard.stage.append_bytes("a/x", b"+")
    yard.stage.unlink("gone")
    names = there_and_back(yard)
    assert {"README.txt", "a", "a/x"} <= set(names)
    assert not {"Readme.txt", "A", "gone"} & set(names)


def test_a_name_goes_to_an_entry_whose_other_spelling_leaves(yard: Yard) -> None:
    yard.stage.rename("b", "c2")
    yard.stage.rename("C", "B")
    assert {"B", "c2"} <= set(there_and_back(yard))


def test_another_spelling_is_the_same_file_for_programs_too(yard: Yard) -> None:
    yard.stage.write_bytes("README.TXT", b"new")
    yard.stage.append_bytes("a/X", b"+")
    yard.stage.write_bytes("u\u0308NI\u0308.TXT", b"new")
    yard.stage.write_bytes("New.txt", b"1")
    yard.stage.append_bytes("NEW.TXT", b"2")
    assert yard.stage.read_bytes("readme.txt") == b"new"
    assert yard.stage.read_bytes("new.TXT") == b"12"
    names = there_and_back(yard)
    assert set(names) == {".", "A", *FILES, "New.txt"}


def test_the_same_name_in_another_spelling_that_appeared_meanwhile_is_a_conflict(
    yard: Yard,
) -> None:
    yard.stage.write_bytes("made.txt", b"ours")
    changes = yard.stage.changes()
    (yard.folder / "MADE.txt").write_bytes(b"theirs")
    _, conflicts = verified(changes, yard.stage.grants)
    assert [problem.reason for problem in conflicts] == ["occupied"]
    assert yard.commit(changes).applied == ()
    assert contents(yard.folder)["MADE.txt"] == b"theirs"
