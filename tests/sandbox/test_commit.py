"""Commits: what lands on the disk, what conflicts, and what stays as it was."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.changeset import ChangeSet
from sandbox.commit import commit
from sandbox.errors import CommitError
from sandbox.stage import FolderGrant, Stage
from sandbox.undo import undo
from tests.sandbox.faults import CrossDeviceFileSystem, FaultyFileSystem, NoHardLinksFileSystem
from tests.sandbox.trees import Yard, contents, make_yard, picture

FILES = {
    "a/x": "ax",
    "a/in/y": "ay",
    "b/x": "bx",
    "one": "1",
    "two": "2",
    "three": "3",
    "empty": None,
}


def swap(stage: Stage) -> None:
    stage.rename("one", "aside")
    stage.rename("two", "one")
    stage.rename("aside", "two")


def rotate(stage: Stage) -> None:
    swap(stage)
    stage.rename("one", "aside")
    stage.rename("three", "one")
    stage.rename("aside", "three")


def swap_folders(stage: Stage) -> None:
    stage.rename("a", "aside")
    stage.rename("b", "a")
    stage.rename("aside", "b")
    stage.write_bytes("b/in/y", b"changed inside")
    stage.unlink("b/x")


def move_into_own_old_name(stage: Stage) -> None:
    stage.rename("a", "t")
    stage.mkdir("a", parents=False, exist_ok=False)
    stage.rename("t", "a/a")
    stage.append_bytes("a/a/x", b"+")


def inside_out(stage: Stage) -> None:
    stage.rename("a/in", "in")
    stage.rename("a", "in/a")


def move_over(stage: Stage) -> None:
    stage.rename("one", "two")
    stage.append_bytes("two", b"more")


def move_over_in_moved_folder(stage: Stage) -> None:
    stage.rename("a", "c")
    stage.rename("one", "c/x")
    stage.rename("c/in/y", "c/y")


def folder_for_file(stage: Stage) -> None:
    stage.unlink("one")
    stage.write_bytes("one/inner", b"i")
    stage.rmtree("a")
    stage.write_bytes("a", b"a file now")


def again_with_the_same_name(stage: Stage) -> None:
    stage.unlink("one")
    stage.write_bytes("one", b"new one")
    stage.rmtree("a")
    stage.mkdir("a", parents=False, exist_ok=False)
    stage.write_bytes("a/z", b"z")


def rename_then_edit(stage: Stage) -> None:
    stage.rename("a", "deep/down/a")
    stage.write_bytes("deep/down/a/x", b"edited")
    stage.write_bytes("deep/down/a/new", b"new")
    stage.unlink("deep/down/a/in/y")


def copies(stage: Stage) -> None:
    stage.copy_file("one", "copy-one", metadata=True)
    stage.write_bytes("one", b"after the copy")
    stage.copy_file("two", "copy-two", metadata=False)
    stage.rename("two", "moved-two")
    stage.copy_file("three", "empty/three", metadata=False)
    stage.unlink("three")


def metadata(stage: Stage) -> None:
    stage.chmod("one", 0o600)
    stage.utime("two", 1_000_000_000_000_000_007)
    stage.chmod("empty", 0o700)
    stage.mkdir("shut", parents=False, exist_ok=False)
    stage.write_bytes("shut/in", b"in")
    stage.chmod("shut", 0o500)
    stage.utime("b", 99)


def replace_empty_folder(stage: Stage) -> None:
    stage.rename("a", "empty")


def folder_over_emptied_folder(stage: Stage) -> None:
    stage.unlink("b/x")
    stage.rename("a", "b")


PROGRAMS = [
    folder_over_emptied_folder,
    swap,
    rotate,
    swap_folders,
    move_into_own_old_name,
    inside_out,
    move_over,
    move_over_in_moved_folder,
    folder_for_file,
    again_with_the_same_name,
    rename_then_edit,
    copies,
    metadata,
    replace_empty_folder,
]


def shown(stage: Stage) -> dict[str, tuple[int, bytes | None]]:
    """Modes and contents as the stage has them, by relative path."""
    return {
        entry.path or ".": (
            stage.stat(entry.path or ".").mode,
            stage.read_bytes(entry.path) if entry.is_file else None,
        )
        for entry in stage.scan(".", max_depth=None)
    }


def on_disk(folder: Path) -> dict[str, tuple[int, bytes | str | None]]:
    return {name: (mode, content) for name, (mode, _, content) in picture(folder).items()}


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_disk_becomes_what_the_stage_showed_and_back(
    tmp_path: Path, program: Callable[[Stage], None]
) -> None:
    yard = make_yard(tmp_path, FILES)
    before = picture(yard.folder)
    program(yard.stage)
    expected = shown(yard.stage)
    assert picture(yard.folder) == before
    report = yard.commit()
    assert report.conflicts == ()
    assert on_disk(yard.folder) == expected
    assert undo(yard.undo_folder).conflicts == ()
    assert picture(yard.folder) == before


@pytest.mark.parametrize("program", PROGRAMS)
def test_folders_on_another_mount_are_committed_and_undone(
    tmp_path: Path, program: Callable[[Stage], None]
) -> None:
    yard = make_yard(tmp_path, FILES)
    fs = CrossDeviceFileSystem(str(yard.folder))
    before = picture(yard.folder)
    program(yard.stage)
    expected = shown(yard.stage)
    assert yard.commit(fs=fs).conflicts == ()
    assert on_disk(yard.folder) == expected
    assert undo(yard.undo_folder, fs=fs).conflicts == ()
    assert picture(yard.folder) == before


@pytest.mark.parametrize("program", PROGRAMS)
def test_file_systems_without_hard_links_will_do(
    tmp_path: Path, program: Callable[[Stage], None]
) -> None:
    yard = make_yard(tmp_path, FILES)
    before = picture(yard.folder)
    program(yard.stage)
    expected = shown(yard.stage)
    yard.commit(fs=NoHardLinksFileSystem())
    assert on_disk(yard.folder) == expected
    undo(yard.undo_folder, fs=NoHardLinksFileSystem())
    assert picture(yard.folder) == before


@pytest.fixture
def other_device(tmp_path: Path) -> Path:
    """A folder on another device than `tmp_path`."""
    memory = Path("/dev/shm")
    if not memory.is_dir() or memory.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("needs a second device")
    folder = Path(tempfile.mkdtemp(dir=memory))
    yield folder  # type: ignore[misc]
    shutil.rmtree(folder)


def test_moves_between_devices_keep_contents_modes_and_times(
    tmp_path: Path, other_device: Path
) -> None:
    yard = make_yard(tmp_path, FILES)
    there = make_yard(tmp_path / "second", {"t/u": "u", "over": "old"}, folder=other_device)
    grants = [FolderGrant(path=yard.folder), FolderGrant(path=there.folder)]
    stage = Stage(grants, yard.blobs)
    before = picture(yard.folder), picture(there.folder)
    far = there.folder.as_posix()
    stage.rename("a", f"{far}/new/a")
    stage.write_bytes(f"{far}/new/a/x", b"edited on the way")
    stage.unlink(f"{far}/new/a/in/y")
    stage.rename("one", f"{far}/over")
    stage.rename(f"{far}/t/u", "u")
    stage.rename("three", f"{far}/three")
    time_of_three = (yard.folder / "three").stat().st_mtime_ns
    changes = stage.changes()
    report = commit(changes, blobs=yard.blobs, undo_folder=yard.undo_folder, grants=grants)
    assert report.conflicts == ()
    assert contents(there.folder) == {
        ".": None,
        "new": None,
        "new/a": None,
        "new/a/in": None,
        "new/a/x": b"edited on the way",
        "over": b"1",
        "t": None,
        "three": b"3",
    }
    assert (there.folder / "three").stat().st_mtime_ns == time_of_three
    assert (yard.folder / "u").read_bytes() == b"u"
    assert undo(yard.undo_folder).conflicts == ()
    assert (picture(yard.folder), picture(there.folder)) == before


def test_a_moved_file_keeps_its_inode_time_and_attributes(tmp_path: Path) -> None:
    yard = make_yard(tmp_path, FILES)
    st = (yard.folder / "one").stat()
    yard.stage.rename("one", "sorted/one")
    yard.commit()
    after = (yard.folder / "sorted/one").stat()
    assert (after.st_ino, after.st_mtime_ns) == (st.st_ino, st.st_mtime_ns)


def test_new_files_have_the_time_of_writing_and_copies_that_of_the_original(tmp_path: Path) -> None:
    yard = make_yard(tmp_path, FILES)
    yard.stage.write_bytes("new", b"n")
    yard.stage.copy_file("one", "copy", metadata=True)
    written_ns = yard.stage.stat("new").mtime_ns
    yard.commit()
    assert (yard.folder / "new").stat().st_mtime_ns == written_ns
    assert (yard.folder / "copy").stat().st_mtime_ns == (yard.folder / "one").stat().st_mtime_ns


def test_writing_to_one_name_of_a_hard_link_leaves_the_other_alone(tmp_path: Path) -> None:
    yard = make_yard(tmp_path, FILES)
    os.link(yard.folder / "one", yard.folder / "linked")
    yard.stage.append_bytes("one", b"+")
    yard.commit()
    assert (yard.folder / "one").read_bytes() == b"1+"
    assert (yard.folder / "linked").read_bytes() == b"1"
    undo(yard.undo_folder)
    assert (yard.folder / "one").samefile(yard.folder / "linked")


def test_moving_one_hard_link_over_the_other_does_nothing_as_in_python(tmp_path: Path) -> None:
    yard = make_yard(tmp_path, FILES)
    os.link(yard.folder / "one", yard.folder / "linked")
    yard.stage.rename("one", "linked")
    assert yard.stage.changes().changes == ()


def test_extended_attributes_survive_an_edit_and_its_undo(tmp_path: Path) -> None:
    yard = make_yard(tmp_path, FILES)
    try:
        os.setxattr(yard.folder / "one", "user.note", b"mine")
    except OSError:
        pytest.skip("needs extended attributes")
    yard.stage.write_bytes("one", b"edited")
    yard.commit()
    assert os.getxattr(yard.folder / "one", "user.note") == b"mine"
    undo(yard.undo_folder)
    assert os.getxattr(yard.folder / "one", "user.note") == b"mine"


def edit(folder: Path) -> None:
    (folder / "one").write_text("somebody else's")


def delete(folder: Path) -> None:
    (folder / "one").unlink()


def retype(folder: Path) -> None:
    (folder / "one").unlink()
    (folder / "one").mkdir()


def change_mode(folder: Path) -> None:
    (folder / "one").chmod(0o600)


def relink(folder: Path) -> None:
    (folder / "one").unlink()
    (folder / "one").symlink_to("/etc/passwd")


@pytest.mark.parametrize("meddle", [edit, delete, retype, change_mode, relink])
@pytest.mark.parametrize(
    "program",
    [
        lambda s: s.write_bytes("one", b"ours"),
        lambda s: s.append_bytes("one", b"ours"),
        lambda s: s.rename("one", "moved"),
        lambda s: s.unlink("one"),
        lambda s: s.chmod("one", 0o640),
        lambda s: s.rename("two", "one"),
        lambda s: s.copy_file("one", "copy", metadata=False),
    ],
)
def test_what_changed_under_the_stage_conflicts_and_the_rest_is_applied(
    tmp_path: Path, meddle: Callable[[Path], None], program: Callable[[Stage], object]
) -> None:
    yard = make_yard(tmp_path, FILES)
    program(yard.stage)
    yard.stage.write_bytes("unrelated", b"u")
    changes = yard.stage.changes()
    meddle(yard.folder)
    theirs = contents(yard.folder)
    report = yard.commit(changes)
    assert [c.reason for c in report.conflicts] in (["gone"], ["changed"], ["source-changed"])
    assert [change.path for change in report.applied] == [str(yard.folder / "unrelated")]
    assert contents(yard.folder) == {**theirs, "unrelated": b"u"}


def test_a_place_taken_meanwhile_is_a_conflict(tmp_path: Path) -> None:
    yard = make_yard(tmp_path, FILES)
    yard.stage.write_bytes("new", b"ours")
    yard.stage.rename("one", "moved")
    changes = yard.stage.changes()
    (yard.folder / "new").write_text("theirs")
    (yard.folder / "moved").mkdir()
    report = yard.commit(changes)
    assert [c.reason for c in report.conflicts] == ["occupied", "occupied"]
    assert (yard.folder / "new").read_text() == "theirs"


def test_a_deleted_folder_with_new_content_stays_with_it(tmp_path: Path) -> None:
    yard = make_yard(tmp_path, FILES)
    yard.stage.rmtree("a")
    changes = yard.stage.changes()
    (yard.folder / "a/in/precious").write_text("p")
    report = yard.commit(changes)
    assert {c.reason for c in report.conflicts} == {"not-empty", "needs-another"}
    assert sorted(contents(yard.folder / "a")) == [".", "in", "in/precious"]


def test_what_depends_on_a_conflict_is_left_out_with_it(tmp_path: Path) -> None:
    yard = make_yard(tmp_path, FILES)
    yard.stage.write_bytes("folder/inner/file", b"f")
    changes = yard.stage.changes()
    (yard.folder / "folder").write_text("a file")
    report = yard.commit(changes)
    assert [c.reason for c in report.conflicts] == ["occupied", "needs-another", "needs-another"]
    assert report.applied == ()


def test_a_folder_that_became_a_link_out_is_not_written_through(tmp_path: Path) -> None:
    yard = make_yard(tmp_path, FILES)
    victim = tmp_path / "victim"
    victim.mkdir()
    yard.stage.write_bytes("a/planted", b"p")
    changes = yard.stage.changes()
    (yard.folder / "a").rename(yard.folder / "elsewhere")
    (yard.folder / "a").symlink_to(victim)
    report = yard.commit(changes)
    assert [c.reason for c in report.conflicts] == ["outside"]
    assert list(victim.iterdir()) == []


def test_a_change_set_that_points_outside_is_refused(tmp_path: Path) -> None:
    yard = make_yard(tmp_path, FILES)
    yard.stage.write_bytes("new", b"n")
    (change,) = yard.stage.changes().changes
    forged = ChangeSet(changes=(replace(change, path=str(tmp_path / "outside")),))
    assert [c.reason for c in yard.commit(forged).conflicts] == ["outside"]
    assert not (tmp_path / "outside").exists()


def test_an_empty_change_set_touches_nothing(tmp_path: Path) -> None:
    yard = make_yard(tmp_path, FILES)
    before = picture(yard.folder)
    report = yard.commit()
    assert (report.applied, report.conflicts) == ((), ())
    assert picture(yard.folder) == before


def test_a_full_disk_is_told_with_what_to_do(tmp_path: Path) -> None:
    yard = make_yard(tmp_path, FILES)
    before = picture(yard.folder)
    yard.stage.unlink("one")
    with pytest.raises(CommitError, match="Nothing was changed: No space left") as caught:
        yard.commit(fs=FaultyFileSystem(at=12, error=28))
    assert "Free some space" in caught.value.hint
    assert picture(yard.folder) == before


def test_committing_again_after_a_fault_works(tmp_path: Path) -> None:
    yard: Yard = make_yard(tmp_path, FILES)
    rename_then_edit(yard.stage)
    expected = shown(yard.stage)
    with pytest.raises(CommitError):
        yard.commit(fs=FaultyFileSystem(at=30, error=5))
    assert yard.commit().conflicts == ()
    assert on_disk(yard.folder) == expected


def test_an_append_to_a_sparse_file_keeps_its_holes(tmp_path: Path) -> None:
    yard = make_yard(tmp_path, {"one": "1"})
    path = yard.folder / "sparse"
    with path.open("wb") as out:
        out.seek(32 * 1024 * 1024)
        out.write(b"middle")
        out.truncate(64 * 1024 * 1024)
    yard.restage()
    yard.stage.append_bytes("sparse", b"end")
    yard.commit()
    st = path.stat()
    assert st.st_size == 64 * 1024 * 1024 + 3
    assert st.st_blocks * 512 < 1024 * 1024
    with path.open("rb") as content:
        content.seek(32 * 1024 * 1024)
        assert content.read(7) == b"middle\0"
        content.seek(-4, os.SEEK_END)
        assert content.read() == b"\0end"
