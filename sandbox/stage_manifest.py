"""All that a stage holds, entry by entry, with what tells one content from another.

Owns the walk for those who keep a copy elsewhere (a workspace). One listing and one `lstat` an
entry; contents are not read, but for those that only memory knows. Thread: that of the stage.
"""

# ruff: noqa: PTH115 - names may hold surrogates, as os gives them

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from typing import BinaryIO, NamedTuple

from sandbox.blobs import BlobStore
from sandbox.contents import Blob, Content, DiskContent, Patchwork, digest_of_added, open_content
from sandbox.disk_names import is_placeholder
from sandbox.stage import Stage
from sandbox.stage_tree import StageTree, mode_of
from sandbox.tree import (
    DiskEntry,
    Entry,
    FileNode,
    FolderNode,
    LinkNode,
)

Key = tuple[object, ...]
"""What a file's content is known by: equal keys, equal content."""


class ManifestEntry(NamedTuple):
    """One entry. `path`: relative to its root, '' for itself; `link`: a link's text.

    `open`: a stream over a file's content; `key` is () for what has no content. Sockets, devices,
    pipes and files that are only in the cloud are left out.
    """

    path: str
    mode: int
    size_bytes: int
    mtime_ns: int
    key: Key = ()
    link: str | None = None
    open: Callable[[], BinaryIO] | None = None


def roots_of(stage: Stage) -> tuple[str, ...]:
    """The outermost granted folders, as absolute POSIX paths."""
    return tuple(_tree(stage).roots)


def manifest(stage: Stage, root: str) -> Iterator[ManifestEntry]:
    """`root`, one of `roots_of`, and all below it, parents first."""
    tree = _tree(stage)
    blobs = stage._blobs  # pyright: ignore[reportPrivateUsage]  # the stage's own walk
    node = tree.roots[root]
    yield ManifestEntry("", mode_of(node), 0, node.mtime_ns)
    pending: list[tuple[str, Entry | str]] = [("", node)]
    while pending:
        prefix, folder = pending.pop()
        for name, child in tree.children(folder):
            path = prefix + name
            entry = _of_disk(path, child) if isinstance(child, os.DirEntry) else None
            if entry is None and isinstance(child, os.DirEntry):
                continue
            if not isinstance(child, os.DirEntry):
                entry = _of_node(path, child, blobs)
            if entry is None:
                continue
            yield entry
            if stat.S_ISDIR(entry.mode):
                below = child.path if isinstance(child, os.DirEntry) else child
                pending.append((f"{path}/", below))


def _tree(stage: Stage) -> StageTree:
    return stage._tree  # pyright: ignore[reportPrivateUsage]  # the stage's own walk


def _of_disk(path: str, item: os.DirEntry[str]) -> ManifestEntry | None:
    """An entry that only the disk knows; None when it is left out or just went away."""
    try:
        return _of_stat(path, item.path, item.stat(follow_symlinks=False))
    except FileNotFoundError:
        return None


def _of_stat(path: str, disk: str, st: os.stat_result) -> ManifestEntry | None:
    mode = st.st_mode
    if stat.S_ISREG(mode):
        if is_placeholder(st):
            return None
        key = (st.st_dev, st.st_ino, st.st_size, st.st_mtime_ns)
        return ManifestEntry(
            path,
            mode,
            st.st_size,
            st.st_mtime_ns,
            key,
            None,
            lambda: open(disk, "rb"),  # noqa: PTH123
        )
    if stat.S_ISDIR(mode):
        return ManifestEntry(path, mode, 0, st.st_mtime_ns)
    if stat.S_ISLNK(mode):
        return ManifestEntry(path, mode, 0, st.st_mtime_ns, link=os.readlink(disk))
    return None


def _of_node(path: str, node: Entry, blobs: BlobStore) -> ManifestEntry | None:
    match node:
        case DiskEntry(path=disk, st=st):
            return _of_stat(path, disk, st)
        case FolderNode():
            return ManifestEntry(path, mode_of(node), 0, node.mtime_ns)
        case LinkNode():
            mtime_ns = 0 if node.base is None else node.base.mtime_ns
            return ManifestEntry(path, mode_of(node), 0, mtime_ns, link=node.text)
        case FileNode(content=content):
            size, mode = content.size_bytes, mode_of(node)
            key = _key(content, blobs)
            return ManifestEntry(
                path, mode, size, node.mtime_ns, key, None, lambda: open_content(content, blobs)
            )


def _key(content: Content, blobs: BlobStore) -> Key:
    match content:
        case DiskContent(base=base):
            return (base.device, base.inode, base.size_bytes, base.mtime_ns)
        case Blob(sha256=sha256):
            return (sha256,)
        case Patchwork(extents=extents):  # read is only what was added, never what it lies over
            layout = tuple(
                (_key(one.source, blobs) if isinstance(one.source, DiskContent) else (), *one[1:])
                if one.source is None or isinstance(one.source, DiskContent)
                else one.size_bytes
                for one in extents
            )
            return ("parts", layout, digest_of_added(extents, blobs))
