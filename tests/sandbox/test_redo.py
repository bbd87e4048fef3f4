"""Redo: what was undone is done again, and can be undone again."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sandbox.commit import recover
from sandbox.errors import CommitError
from sandbox.redo import redo
from sandbox.stage import Stage
from sandbox.transaction import FileSystem
from sandbox.undo import undo
from tests.sandbox.faults import (
    CrossDeviceFileSystem,
    FaultyFileSystem,
    Killed,
    NoHardLinksFileSystem,
)
from tests.sandbox.test_commit import FILES, PROGRAMS, on_disk, shown
from tests.sandbox.trees import Yard, contents, make_yard, picture


def same_device(_: Path) -> FileSystem:
    return FileSystem()


def other_mount(folder: Path) -> FileSystem:
    return CrossDeviceFileSystem(str(folder))


def no_hard_links(_: Path) -> FileSystem:
    return NoHardLinksFileSystem()


@pytest.mark.parametrize("kind", [same_device, other_mount, no_hard_links])
@pytest.mark.parametrize("program", PROGRAMS)
def test_redo_is_the_commit_again_and_undo_the_way_back_twice_over(
    tmp_path: Path, program: Callable[[Stage], None], kind: Callable[[Path], FileSystem]
) -> None:
    yard = make_yard(tmp_path, FILES)
    fs = kind(yard.folder)
    before = picture(yard.folder)
    program(yard.stage)
    expected = shown(yard.stage)
    yard.commit(fs=fs)
    for _ in range(2):
        assert undo(yard.undo_folder, fs=fs).conflicts == ()
        assert picture(yard.folder) == before
        report = redo(yard.undo_folder, grants=yard.stage.grants, fs=fs)
        assert report.conflicts == ()
        assert on_disk(yard.folder) == expected
    assert undo(yard.undo_folder, fs=fs).conflicts == ()
    assert picture(yard.folder) == before


@pytest.fixture
def other_device(tmp_path: Path) -> Iterator[Path]:
    memory = Path("/dev/shm")
    if not memory.is_dir() or memory.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("needs a second device")
    folder = Path(tempfile.mkdtemp(dir=memory))
    yield folder
    shutil.rmtree(folder)


@pytest.mark.parametrize("program", PROGRAMS)
def test_on_another_device_too_what_was_made_is_kept_for_redo(
    tmp_path: Path, other_device: Path, program: Callable[[Stage], None]
) -> None:
    yard = make_yard(tmp_path, FILES, folder=other_device)
    before = picture(yard.folder)
    program(yard.stage)
    expected = shown(yard.stage)
    yard.commit()
    for _ in range(2):
        assert undo(yard.undo_folder).conflicts == ()
        assert picture(yard.folder) == before
        assert redo(yard.undo_folder, grants=yard.stage.grants).conflicts == ()
        assert on_disk(yard.folder) == expected


@pytest.fixture
def undone(tmp_path: Path) -> Yard:
    yard = make_yard(tmp_path, FILES)
    yard.stage.write_bytes("one", b"ours")
    yard.stage.rename("two", "sorted/two")
    yard.stage.unlink("three")
    yard.commit()
    undo(yard.undo_folder)
    return yard


def test_a_file_edited_since_the_undo_is_named_and_kept(undone: Yard) -> None:
    (undone.folder / "one").write_text("by hand")
    report = redo(undone.undo_folder, grants=undone.stage.grants)
    assert [(c.path, c.reason) for c in report.conflicts] == [
        (str(undone.folder / "one"), "changed")
    ]
    now = contents(undone.folder)
    assert (now["one"], now["sorted/two"], "three" in now) == (b"by hand", b"2", False)
    undo(undone.undo_folder)
    now = contents(undone.folder)
    assert (now["one"], now["two"], now["three"]) == (b"by hand", b"2", b"3")


def test_there_is_nothing_to_redo_before_an_undo(tmp_path: Path) -> None:
    yard = make_yard(tmp_path, FILES)
    yard.stage.unlink("one")
    yard.commit()
    with pytest.raises(CommitError, match="nothing here to do again"):
        redo(yard.undo_folder, grants=yard.stage.grants)
    undo(yard.undo_folder)
    redo(yard.undo_folder, grants=yard.stage.grants)
    with pytest.raises(CommitError, match="nothing here to do again"):
        redo(yard.undo_folder, grants=yard.stage.grants)


@pytest.mark.parametrize("after", [False, True])
def test_a_redo_killed_at_any_call_is_before_or_after(tmp_path: Path, after: bool) -> None:
    def fresh(name: str) -> Yard:
        yard = make_yard(tmp_path / name, FILES)
        yard.stage.append_bytes("one", b"+")
        yard.stage.rename("a", "new/a")
        yard.stage.unlink("three")
        yard.commit()
        undo(yard.undo_folder)
        return yard

    yard = fresh("count")
    before = on_disk(yard.folder)
    counting = FaultyFileSystem()
    redo(yard.undo_folder, grants=yard.stage.grants, fs=counting)
    done = on_disk(yard.folder)
    ends = set()
    for at in range(after, len(counting.calls), int(os.environ.get("DRYDOCK_KILL_STRIDE", "4"))):
        yard = fresh(str(at))
        original = picture(yard.folder)
        with pytest.raises(Killed):
            redo(
                yard.undo_folder,
                grants=yard.stage.grants,
                fs=FaultyFileSystem(at=at, after=after),
            )
        recover(yard.undo_folder)
        now = on_disk(yard.folder)
        assert now in (before, done), at
        ends.add(now == before)
        if now == before:
            assert picture(yard.folder) == original, at
            redo(yard.undo_folder, grants=yard.stage.grants)
        undo(yard.undo_folder)
        assert picture(yard.folder) == original, at
    assert ends == {True, False}


def test_a_full_disk_lets_an_undo_happen_without_its_redo(
    tmp_path: Path, other_device: Path
) -> None:
    yard = make_yard(tmp_path, FILES, folder=other_device)
    before = picture(yard.folder)
    yard.stage.write_bytes("made", b"m" * 100)
    yard.commit()

    class Full(FileSystem):
        def write(self, handle: int, data: bytes) -> int:
            if data.startswith(b"mmm"):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return super().write(handle, data)

        def fsync(self, handle: int) -> None:
            if os.fstat(handle).st_size == 100:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            super().fsync(handle)

    undo(yard.undo_folder, fs=Full())
    assert picture(yard.folder) == before
    with pytest.raises(CommitError, match="was not kept"):
        redo(yard.undo_folder, grants=yard.stage.grants)
