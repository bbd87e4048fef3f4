"""Read-only folders for somebody who is not root: refused as in Python, or moved and put back."""

from __future__ import annotations

import os
import shutil
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sandbox.redo import redo
from sandbox.undo import undo
from tests.sandbox.trees import Yard, contents, make_yard, picture

NOBODY = 65534
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs users as POSIX has them")


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder that an ordinary user owns, outside the test's own, which is root's."""
    folder = Path(tempfile.mkdtemp())
    if os.geteuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def as_ordinary_user(work: Callable[[], None]) -> None:
    """Run `work` in a child process that is not root; fails as `work` does."""
    pid = os.fork()
    if pid == 0:
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            work()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0


def yard_with_shut(home: Path, files: dict[str, bytes | str | None]) -> Yard:
    yard = make_yard(home, files)
    (yard.folder / "shut").chmod(0o500)
    yard.restage()
    return yard


@pytest.mark.parametrize("name", ["moved", "new/moved"])
def test_a_read_only_folder_moves_and_comes_back(home: Path, name: str) -> None:
    def work() -> None:
        yard = yard_with_shut(home, {"shut/x": "x", "one": "1"})
        before = picture(yard.folder)
        yard.stage.rename("shut", name)
        assert yard.commit().conflicts == ()
        after = picture(yard.folder)
        assert after[name][0] & 0o777 == 0o500
        assert after[f"{name}/x"][2] == b"x"
        for _ in range(2):
            assert undo(yard.undo_folder).conflicts == ()
            assert picture(yard.folder) == before
            assert redo(yard.undo_folder, grants=yard.stage.grants).conflicts == ()
            assert picture(yard.folder)[name] == after[name]

    as_ordinary_user(work)


def test_an_empty_read_only_folder_is_deleted_and_comes_back(home: Path) -> None:
    def work() -> None:
        yard = yard_with_shut(home, {"shut": None, "one": "1"})
        before = picture(yard.folder)
        yard.stage.rmdir("shut")
        assert yard.commit().conflicts == ()
        assert contents(yard.folder) == {".": None, "one": b"1"}
        undo(yard.undo_folder)
        assert picture(yard.folder) == before

    as_ordinary_user(work)


@pytest.mark.parametrize("name", ["top", "top/in"])
def test_a_tree_with_a_read_only_folder_is_refused_as_python_would(home: Path, name: str) -> None:
    def work() -> None:
        yard = make_yard(home, {"top/in/shut/x": "x"})
        (yard.folder / "top/in/shut").chmod(0o500)
        yard.restage()
        with pytest.raises(PermissionError, match="is read-only; make it writable"):
            yard.stage.rmtree(name)
        assert yard.stage.changes().changes == ()
        yard.stage.chmod("top/in/shut", 0o700)
        yard.stage.rmtree(name)
        before = picture(yard.folder)
        assert yard.commit().conflicts == ()
        assert not (yard.folder / name).exists()
        undo(yard.undo_folder)
        assert picture(yard.folder) == before

    as_ordinary_user(work)
