"""Content-addressed storage of what programs write, and growing tails for what they append.

Owns the files below one folder of the app's data. Never touches the person's folders. Thread: one
stage's worker at a time writes a `Tail`; `BlobStore` itself is safe from any thread, since every
blob is written under a name of its own and renamed into place.
"""

# ruff: noqa: PTH103, PTH105, PTH110, PTH120, PTH123
# Plain `os` calls: called for every write; names may hold surrogates, which os takes as they are.

from __future__ import annotations

import errno
import hashlib
import os
import tempfile
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import BinaryIO

CHUNK_BYTES = 1024 * 1024
_TAIL_MEMORY_BYTES = 1024 * 1024


class BlobStore:
    """Blobs by sha256 below `folder`: `folder/ab/abcdef...`, written once, never changed.

    `limit_bytes`: how much may be written by way of this object, None for no bound.
    """

    def __init__(self, folder: Path, *, limit_bytes: int | None = None) -> None:
        self.folder = folder
        self._limit_bytes = limit_bytes
        self._taken_bytes = 0
        self._scratch = folder / "scratch"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._scratch.mkdir(exist_ok=True)

    def take(self, size_bytes: int) -> None:
        """Count bytes that are about to be staged. OSError EDQUOT when they are too many."""
        if self._limit_bytes is not None and self._taken_bytes + size_bytes > self._limit_bytes:
            mebibytes = self._limit_bytes // (1024 * 1024)
            text = (
                f"more than {mebibytes:,} MiB of new content in one turn; write less at once, or "
                "raise the bound of staged content in the settings"
            )
            raise OSError(errno.EDQUOT, text)
        self._taken_bytes += size_bytes

    def put(self, data: bytes) -> tuple[str, int]:
        """Store `data`; returns its sha256 (hex) and size.

        OSError when the disk is full, or more was staged than may be.
        """
        digest = hashlib.sha256(data).hexdigest()
        if not os.path.exists(self._place(digest)):
            self.take(len(data))
            self._write(digest, lambda out: out.write(data))
        return digest, len(data)

    def put_stream(self, stream: BinaryIO, *, is_staged: bool = False) -> tuple[str, int]:
        """Store all of `stream` without holding it in memory; returns sha256 (hex) and size.

        `is_staged`: it was counted when it was appended.
        """
        hasher = hashlib.sha256()
        size_bytes = 0
        handle, name = tempfile.mkstemp(dir=self._scratch)
        try:
            with os.fdopen(handle, "wb") as out:
                while chunk := stream.read(CHUNK_BYTES):
                    hasher.update(chunk)
                    size_bytes += len(chunk)
                    self.take(0 if is_staged else len(chunk))
                    out.write(chunk)
            self._settle(name, hasher.hexdigest())
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        return hasher.hexdigest(), size_bytes

    def open(self, sha256: str) -> BinaryIO:
        """A read-only stream over a blob; FileNotFoundError when it is not here."""
        return open(self._place(sha256), "rb")

    def path_of(self, sha256: str) -> Path:
        """Where a blob is kept."""
        return Path(self._place(sha256))

    def seal(self, digests: Iterable[str]) -> None:
        """Make these blobs durable, names included: a power cut no longer loses them.

        OSError when the disk does not take them. Writing does not wait for this, since most of
        what programs write is written again or dropped before anybody relies on it.
        """
        folders = {str(self.folder.parent), str(self.folder)}
        for digest in sorted(set(digests)):
            place = self._place(digest)
            _sync(place)
            folders.add(os.path.dirname(place))
        for folder in sorted(folders, reverse=True):
            _sync_folder(folder)

    def delete(self, sha256: str) -> None:
        """Forget a blob; one that is not here is fine."""
        self.path_of(sha256).unlink(missing_ok=True)

    def collect(self, keep: Iterable[str]) -> int:
        """Delete every blob not in `keep`; returns the bytes that became free."""
        kept = set(keep)
        freed_bytes = 0
        for path in self.folder.glob("??/*"):
            if path.name not in kept:
                freed_bytes += path.stat().st_size
                path.unlink(missing_ok=True)
        return freed_bytes

    def tail(self, owner: object) -> Tail:
        """A new, empty tail for `owner` to append to; overflow is kept in the scratch folder."""
        return Tail(str(self._scratch), owner, self.take)

    def _place(self, sha256: str) -> str:
        return f"{self.folder}/{sha256[:2]}/{sha256}"

    def _write(self, digest: str, fill: Callable[[BinaryIO], object]) -> None:
        handle, name = tempfile.mkstemp(dir=self._scratch)
        try:
            with os.fdopen(handle, "wb") as out:
                fill(out)
            self._settle(name, digest)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    def _settle(self, name: str, digest: str) -> None:
        place = self._place(digest)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        os.replace(name, place)


def _sync(path: str) -> None:
    handle = os.open(path, os.O_RDONLY if os.name != "nt" else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sync_folder(path: str) -> None:
    """Windows has no such thing: names are durable with their files."""
    if os.name != "nt":
        _sync(path)


class Tail:
    """Bytes appended to a file since its content was last whole; only ever grows.

    Small tails live in memory, large ones in a scratch file that goes away with the object. A
    reader names how many bytes it may see, so an older layer keeps its shorter view. `owner`: the
    epoch that may append; every other one starts a tail of its own.
    """

    __slots__ = ("_file", "_lock", "_memory", "_scratch", "_take", "owner", "size_bytes")

    def __init__(self, scratch: str, owner: object, take: Callable[[int], None]) -> None:
        self.owner = owner
        self._take = take
        self._scratch = scratch
        self._memory = bytearray()
        self._file: BinaryIO | None = None
        self._lock = threading.Lock()  # forks of a stage read what they share
        self.size_bytes = 0

    def append(self, data: bytes) -> None:
        """Add `data` at the end; OSError when the scratch disk is full, or too much is staged."""
        self._take(len(data))
        with self._lock:
            self._memory += data
            self.size_bytes += len(data)
            if len(self._memory) > _TAIL_MEMORY_BYTES:
                if self._file is None:
                    self._file = tempfile.TemporaryFile(dir=self._scratch)  # noqa: SIM115 - lives on
                self._file.seek(0, os.SEEK_END)
                self._file.write(self._memory)
                self._memory.clear()

    def read(self, start: int, end: int) -> bytes:
        """The bytes from `start` up to, not including, `end`."""
        with self._lock:
            in_file = self.size_bytes - len(self._memory)
            data = b""
            if self._file is not None and start < in_file:
                self._file.seek(start)
                data = self._file.read(min(end, in_file) - start)
            if end > in_file:
                data += bytes(self._memory[max(0, start - in_file) : end - in_file])
            return data
