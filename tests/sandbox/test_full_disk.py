"""A small file system filled for real: nothing is lost, and what to do is said."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.blobs import BlobStore
from sandbox.commit import commit
from sandbox.errors import CommitError
from sandbox.stage import FolderGrant, Stage
from sandbox.undo import undo
from tests.sandbox.trees import build, make_yard, picture

SIZE_BYTES = 1024 * 1024


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system in memory with room for 1 MiB."""
    folder = tmp_path / "outer" / "small"
    folder.mkdir(parents=True)
    options = ["-t", "tmpfs", "-o", f"size={SIZE_BYTES}", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(["mount", *options], capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("needs mount")
    if mounted.returncode != 0:
        pytest.skip(f"needs the right to mount: {mounted.stderr.decode().strip()}")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder: Path) -> None:
    """Take all that is left of a file system."""
    with (folder / "ballast").open("wb") as out:
        try:
            while True:
                os.write(out.fileno(), b"b" * 4096)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise


def test_a_commit_onto_a_full_disk_leaves_it_as_it_was(tmp_path: Path, small: Path) -> None:
    yard = make_yard(tmp_path, {"one": "1", "a/x": "ax", "gone": "g"}, folder=small / "granted")
    yard.stage.write_bytes("one", b"new")
    yard.stage.rename("a", "b")
    yard.stage.unlink("gone")
    yard.stage.write_bytes("large", os.urandom(2 * SIZE_BYTES))
    before = picture(yard.folder)
    with pytest.raises(CommitError, match="Nothing was changed") as caught:
        yard.commit()
    assert "Free some space" in caught.value.hint
    assert picture(yard.folder) == before
    yard.stage.unlink("large")
    assert yard.commit().conflicts == ()
    assert undo(yard.undo_folder).conflicts == ()
    assert picture(yard.folder) == before


def test_moves_need_no_room_on_a_full_disk(tmp_path: Path, small: Path) -> None:
    home = small / "home"
    home.mkdir()
    yard = make_yard(home, {"one": "1", "a/x": "ax"})
    before = picture(yard.folder)
    yard.stage.rename("one", "a/one")
    changes = yard.stage.changes()
    fill(small)
    with pytest.raises(CommitError, match="Nothing was changed"):
        yard.commit(changes)  # the journal itself has no room
    assert picture(yard.folder) == before
    (small / "ballast").unlink()
    assert yard.commit(changes).conflicts == ()
    fill(small)
    with pytest.raises(CommitError, match="Nothing was changed"):
        undo(yard.undo_folder)
    assert (yard.folder / "a/one").read_bytes() == b"1"
    (small / "ballast").unlink()
    undo(yard.undo_folder)
    assert picture(yard.folder) == before


def test_a_program_on_a_full_stage_sees_the_error_and_loses_nothing(
    tmp_path: Path, small: Path
) -> None:
    folder = tmp_path / "granted"
    folder.mkdir()
    build(folder, {"one": "1"})
    blobs = BlobStore(small / "blobs")
    stage = Stage([FolderGrant(path=folder)], blobs)
    stage.write_bytes("kept", b"kept")
    with pytest.raises(OSError, match="No space left"):
        stage.write_bytes("one", os.urandom(2 * SIZE_BYTES))
    assert stage.read_bytes("one") == b"1"
    report = commit(
        stage.changes(), blobs=blobs, undo_folder=tmp_path / "undo", grants=stage.grants
    )
    assert [change.path for change in report.applied] == [str(folder / "kept")]


def test_a_folder_with_a_mount_in_it_is_not_deleted(tmp_path: Path, small: Path) -> None:
    (small / "file").write_text("on the other device")
    stage = Stage([FolderGrant(path=tmp_path.resolve())], BlobStore(tmp_path / "blobs"))
    with pytest.raises(PermissionError, match="another device is mounted there"):
        stage.rmtree("outer")
    with pytest.raises(PermissionError, match="where another device is mounted"):
        stage.rename("outer/small", "moved")
    assert stage.changes().changes == ()
    stage.rename("outer/small/file", "file")
    undo_folder = tmp_path / "undo"
    commit(
        stage.changes(),
        blobs=BlobStore(tmp_path / "blobs"),
        undo_folder=undo_folder,
        grants=stage.grants,
    )
    assert (tmp_path / "file").read_text() == "on the other device"
    assert undo(undo_folder).conflicts == ()
    assert (small / "file").read_text() == "on the other device"


def test_a_stage_that_gets_full_while_the_changes_are_put_together_says_so(
    tmp_path: Path, small: Path
) -> None:
    folder = tmp_path / "granted"
    folder.mkdir()
    build(folder, {"one": "1"})
    stage = Stage([FolderGrant(path=folder)], BlobStore(small / "blobs"))
    stage.append_bytes("one", os.urandom(SIZE_BYTES // 2))  # in memory still
    fill(small)
    with pytest.raises(CommitError, match="Nothing was changed: No space left") as caught:
        stage.changes()
    assert "Free some space" in caught.value.hint
    assert (folder / "one").read_bytes() == b"1"
