"""Marks: what about a change deserves a second look."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox.blobs import BlobStore
from sandbox.marks import Mark, marks
from sandbox.stage import FolderGrant, Stage
from tests.sandbox.trees import build


@pytest.fixture
def roots(tmp_path: Path) -> list[Path]:
    """Two granted folders."""
    one, two = tmp_path.resolve() / "one", tmp_path.resolve() / "two"
    build(one, {"a.txt": "a", "b.txt": "b", "tool": "t", "dir/x": "x"})
    build(two, {"z": "z"})
    (one / "tool").chmod(0o755)
    (one / "second name").hardlink_to(one / "b.txt")
    return [one, two]


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (lambda s, two: s.write_bytes("a.txt", b"new"), ()),
        (lambda s, two: s.rename("a.txt", "c.txt"), ()),
        (lambda s, two: s.rename("a.txt", "b.txt"), ("overwrites",)),
        (lambda s, two: s.rename("a.txt", f"{two}/a.txt"), ("leaves-folder",)),
        (lambda s, two: s.write_bytes("setup.EXE", b"MZ"), ("program",)),
        (lambda s, two: s.write_bytes(".profile.sh", b"x"), ("program", "hidden")),
        (lambda s, two: s.chmod("a.txt", 0o755), ("program",)),
        (lambda s, two: s.rename("tool", "tool2"), ("program",)),
        (lambda s, two: s.rename("dir", "dir2"), ()),
        (lambda s, two: s.unlink("tool"), ()),
        (lambda s, two: s.append_bytes("b.txt", b"+"), ("hard-link",)),
        (lambda s, two: s.rename("b.txt", "c.txt"), ()),
    ],
)
def test_a_change_has_its_marks(
    roots: list[Path],
    tmp_path: Path,
    program: Callable[[Stage, Path], object],
    expected: tuple[Mark],
) -> None:
    stage = Stage([FolderGrant(path=root) for root in roots], BlobStore(tmp_path / "blobs"))
    program(stage, roots[1])
    (change,) = stage.changes().changes
    assert marks(change, [str(root) for root in roots]) == expected
