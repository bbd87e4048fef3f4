"""Where a staged file's bytes come from, and how parts of them are replaced without copying.

Owns the arithmetic of extents: a file that was written to in part is a list of pieces of what was
there and of what was added, so memory and disk grow with the writes and not with the file. Thread:
that of the stage.
"""

from __future__ import annotations

import hashlib
import io
import os
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

from sandbox.blobs import CHUNK_BYTES, BlobStore, Tail
from sandbox.changeset import Base


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


class Extent(NamedTuple):
    """`size_bytes` of `source` from `at` on; no source: zeros, which take no room."""

    source: DiskContent | Blob | Tail | None
    at: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Patchwork:
    """Extents one after another; `starts`: where each begins. `tail`: takes what is written."""

    extents: tuple[Extent, ...]
    starts: tuple[int, ...]
    size_bytes: int
    tail: Tail


Content = DiskContent | Blob | Patchwork


def patchwork(content: Content, blobs: BlobStore, owner: object) -> Patchwork:
    """`content` as one that can be written to in part, by `owner` alone."""
    if not isinstance(content, Patchwork):
        size = content.size_bytes
        extents = (Extent(content, 0, size),) if size else ()
        return Patchwork(extents, (0,) if size else (), size, blobs.tail(owner))
    if content.tail.owner is owner:
        return content
    return Patchwork(content.extents, content.starts, content.size_bytes, blobs.tail(owner))


def written(content: Patchwork, at: int, data: bytes) -> Patchwork:
    """`content` with `data` at offset `at`; a gap before it is zeros."""
    if not data:
        return content
    if at > content.size_bytes:
        content = resized(content, at)
    tail, end = content.tail, at + len(data)
    new = Extent(tail, tail.size_bytes, len(data))
    tail.append(data)
    extents, starts = _head(content, at)
    if extents and _goes_on(extents[-1], new):
        last = extents[-1]
        extents, new = extents[:-1], Extent(tail, last.at, last.size_bytes + len(data))
        starts = starts[:-1]
    first = at + len(data) - new.size_bytes
    rest, rest_starts = _rest(content, end)
    return Patchwork(
        (*extents, new, *rest),
        (*starts, first, *rest_starts),
        max(content.size_bytes, end),
        tail,
    )


def resized(content: Patchwork, size_bytes: int) -> Patchwork:
    """`content` cut to `size_bytes`, or made that long with zeros."""
    if size_bytes <= content.size_bytes:
        extents, starts = _head(content, size_bytes)
    else:
        gap = Extent(None, 0, size_bytes - content.size_bytes)
        extents, starts = (*content.extents, gap), (*content.starts, content.size_bytes)
    return Patchwork(extents, starts, size_bytes, content.tail)


def plain(content: Content) -> Content:
    """`content` as what it is of, where it is all of that and nothing else."""
    if isinstance(content, Patchwork) and len(content.extents) == 1:
        source, at, size_bytes = content.extents[0]
        if isinstance(source, DiskContent | Blob) and (at, size_bytes) == (0, source.size_bytes):
            return source
    return content


def _goes_on(last: Extent, new: Extent) -> bool:
    return last.source is new.source and last.at + last.size_bytes == new.at


def _head(content: Patchwork, end: int) -> tuple[tuple[Extent, ...], tuple[int, ...]]:
    """The extents before offset `end`, the last one cut there."""
    if end >= content.size_bytes:
        return content.extents, content.starts
    index = bisect_right(content.starts, end) - 1
    inside = end - content.starts[index]
    if not inside:
        return content.extents[:index], content.starts[:index]
    cut = content.extents[index]._replace(size_bytes=inside)
    return (*content.extents[:index], cut), content.starts[: index + 1]


