"""A fault of the disk in the middle: all taken back, or, if preferred, kept and listed."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox.commit import CommitReport, commit
from sandbox.errors import CommitError
from sandbox.redo import redo
from sandbox.transaction import FileSystem
from sandbox.undo import undo
from tests.sandbox.everything import everything, everything_in
from tests.sandbox.faults import FaultyFileSystem
from tests.sandbox.trees import Yard, contents, make_yard, picture

FAULTS = [
    errno.ENOSPC,
    errno.EACCES,
    errno.EXDEV,
    errno.EIO,
    errno.EMFILE,
    errno.EBUSY,
    errno.EDQUOT,
]
STRIDE = int(os.environ.get("DRYDOCK_KILL_STRIDE", "3"))  # 1 for every call


def keeping(yard: Yard, fs: FileSystem) -> CommitReport:
    return commit(
        yard.stage.changes(),
        blobs=yard.blobs,
        undo_folder=yard.undo_folder,
        grants=yard.stage.grants,
        keep=True,
        fs=fs,
    )


class Refusing(FileSystem):
    """Refuses to put anything at the paths that end so, always."""

    def __init__(self, number: int, *ends: str) -> None:
        self._number = number
        self._ends = ends

    def rename(self, src: str, dst: str) -> None:
        if dst.endswith(self._ends) or src.endswith(self._ends):
            raise OSError(self._number, os.strerror(self._number), dst)
        super().rename(src, dst)


class Full(FileSystem):
    """Takes no file of more than `room_bytes`."""

    def __init__(self, room_bytes: int) -> None:
        self._room_bytes = room_bytes

    def write(self, handle: int, data: bytes) -> int:
        if len(data) > self._room_bytes:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(handle, data)

    def fsync(self, handle: int) -> None:
        if os.fstat(handle).st_size == 50_000:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        super().fsync(handle)


def test_what_one_file_refuses_is_listed_and_the_rest_is_kept(tmp_path: Path) -> None:
    yard = make_yard(tmp_path, {"a": "a", "b": "b", "c": "c"})
    before = picture(yard.folder)
    for name in "abc":
        yard.stage.rename(name, f"moved/{name}")
    report = keeping(yard, Refusing(errno.EBUSY, "/b"))
    assert [(c.reason, Path(c.path).name) for c in report.conflicts] == [("fault", "b")]
    assert "Close the programs that use it" in report.conflicts[0].message
    assert set(contents(yard.folder)) == {".", "b", "moved", "moved/a", "moved/c"}
    assert undo(yard.undo_folder).conflicts == ()
    assert picture(yard.folder) == before


def test_what_hangs_on_the_refused_is_left_out_with_it(tmp_path: Path) -> None:
    yard = make_yard(tmp_path, {"a": "a", "b": "b"})
    yard.stage.write_bytes("new/in/file", b"f")
    yard.stage.rename("a", "other")
    report = keeping(yard, Refusing(errno.EACCES, "/new"))
    assert {(Path(c.path).name, c.reason) for c in report.conflicts} == {
        ("new", "fault"),
        ("in", "needs-another"),
        ("file", "fault"),
    }
    assert set(contents(yard.folder)) == {".", "b", "other"}


def test_a_full_disk_takes_no_more_content_but_moves_and_deletions(tmp_path: Path) -> None:
    yard = make_yard(tmp_path, {"a": "a", "b": "b"})
    before = picture(yard.folder)
    yard.stage.write_bytes("c-small", b"fits")
    yard.stage.write_bytes("d-large", b"x" * 50_000)
    yard.stage.write_bytes("e-later", b"later")
    yard.stage.rename("a", "z")
    yard.stage.unlink("b")
    report = keeping(yard, Full(40_000))
    assert {Path(c.path).name for c in report.conflicts} == {"d-large", "e-later"}
    assert all("Free some space" in c.message for c in report.conflicts)
    assert set(contents(yard.folder)) == {".", "c-small", "z"}
    assert undo(yard.undo_folder).conflicts == ()
    assert picture(yard.folder) == before


def test_without_the_wish_everything_is_taken_back_and_the_wish_is_offered(tmp_path: Path) -> None:
    yard = make_yard(tmp_path, {"a": "a", "b": "b"})
    before = picture(yard.folder)
    yard.stage.rename("a", "c")
    yard.stage.rename("b", "d")
    with pytest.raises(CommitError) as caught:
        yard.commit(fs=Refusing(errno.EBUSY, "/d"))
    assert caught.value.can_keep
    assert picture(yard.folder) == before


def yards(tmp_path: Path) -> Callable[[], Yard]:
    count = 0

    def fresh() -> Yard:
        nonlocal count
        count += 1
        yard = make_yard(tmp_path / str(count), everything_in(0))
        everything(yard.stage)
        return yard

    return fresh


@pytest.mark.parametrize("number", FAULTS)
def test_a_fault_at_any_call_of_a_keeping_commit_loses_and_hides_nothing(
    tmp_path: Path, number: int
) -> None:
    fresh = yards(tmp_path)
    counting = FaultyFileSystem()
    keeping(fresh(), counting)
    partly = 0
    for at in range(0, len(counting.calls), STRIDE):
        yard = fresh()
        times = picture(yard.folder)
        ids = {change.id for change in yard.stage.changes().changes}
        try:
            report = keeping(yard, FaultyFileSystem(at=at, error=number))
        except CommitError:  # of no change in particular: the journal could not be written
            assert picture(yard.folder) == times, at
            continue
        applied = {change.id for change in report.applied}
        left_out = {problem.change_id for problem in report.conflicts}
        assert applied | left_out == ids, at
        assert not applied & left_out, at
        partly += bool(left_out)
        if applied:
            assert undo(yard.undo_folder).conflicts == (), at
        assert picture(yard.folder) == times, at
    assert partly or number == errno.EXDEV


def shape(yard: Yard) -> dict[str, tuple[int, object]]:
    return {name: (mode, content) for name, (mode, _, content) in picture(yard.folder).items()}


@pytest.mark.parametrize("number", FAULTS)
@pytest.mark.parametrize("aspect", ["undo", "redo"])
def test_a_fault_at_any_call_of_an_undo_or_a_redo_takes_it_back(
    tmp_path: Path, aspect: str, number: int
) -> None:
    def ready() -> Yard:
        yard = fresh()
        yard.commit()
        if aspect == "redo":
            undo(yard.undo_folder)
        return yard

    def act(yard: Yard, fs: FileSystem) -> None:
        if aspect == "undo":
            undo(yard.undo_folder, fs=fs)
        else:
            redo(yard.undo_folder, grants=yard.stage.grants, fs=fs)

    fresh = yards(tmp_path)
    yard = ready()
    counting = FaultyFileSystem()
    act(yard, counting)
    done = shape(yard)
    for at in range(0, len(counting.calls), STRIDE):
        yard = ready()
        before, times = shape(yard), picture(yard.folder)
        try:
            act(yard, FaultyFileSystem(at=at, error=number))
        except CommitError:
            assert shape(yard) == before, at
            assert picture(yard.folder) == times, at
        else:  # a fault that does not matter: no hard links, tidying up
            assert shape(yard) == done, at
