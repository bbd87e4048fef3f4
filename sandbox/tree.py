"""The nodes of the stage's virtual tree, and where a staged file's bytes come from.

Owns the data only; `stage.py` decides what changes. Nodes belong to an epoch (a program's layer):
a node of an older epoch is copied before it is changed, so an older root stays what it was and
dropping a layer is one assignment. Thread: that of the stage.
"""

from __future__ import annotations

import hashlib
import io
import os
import stat
from dataclasses import dataclass, field
from typing import BinaryIO

from sandbox.blobs import CHUNK_BYTES, BlobStore, Tail
from sandbox.changeset import Base, Evidence
from sandbox.disk_names import is_placeholder


@dataclass(frozen=True, slots=True)
class DiskContent:
    """Bytes that are still in a file on the disk, at `path` as it was when the stage looked."""

    path: str
    base: Base

    @property
    def size_bytes(self) -> int:
        return self.base.size_bytes


@dataclass(frozen=True, slots=True)
class Blob:
    """Bytes in the blob store."""

    sha256: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Chain:
    """`base` followed by the first `tail_bytes` of `tail`: appending copies nothing."""

    base: DiskContent | Blob | None
    tail: Tail
    tail_bytes: int

    @property
    def size_bytes(self) -> int:
        return (self.base.size_bytes if self.base else 0) + self.tail_bytes


Content = DiskContent | Blob | Chain


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


def open_content(content: Content, blobs: BlobStore) -> BinaryIO:
    """A read-only stream over a file's bytes, wherever they are."""
    match content:
        case DiskContent(path=path):
            return open(path, "rb")  # noqa: PTH123 - a path with surrogates, as os gives it
        case Blob(sha256=sha256):
            return blobs.open(sha256)
        case Chain(base=base, tail=tail, tail_bytes=tail_bytes):
            if base is None and tail_bytes < io.DEFAULT_BUFFER_SIZE:
                return io.BytesIO(tail.read(0, tail_bytes))
            first = open_content(base, blobs) if base else io.BytesIO()
            limit = base.size_bytes if base else 0
            return io.BufferedReader(_ChainReader(first, limit, tail, tail_bytes))


def digest_of(content: Content, blobs: BlobStore) -> str:
    """The sha256 (hex) of a file's bytes, wherever they are."""
    if isinstance(content, Blob):
        return content.sha256
    hasher = hashlib.sha256()
    with open_content(content, blobs) as stream:
        while chunk := stream.read(CHUNK_BYTES):
            hasher.update(chunk)
    return hasher.hexdigest()


class _ChainReader(io.RawIOBase):
    """Reads `limit` bytes of `first`, then a tail; seekable, so that archives can be read."""

    def __init__(self, first: BinaryIO, limit: int, tail: Tail, tail_bytes: int) -> None:
        self._first = first
        self._limit = limit
        self._tail = tail
        self._size = limit + tail_bytes
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        self._at = max(0, start + offset)
        return self._at

    def readinto(self, buffer: bytearray | memoryview) -> int:  # pyright: ignore[reportIncompatibleMethodOverride] - the stub's Buffer type has no length
        wanted = min(len(buffer), max(0, self._size - self._at))
        if wanted == 0:
            return 0
        if self._at < self._limit:
            self._first.seek(self._at)
            data = self._first.read(min(wanted, self._limit - self._at))
        else:
            start = self._at - self._limit
            data = self._tail.read(start, start + wanted)
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)

    def close(self) -> None:
        self._first.close()
        super().close()