def _rest(content: Patchwork, begin: int) -> tuple[tuple[Extent, ...], tuple[int, ...]]:
    """The extents from offset `begin` on, the first one cut there."""
    if begin >= content.size_bytes:
        return (), ()
    index = bisect_right(content.starts, begin) - 1
    inside = begin - content.starts[index]
    source, at, size_bytes = content.extents[index]
    cut = Extent(source, at + inside, size_bytes - inside)
    return (cut, *content.extents[index + 1 :]), (begin, *content.starts[index + 1 :])


def open_content(content: Content, blobs: BlobStore) -> BinaryIO:
    """A read-only stream over a file's bytes, wherever they are."""
    match content:
        case DiskContent(path=path):
            return open(path, "rb")  # noqa: PTH123 - a path with surrogates, as os gives it
        case Blob(sha256=sha256):
            return blobs.open(sha256)
        case Patchwork(extents=()):
            return io.BytesIO()
        case Patchwork(extents=(Extent(source=Tail() as tail, at=at, size_bytes=size),)) if (
            size < io.DEFAULT_BUFFER_SIZE
        ):
            return io.BytesIO(tail.read(at, at + size))
        case Patchwork():
            return io.BufferedReader(_ExtentReader(content, blobs), CHUNK_BYTES // 4)


def open_tails(extents: Iterable[Extent], blobs: BlobStore) -> BinaryIO:
    """A stream over what is neither the disk's nor zeros, one extent after another."""
    return io.BufferedReader(_ExtentReader(_joined(_added(extents)), blobs), CHUNK_BYTES // 4)


def _added(extents: Iterable[Extent]) -> tuple[Extent, ...]:
    return tuple(one for one in extents if isinstance(one.source, Tail | Blob))


def _joined(extents: Sequence[Extent]) -> Patchwork:
    starts: list[int] = []
    size_bytes = 0
    for one in extents:
        starts.append(size_bytes)
        size_bytes += one.size_bytes
    return Patchwork(tuple(extents), tuple(starts), size_bytes, Tail("", None, lambda _: None))


def digest_of(content: Content, blobs: BlobStore) -> str:
    """The sha256 (hex) of a file's bytes, wherever they are."""
    if isinstance(content, Blob):
        return content.sha256
    hasher = hashlib.sha256()
    with open_content(content, blobs) as stream:
        while chunk := stream.read(CHUNK_BYTES):
            hasher.update(chunk)
    return hasher.hexdigest()


def digest_of_added(extents: Iterable[Extent], blobs: BlobStore) -> str:
    """The sha256 (hex) of what is neither the disk's nor zeros."""
    return digest_of(_joined(_added(extents)), blobs)


class _ExtentReader(io.RawIOBase):
    """Reads extents one after another; seekable, so that archives can be read."""

    def __init__(self, content: Patchwork, blobs: BlobStore) -> None:
        self._content = content
        self._blobs = blobs
        self._open: dict[int, BinaryIO] = {}
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        size = self._content.size_bytes
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: size}[whence]
        self._at = max(0, start + offset)
        return self._at

    def readinto(self, buffer: bytearray | memoryview) -> int:  # pyright: ignore[reportIncompatibleMethodOverride] - the stub's Buffer type has no length
        wanted = min(len(buffer), max(0, self._content.size_bytes - self._at))
        if wanted == 0:
            return 0
        index = bisect_right(self._content.starts, self._at) - 1
        source, at, size_bytes = self._content.extents[index]
        inside = self._at - self._content.starts[index]
        wanted = min(wanted, size_bytes - inside)
        data = self._read(source, at + inside, wanted)
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)

    def _read(self, source: DiskContent | Blob | Tail | None, at: int, wanted: int) -> bytes:
        if source is None:
            return bytes(wanted)
        if isinstance(source, Tail):
            return source.read(at, at + wanted)
        stream = self._open.get(id(source))
        if stream is None:
            stream = self._open[id(source)] = open_content(source, self._blobs)
        stream.seek(at)
        return stream.read(wanted)

    def close(self) -> None:
        for stream in self._open.values():
            stream.close()
        self._open.clear()
        super().close()
