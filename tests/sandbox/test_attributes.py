"""Extended attributes and access lists: kept by a commit, and as before after an undo."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox.redo import redo
from sandbox.stage import Stage
from sandbox.transaction import FileSystem
from sandbox.undo import undo
from tests.sandbox.faults import CrossDeviceFileSystem, NoHardLinksFileSystem
from tests.sandbox.trees import Yard, make_yard, picture

FILES = {"a/x": "ax", "a/in/y": "ay", "one": "1", "two": "2", "three": "3", "over": "o"}
ACCESS = "system.posix_acl_access"
Attributes = dict[str, dict[str, bytes]]


def access_list(mode: int) -> bytes:
    """An access list that lets user 1000 read. Source: acl(5), linux/posix_acl_xattr.h."""
    owner, group, other = mode >> 6 & 7, mode >> 3 & 7, mode & 7
    entries = [(1, owner, -1), (2, 4, 1000), (4, group, -1), (16, group | 4, -1), (32, other, -1)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    yard = make_yard(tmp_path, FILES)
    for number, path in enumerate(sorted(yard.folder.rglob("*"))):
        st = path.stat()
        try:
            os.setxattr(path, "user.number", b"%d" % number)
            os.setxattr(path, ACCESS, access_list(st.st_mode))
        except (AttributeError, OSError):
            pytest.skip("needs extended attributes and access lists here")
        os.utime(path, ns=(number, st.st_mtime_ns))
    yard.restage()
    return yard


def attributes(folder: Path) -> Attributes:
    return {
        str(path.relative_to(folder)): {
            name: os.getxattr(path, name) for name in os.listxattr(path)
        }
        for path in folder.rglob("*")
    }


def edits(stage: Stage) -> None:
    stage.write_bytes("one", b"edited")
    stage.append_bytes("two", b"+")
    stage.write_bytes("a/x", b"edited")


def moves(stage: Stage) -> None:
    stage.rename("a", "b")
    stage.rename("one", "sorted/one")
    stage.append_bytes("sorted/one", b"moved and edited")
    stage.rename("two", "over")


def removals(stage: Stage) -> None:
    stage.unlink("one")
    stage.rmtree("a")


def modes(stage: Stage) -> None:
    stage.chmod("one", 0o600)
    stage.chmod("a", 0o700)
    stage.utime("two", 5)


def other_mount(folder: Path) -> FileSystem:
    return CrossDeviceFileSystem(str(folder))


def same_device(_: Path) -> FileSystem:
    return FileSystem()


def no_hard_links(_: Path) -> FileSystem:
    return NoHardLinksFileSystem()


@pytest.mark.parametrize("kind", [same_device, other_mount, no_hard_links])
@pytest.mark.parametrize("program", [edits, moves, removals, modes])
def test_they_are_as_before_after_an_undo_and_again_after_a_redo(
    yard: Yard, program: Callable[[Stage], None], kind: Callable[[Path], FileSystem]
) -> None:
    fs = kind(yard.folder)
    before = picture(yard.folder), attributes(yard.folder)
    program(yard.stage)
    assert yard.commit(fs=fs).conflicts == ()
    done = attributes(yard.folder)
    for _ in range(2):
        assert undo(yard.undo_folder, fs=fs).conflicts == ()
        assert (picture(yard.folder), attributes(yard.folder)) == before
        assert redo(yard.undo_folder, grants=yard.stage.grants, fs=fs).conflicts == ()
        assert attributes(yard.folder) == done


def test_an_edited_file_keeps_them(yard: Yard) -> None:
    before = attributes(yard.folder)
    edits(yard.stage)
    yard.commit()
    assert attributes(yard.folder) == before


def test_a_moved_and_edited_file_keeps_them(yard: Yard) -> None:
    before = attributes(yard.folder)
    moves(yard.stage)
    yard.commit()
    after = attributes(yard.folder)
    assert after["sorted/one"] == before["one"]
    assert after["over"] == before["two"]
    assert after["b/in/y"] == before["a/in/y"]
