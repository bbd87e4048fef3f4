"""What bounds a workspace on this machine's own kernel: the best there is, or no workspace."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sandbox.workspace import bounds
from sandbox.workspace.bounds import Bound, bound_in_force, bound_of
from sandbox.workspace.errors import WorkspaceMissingError


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty place where control groups would be."""
    monkeypatch.setattr(bounds, "_GROUPS", tmp_path)
    monkeypatch.setattr(bounds, "_own_group", lambda _: Path("ours"))
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    return tmp_path


def test_root_without_control_groups_has_no_workspace(
    groups: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds.os, "geteuid", lambda: 0)
    with pytest.raises(WorkspaceMissingError, match="Nothing bounds"):
        bound_of(groups)
    assert bound_in_force().kind == "none"


def test_an_ordinary_user_without_control_groups_has_his_limits(
    groups: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds.os, "geteuid", lambda: 1000)
    assert bound_of(groups) == Bound(kind="user")


def test_a_user_with_systemd_has_a_scope(groups: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (groups / "systemd").mkdir()
    (groups / "systemd" / "private").touch()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(groups))
    monkeypatch.setattr(bounds.shutil, "which", lambda name: f"/usr/bin/{name}")
    found = bound_of(groups)
    assert found.kind == "scope"
    assert f"TasksMax={bounds.MOST_PROCESSES}" in found.words
    assert found.words[-1] == "--"


def test_groups_of_version_2_are_below_the_nearest_that_hands_its_controllers_down(
    groups: Path,
) -> None:
    (groups / "cgroup.controllers").touch()
    (groups / "ours").mkdir()
    (groups / "ours" / "cgroup.procs").touch()
    found = bound_of(groups)
    assert found.kind == "cgroup2"
    (folder,) = found.folders
    assert folder.parent == groups / "ours"
    assert (folder / "pids.max").read_text() == str(bounds.MOST_PROCESSES)
    assert (folder / "cgroup.subtree_control").read_text() == "+pids +memory"
    with found.opened() as (ends, names):
        assert names == [str(ends[0])] * 2
        assert os.fstat(ends[0]).st_ino == folder.stat().st_ino


def test_groups_of_version_1_are_one_a_controller(groups: Path) -> None:
    for name in ("pids", "memory"):
        (groups / name / "ours").mkdir(parents=True)
    found = bound_of(groups)
    assert found.kind == "cgroup1"
    pids, memory = found.folders
    assert (pids / "pids.max").read_text() == str(bounds.MOST_PROCESSES)
    assert (memory / "memory.limit_in_bytes").read_text() == str(bounds.memory_bytes())


def test_nothing_is_left_of_the_groups(tmp_path: Path) -> None:
    try:
        found = bound_of(tmp_path)
    except WorkspaceMissingError:
        pytest.skip("root, and no control groups")
    assert all(folder.is_dir() for folder in found.folders)
    again = bound_of(tmp_path)  # after a crash: the same place, as new
    assert again == found
    again.end()
    assert not any(folder.exists() for folder in found.folders)
