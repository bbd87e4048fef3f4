"""The lock on folders: one commit at a time, from whichever process."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.errors import CommitError
from sandbox.locks import locked
from sandbox.undo import undo
from tests.sandbox.trees import make_yard, picture

HOLD = """
import sys
from sandbox.locks import locked
with locked([sys.argv[1]]):
    print("held", flush=True)
    sys.stdin.read()
"""


def hold(folder: Path) -> subprocess.Popen[str]:
    """Another process that holds `folder` until its standard input closes."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "top/in").mkdir(parents=True)
    (tmp_path / "beside").mkdir()
    return tmp_path


@pytest.mark.parametrize(("held", "wanted"), [("top", "top"), ("top", "top/in"), ("top/in", "top")])
def test_a_folder_excludes_itself_and_what_is_inside_and_above(
    folder: Path, held: str, wanted: str
) -> None:
    with (
        locked([str(folder / held)]),
        pytest.raises(CommitError, match="Another run"),
        locked([str(folder / wanted)], wait_s=0),
    ):
        pytest.fail("both had it")
    with locked([str(folder / wanted)], wait_s=0):
        pass


def test_folders_beside_each_other_do_not_wait(folder: Path) -> None:
    with (
        locked([str(folder / "top/in")]),
        locked([str(folder / "beside"), str(folder / "not there")], wait_s=0),
    ):
        assert [path.name for path in (folder / "beside").iterdir()] == []


def test_a_link_to_a_folder_is_the_same_folder(folder: Path) -> None:
    (folder / "link").symlink_to(folder / "top")
    with (
        locked([str(folder / "top")]),
        pytest.raises(CommitError, match="Another run"),
        locked([str(folder / "link")], wait_s=0),
    ):
        pytest.fail("both had it")


def test_a_process_that_is_killed_lets_go(folder: Path) -> None:
    process = hold(folder / "top")
    with pytest.raises(CommitError), locked([str(folder / "top")], wait_s=0):
        pytest.fail("both had it")
    process.send_signal(signal.SIGKILL)
    process.wait()
    with locked([str(folder / "top")], wait_s=1):
        pass


def test_a_commit_and_an_undo_wait_for_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard = make_yard(tmp_path, {"one": "1"})
    before = picture(yard.folder)
    yard.stage.write_bytes("one", b"ours")
    monkeypatch.setattr(locked.__wrapped__, "__kwdefaults__", {"wait_s": 0.0})  # type: ignore[attr-defined]
    with hold(yard.folder) as other:
        with pytest.raises(CommitError, match="Another run") as caught:
            yard.commit()
        assert caught.value.hint
        assert picture(yard.folder) == before
        other.communicate("")
    assert yard.commit().conflicts == ()
    with hold(yard.folder) as other:
        with pytest.raises(CommitError, match="Another run"):
            undo(yard.undo_folder)
        other.communicate("")
    undo(yard.undo_folder)
    assert picture(yard.folder) == before
