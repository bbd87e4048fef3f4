"""The files inside a workspace, for the agent there: records, walking, operations.

Owns what `frames.py` calls records and batches, at the far end. Like `agent.py`, nothing but the
standard library. Thread: the agent's only one.
"""

# ruff: noqa: PTH101, PTH103, PTH104, PTH108, PTH112, PTH114, PTH115, PTH120, PTH211
# Paths are bytes.

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import struct

RECORDS_BYTES = 256 * 1024
RECORD = struct.Struct("<IQqqQH")


def pack(texts: list[str]) -> bytes:
    parts = [os.fsencode(text) for text in texts]
    return b"".join(struct.pack("<I", len(part)) + part for part in parts)


def strings(body: bytes) -> list[bytes]:
    found: list[bytes] = []
    at = 0
    while at < len(body):
        (length,) = struct.unpack_from("<I", body, at)
        at += 4
        if length > len(body) - at:
            raise ValueError("a string that is not whole")
        found.append(body[at : at + length])
        at += length
    return found


def record(name: bytes, st: os.stat_result, path: bytes) -> bytes:
    size = st.st_size if stat.S_ISREG(st.st_mode) else 0
    fixed = RECORD.pack(st.st_mode, size, st.st_mtime_ns, st.st_ctime_ns, st.st_ino, len(name))
    if not stat.S_ISLNK(st.st_mode):
        return fixed + name
    text = os.readlink(path)
    return fixed + name + struct.pack("<H", len(text)) + text


def joined(found: list[bytes]) -> list[bytes]:
    """Records in bodies that are small enough."""
    bodies: list[bytes] = []
    part: list[bytes] = []
    size = 0
    for item in found:
        part.append(item)
        size += len(item)
        if size > RECORDS_BYTES:
            bodies.append(b"".join(part))
            part, size = [], 0
    if part:
        bodies.append(b"".join(part))
    return bodies


def hash_of(item: bytes) -> int:
    return hash(item) & 0xFFFFFFFFFFFFFFFF


def walk(folder: bytes, prefix: bytes, found: list[bytes]) -> None:
    """A folder's record and all below it, parents first."""
    pending: list[tuple[bytes, bytes]] = [(folder, prefix)]
    found.append(record(prefix, os.lstat(folder), folder))
    while pending:
        path, name = pending.pop()
        try:
            listing = list(os.scandir(path))
        except FileNotFoundError:
            continue  # it went away; what cannot be looked into is not empty: that is an error
        for item in listing:
            try:
                st = item.stat(follow_symlinks=False)
            except OSError:
                continue
            below = name + b"/" + item.name
            found.append(record(below, st, item.path))
            if stat.S_ISDIR(st.st_mode):
                pending.append((item.path, below))


def apply(body: bytes) -> None:
    """The operations of a batch, in order."""
    at = 0
    while at < len(body):
        op = body[at : at + 1]
        (length,) = struct.unpack_from("<I", body, at + 1)
        at += 5
        path = body[at : at + length]
        at += length
        if op == b"w":
            offset, size = struct.unpack_from("<QI", body, at)
            at += 12
            write(path, offset, body[at : at + size])
            at += size
        elif op in b"dm":
            (mode,) = struct.unpack_from("<I", body, at)
            at += 4
            if op == b"d":
                os.makedirs(path, mode, exist_ok=True)
            else:
                os.chmod(path, mode)
        elif op == b"t":
            (mtime_ns,) = struct.unpack_from("<q", body, at)
            at += 8
            os.utime(path, ns=(mtime_ns, mtime_ns), follow_symlinks=False)
        elif op == b"x":
            remove(path)
        elif op in b"lr":
            (size,) = struct.unpack_from("<I", body, at)
            at += 4
            text = body[at : at + size]
            at += size
            if op == b"l":
                remove(path)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                os.symlink(text, path)
            else:
                os.makedirs(os.path.dirname(text), exist_ok=True)
                os.rename(path, text)
        else:
            raise ValueError("unknown operation")


def write(path: bytes, offset: int, data: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC
    if offset == 0:
        flags |= os.O_TRUNC
    try:
        end = os.open(path, flags, 0o644)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        end = os.open(path, flags, 0o644)
    try:
        os.lseek(end, offset, os.SEEK_SET)
        view = memoryview(data)
        while view:
            view = view[os.write(end, view) :]
    finally:
        os.close(end)


def remove(path: bytes) -> None:
    with contextlib.suppress(FileNotFoundError):
        if os.path.isdir(path) and not os.path.islink(path):
            loosen(path)
            shutil.rmtree(path)
        else:
            os.unlink(path)


def loosen(path: bytes) -> None:
    """Read-only folders keep what is in them from being deleted."""
    for parent, _, _ in os.walk(path):
        os.chmod(parent, 0o700)
