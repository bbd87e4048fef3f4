"""Making ready what a commit will put in place: new content, and copies that lose nothing.

Owns how bytes, holes, modes, times, owners and extended attributes get from one place to another.
Everything is durable before it returns. Thread: one worker thread; blocks on the disk.
"""

# ruff: noqa: PTH115, PTH123, PTH211
# Plain `os` calls: disk paths are strings with surrogates, as os gives them.

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
from collections.abc import Iterator
from typing import BinaryIO

from sandbox.blobs import CHUNK_BYTES, BlobStore
from sandbox.changeset import Change, Piece
from sandbox.commit_plan import Preparation
from sandbox.disk_names import is_placeholder
from sandbox.transaction import FileSystem


def write_content(item: Preparation, blobs: BlobStore, fs: FileSystem) -> None:
    """New content with its mode, time and (of a file that was there) extended attributes."""
    change = item.change
    if change.link is not None:
        os.symlink(change.link, item.path)
        return
    handle = os.open(item.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        _fill(handle, change, blobs, fs)
        if change.size_after not in (None, os.fstat(handle).st_size):
            raise OSError(errno.EIO, "The staged content is damaged", change.final_path)
        fs.fsync(handle)
    finally:
        os.close(handle)
    mode = change.mode
    if change.base is not None:
        _copy_attributes(change.path, item.path, change.base.mode)
        mode = stat.S_IMODE(change.base.mode) if mode is None else mode
    fs.chmod(item.path, mode if mode is not None else 0o644)
    if change.mtime_ns is not None:
        fs.utime(item.path, change.mtime_ns)


def _fill(handle: int, change: Change, blobs: BlobStore, fs: FileSystem) -> None:
    """Write all of a change's new content, piece after piece."""
    with contextlib.ExitStack() as stack:
        streams: dict[str, BinaryIO] = {}
        if change.source is not None:
            streams["source"] = stack.enter_context(open(change.source, "rb"))
        if change.blob is not None:
            streams["blob"] = stack.enter_context(blobs.open(change.blob))
        for piece in change.pieces or _pieces_of(change, streams):
            stream = streams.get(piece.of)
            if stream is not None:
                _copy_range(stream, handle, piece.at, piece.size_bytes, fs)
            else:
                end = os.lseek(handle, piece.size_bytes, os.SEEK_CUR)
                os.ftruncate(handle, end)


def _pieces_of(change: Change, streams: dict[str, BinaryIO]) -> Iterator[Piece]:
    """The pieces of content that goes on from a file's beginning."""
    if "source" in streams:
        yield Piece(of="source", at=0, size_bytes=change.prefix_bytes)
    if "blob" in streams:
        size_bytes = os.fstat(streams["blob"].fileno()).st_size
        yield Piece(of="blob", at=0, size_bytes=size_bytes)


def _copy_range(source: BinaryIO, handle: int, first: int, size_bytes: int, fs: FileSystem) -> None:
    """Append `size_bytes` of `source` from `first` on; holes stay, blocks are shared if they can.

    OSError when the source is shorter.
    """
    start = os.lseek(handle, 0, os.SEEK_CUR)
    last = first + size_bytes
    if os.fstat(source.fileno()).st_size < last:
        raise OSError(errno.EIO, "The file became shorter while it was read", source.name)
    at = first
    while at < last:
        at, end = _next_data(source.fileno(), at, last)
        if at < end:
            os.lseek(handle, start + at - first, os.SEEK_SET)
            _copy_data(source, handle, at, end, fs)
        at = end
    if size_bytes and os.fstat(handle).st_size < start + size_bytes:
        os.ftruncate(handle, start + size_bytes)
    os.lseek(handle, start + size_bytes, os.SEEK_SET)


def _next_data(source: int, at: int, size_bytes: int) -> tuple[int, int]:
    """Where the next data from `at` on begins and ends; all of it where holes are not told."""
    if not hasattr(os, "SEEK_DATA"):
        return at, size_bytes
    try:
        begin = os.lseek(source, at, os.SEEK_DATA)
        end = os.lseek(source, begin, os.SEEK_HOLE)
    except OSError as error:
        return (size_bytes if error.errno == errno.ENXIO else at), size_bytes
    return min(begin, size_bytes), min(end, size_bytes)


def _copy_data(source: BinaryIO, handle: int, at: int, end: int, fs: FileSystem) -> None:
    """Copy bytes `at` to `end`; by the file system itself where it can."""
    if hasattr(os, "copy_file_range"):
        with contextlib.suppress(OSError):
            while at < end:
                count = os.copy_file_range(source.fileno(), handle, end - at, offset_src=at)
                if count == 0:
                    break
                at += count
    source.seek(at)
    while at < end:
        chunk = source.read(min(CHUNK_BYTES, end - at))
        if not chunk:
            raise OSError(errno.EIO, "The file became shorter while it was read", source.name)
        view = memoryview(chunk)
        while view:
            view = view[fs.write(handle, bytes(view)) :]
        at += len(chunk)


def copy_entry(origin: str, target: str, skip: frozenset[str], fs: FileSystem) -> None:
    """Copy a file, a link or a folder with modes, times and attributes; `skip`: paths to leave."""
    st = os.lstat(origin)
    if stat.S_ISLNK(st.st_mode):
        os.symlink(os.readlink(origin), target)
        fs.utime(target, st.st_mtime_ns)
        return
    if stat.S_ISDIR(st.st_mode):
        fs.mkdir(target)
        with os.scandir(origin) as listing:
            names = sorted(item.name for item in listing)
        for name in names:
            if f"{origin}/{name}" not in skip:
                copy_entry(f"{origin}/{name}", f"{target}/{name}", skip, fs)
    elif is_placeholder(st):
        text = "Its content is in the cloud only, and a copy would fetch it"
        raise OSError(errno.EACCES, text, origin)
    elif stat.S_ISREG(st.st_mode):
        handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with open(origin, "rb") as source:
                _copy_range(source, handle, 0, st.st_size, fs)
            fs.fsync(handle)
        finally:
            os.close(handle)
    else:
        raise OSError(errno.EINVAL, "A socket, device or pipe cannot be copied", origin)
    _copy_attributes(origin, target, st.st_mode)
    fs.chmod(target, stat.S_IMODE(st.st_mode))
    fs.utime(target, st.st_mtime_ns)


def _copy_attributes(origin: str, target: str, mode: int) -> None:
    """Owner and extended attributes, as far as this user may set them."""
    if not stat.S_ISLNK(mode):
        with contextlib.suppress(OSError):
            shutil.copystat(origin, target)
    st = os.lstat(origin)
    if hasattr(os, "chown") and (st.st_uid, st.st_gid) != (os.getuid(), os.getgid()):
        with contextlib.suppress(OSError):
            os.chown(target, st.st_uid, st.st_gid)
