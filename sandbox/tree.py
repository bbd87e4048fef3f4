"""The nodes of the stage's virtual tree.

Owns the data only; `stage.py` decides what changes. Nodes belong to an epoch (a program's layer):
a node of an older epoch is copied before it is changed, so an older root stays what it was and
dropping a layer is one assignment. Thread: that of the stage.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field

from sandbox.changeset import Base, Evidence
from sandbox.contents import Content
from sandbox.disk_names import is_placeholder


@dataclass(slots=True)
class FileNode:
    """A file that the stage knows about.

    `origin`: the file on the disk that this one is (moved or not), None when it is new; `base`: how
    that file was when first touched; `permissions`, `mtime_ns`: as staged.
    """

    epoch: object
    content: Content
    permissions: int
    mtime_ns: int
    origin: str | None = None
    base: Base | None = None
    evidence: tuple[Evidence, ...] = ()


@dataclass(slots=True)
class LinkNode:
    """A symbolic link; `text` is where it points. `origin`, `base`: as of a file, None when new."""

    epoch: object
    text: str
    origin: str | None = None
    base: Base | None = None
    evidence: tuple[Evidence, ...] = ()


@dataclass(slots=True)
class FolderNode:
    """A folder: `children` over the entries of `origin` on the disk, or over nothing.

    A `Whiteout` hides the disk's entry of that name; a name that is absent falls through.
    `times_set`: the program asked for this `mtime_ns`, it is not just a consequence.
    """

    epoch: object
    permissions: int
    mtime_ns: int
    times_set: bool = False
    children: dict[str, Node | Whiteout] = field(default_factory=dict[str, "Node | Whiteout"])
    origin: str | None = None
    base: Base | None = None
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Whiteout:
    """The disk's entry of this name is not here any more."""

    evidence: tuple[Evidence, ...] = ()


Node = FileNode | LinkNode | FolderNode


@dataclass(frozen=True, slots=True)
class DiskEntry:
    """An entry that only the disk knows so far: not yet touched by the stage."""

    path: str
    st: os.stat_result


Entry = Node | DiskEntry


def base_of(st: os.stat_result, *, sha256: str | None = None) -> Base:
    """What commit has to find again, from an `lstat`. Special files count as files here."""
    if stat.S_ISDIR(st.st_mode):
        return Base(
            kind="folder",
            size_bytes=0,
            mtime_ns=st.st_mtime_ns,
            mode=st.st_mode,
            inode=st.st_ino,
            device=st.st_dev,
        )
    return Base(
        kind="symlink" if stat.S_ISLNK(st.st_mode) else "file",
        size_bytes=st.st_size,
        mtime_ns=st.st_mtime_ns,
        mode=st.st_mode,
        inode=st.st_ino,
        device=st.st_dev,
        sha256=sha256,
        links=st.st_nlink,
        placeholder=is_placeholder(st),
    )
