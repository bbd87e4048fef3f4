"""A commit or an undo that fails or dies at any of its system calls leaves before or after."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox.commit import recover
from sandbox.errors import CommitError
from sandbox.undo import undo
from tests.sandbox.everything import everything, everything_in
from tests.sandbox.faults import CrossDeviceFileSystem, FaultyFileSystem, Killed
from tests.sandbox.trees import Yard, make_yard, picture

STRIDE = int(os.environ.get("DRYDOCK_KILL_STRIDE", "4"))  # 1 for every call
FILES = everything_in(0)


def yards(tmp_path: Path) -> Callable[[], Yard]:
    """Makes fresh, equal yards."""
    count = 0

    def fresh() -> Yard:
        nonlocal count
        count += 1
        yard = make_yard(tmp_path / str(count), FILES)
        everything(yard.stage)
        return yard

    return fresh


def calls_of(action: Callable[[FaultyFileSystem], object]) -> int:
    counting = FaultyFileSystem()
    action(counting)
    return len(counting.calls)


@pytest.mark.parametrize("after", [False, True])
def test_a_commit_killed_at_any_call_is_before_or_after(tmp_path: Path, after: bool) -> None:
    fresh = yards(tmp_path)
    yard = fresh()
    before = shape(yard)
    total = calls_of(lambda fs: yard.commit(fs=fs))
    done = shape(yard)
    assert total > 60
    ends = set()
    for at in range(after, total, STRIDE):
        yard = fresh()
        times = picture(yard.folder)
        with pytest.raises(Killed):
            yard.commit(fs=FaultyFileSystem(at=at, after=after))
        recover(yard.undo_folder)
        now = shape(yard)
        assert now in (before, done), at
        if now == before:
            assert picture(yard.folder) == times, at
        else:
            undo(yard.undo_folder)
            assert picture(yard.folder) == times, at
        ends.add(now == before)
        assert not recover(yard.undo_folder)
    assert ends == {True, False}


@pytest.mark.parametrize("after", [False, True])
def test_an_undo_killed_at_any_call_is_before_or_after(tmp_path: Path, after: bool) -> None:
    fresh = yards(tmp_path)
    yard = fresh()
    original = shape(yard)
    yard.commit()
    done = shape(yard)
    total = calls_of(lambda fs: undo(yard.undo_folder, fs=fs))
    ends = set()
    for at in range(after, total, STRIDE):
        yard = fresh()
        times = picture(yard.folder)
        yard.commit()
        with pytest.raises(Killed):
            undo(yard.undo_folder, fs=FaultyFileSystem(at=at, after=after))
        recover(yard.undo_folder)
        now = shape(yard)
        assert now in (original, done), at
        if now == done:
            assert undo(yard.undo_folder).conflicts == ()
        assert picture(yard.folder) == times, at
        ends.add(now == done)
    assert ends == {True, False}


def test_a_recovery_killed_at_any_call_can_be_repeated(tmp_path: Path) -> None:
    fresh = yards(tmp_path)
    yard = fresh()
    before = shape(yard)
    middle = calls_of(lambda fs: yard.commit(fs=fs)) * 3 // 4

    def broken() -> Yard:
        yard = fresh()
        with pytest.raises(Killed):
            yard.commit(fs=FaultyFileSystem(at=middle))
        return yard

    yard = broken()
    total = calls_of(lambda fs: recover(yard.undo_folder, fs=fs))
    assert total > 10
    for at in range(total):
        yard = broken()
        with pytest.raises(Killed):
            recover(yard.undo_folder, fs=FaultyFileSystem(at=at))
        recover(yard.undo_folder)
        assert shape(yard) == before, at


@pytest.mark.parametrize(
    "number",
    [errno.ENOSPC, errno.EACCES, errno.EIO, errno.EMFILE, errno.EXDEV, errno.EBUSY, errno.EDQUOT],
)
def test_a_fault_at_any_call_takes_everything_back(tmp_path: Path, number: int) -> None:
    fresh = yards(tmp_path)
    yard = fresh()
    total = calls_of(lambda fs: yard.commit(fs=fs))
    done = shape(yard)
    for at in range(total):
        yard = fresh()
        before, times = shape(yard), picture(yard.folder)
        try:
            yard.commit(fs=FaultyFileSystem(at=at, error=number))
        except CommitError:
            assert shape(yard) == before, at
            assert picture(yard.folder) == times, at
        else:  # a fault that does not matter: no hard links, tidying up
            assert shape(yard) == done, at


@pytest.mark.parametrize("at_part", [0.2, 0.5, 0.7, 0.8, 0.9, 0.95])
def test_a_kill_between_mounts_is_before_or_after(tmp_path: Path, at_part: float) -> None:
    class Dying(CrossDeviceFileSystem):
        left = 10**9

        def rename(self, src: str, dst: str) -> None:
            if self.left == 0:
                raise Killed
            self.left -= 1
            super().rename(src, dst)

    fresh = yards(tmp_path)
    yard = fresh()
    counting = Dying(str(yard.folder))
    yard.commit(fs=counting)
    done = shape(yard)
    renames = 10**9 - counting.left
    yard = fresh()
    times = picture(yard.folder)
    dying = Dying(str(yard.folder))
    dying.left = int(renames * at_part)
    with pytest.raises(Killed):
        yard.commit(fs=dying)
    recover(yard.undo_folder)
    assert picture(yard.folder) == times or shape(yard) == done


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
@pytest.mark.parametrize("at", [10, 25, 40, 50, 55])
def test_a_process_killed_for_real_is_recovered_by_the_next(tmp_path: Path, at: int) -> None:
    script = textwrap.dedent(
        """
        import os, signal, sys
        from pathlib import Path
        from tests.sandbox.everything import everything, everything_in
        from tests.sandbox.faults import FaultyFileSystem
        from tests.sandbox.trees import make_yard

        class Deadly(FaultyFileSystem):
            def _call(self, name, real):
                if len(self.calls) == int(sys.argv[2]):
                    os.kill(os.getpid(), signal.SIGKILL)
                return super()._call(name, real)

        yard = make_yard(Path(sys.argv[1]), everything_in(0))
        everything(yard.stage)
        yard.commit(fs=Deadly())
        """
    )
    run = subprocess.run([sys.executable, "-c", script, str(tmp_path), str(at)], check=False)
    assert run.returncode == -signal.SIGKILL
    recover(tmp_path / "undo")
    untouched = make_yard(tmp_path / "compare", FILES)
    assert picture(tmp_path / "granted") == picture(untouched.folder)


def shape(yard: Yard) -> dict[str, tuple[int, bytes | str | None]]:
    """Modes and contents; times of folders depend on the moment."""
    return {name: (mode, content) for name, (mode, _, content) in picture(yard.folder).items()}


def test_recovering_where_nothing_happened_does_nothing(tmp_path: Path) -> None:
    assert not recover(tmp_path)
    assert list(tmp_path.iterdir()) == []
