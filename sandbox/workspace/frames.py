"""The language between Drydock and the agent inside a workspace: frames, bounded and checked.

Owns the form only. A frame is ``u32 size | u8 kind | u32 id | body``, little endian, where `size`
counts what follows it. What comes from the inside is the word of a stranger: a frame that is too
large, too short or of an unknown kind ends the connection. Pure data; any thread.

| from us | body | answered by |
| --- | --- | --- |
| R run | strings: cwd, limits, argc, argv..., NAME=VALUE... | o, e (output), X exit |
| K kill | u8: 0 this job, 1 everything that runs | D |
| S scan | u64 token, strings: roots | O records, D u64 token |
| G get | u64 offset, u64 most, string path | O bytes, D |
| L list, T stat | string path | O records, D |
| B batch | operations, see `Batch` | D, or E |
| P ping | nothing | D |

Errors are E: i32 errno (Linux numbers), string. H is the greeting: string. n, b, c open, carry
and close a connection of the inside to our proxy; b and c go both ways.
"""

from __future__ import annotations

import errno
import os
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MOST_BYTES = 1024 * 1024
"""The largest frame, either way."""

FROM_INSIDE = frozenset(b"HoeXODEnbc")
_HEAD = struct.Struct("<IBI")
_SIZE = struct.Struct("<I")
_RECORD = struct.Struct("<IQqqQH")
_PATH = struct.Struct("<H")

# Source: include/uapi/asm-generic/errno-base.h and errno.h of Linux; other systems number otherwise
_LINUX_ERRNO = {
    1: "EPERM",
    2: "ENOENT",
    4: "EINTR",
    5: "EIO",
    9: "EBADF",
    11: "EAGAIN",
    12: "ENOMEM",
    13: "EACCES",
    16: "EBUSY",
    17: "EEXIST",
    18: "EXDEV",
    20: "ENOTDIR",
    21: "EISDIR",
    22: "EINVAL",
    24: "EMFILE",
    26: "ETXTBSY",
    27: "EFBIG",
    28: "ENOSPC",
    29: "ESPIPE",
    30: "EROFS",
    31: "EMLINK",
    36: "ENAMETOOLONG",
    39: "ENOTEMPTY",
    40: "ELOOP",
    122: "EDQUOT",
}


class FrameError(Exception):
    """The other side broke the form; nothing it says can be trusted any more."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame. `kind`: its letter; `id`: the request, job or connection it belongs to."""

    kind: str
    id: int
    body: bytes


@dataclass(frozen=True, slots=True)
class Record:
    """One entry inside, as `lstat` tells it, and for a link where it points.

    `path`: relative to what was asked for, '' for itself; surrogates stand for undecodable bytes.
    """

    path: str
    mode: int
    size_bytes: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    link: str | None = None


def frame(kind: str, number: int, body: bytes = b"") -> bytes:
    """The bytes of one frame. ValueError when it would be too large."""
    if len(body) + 5 > MOST_BYTES:
        raise ValueError(f"a frame of {len(body)} bytes is too large")
    return _HEAD.pack(len(body) + 5, ord(kind), number) + body


def pack_strings(texts: Sequence[str | bytes]) -> bytes:
    """Strings, each after its length."""
    parts: list[bytes] = []
    for text in texts:
        data = text if isinstance(text, bytes) else os.fsencode(text)
        parts += (_SIZE.pack(len(data)), data)
    return b"".join(parts)


def unpack_string(body: bytes) -> str:
    """The one string of a body; FrameError when it is not one."""
    if len(body) < 4 or _SIZE.unpack_from(body)[0] != len(body) - 4:
        raise FrameError("a string that is not whole")
    return os.fsdecode(body[4:])


class Splitter:
    """Cuts a stream of bytes into frames; holds at most one frame that is not whole yet."""

    def __init__(self, kinds: frozenset[int] = FROM_INSIDE) -> None:
        self._kinds = kinds
        self._held = bytearray()

    def feed(self, data: bytes) -> Iterator[Frame]:
        """The frames that are whole now. FrameError ends everything."""
        self._held += data
        at = 0
        try:
            while len(self._held) - at >= 4:
                (size,) = _SIZE.unpack_from(self._held, at)
                if not 5 <= size <= MOST_BYTES:
                    raise FrameError(f"a frame of {size} bytes")
                if len(self._held) - at < 9:
                    break
                kind = self._held[at + 4]
                if kind not in self._kinds:
                    raise FrameError(f"a frame of the unknown kind {kind}")
                if len(self._held) - at - 4 < size:
                    break
                number = _SIZE.unpack_from(self._held, at + 5)[0]
                body = bytes(self._held[at + 9 : at + 4 + size])
                at += 4 + size
                yield Frame(chr(kind), number, body)
        finally:
            del self._held[:at]


def records(body: bytes) -> Iterator[Record]:
    """The records of an O frame. FrameError when they do not fill it exactly."""
    at, end = 0, len(body)
    fixed = _RECORD.size
    while at < end:
        if end - at < fixed:
            raise FrameError("a record that is not whole")
        mode, size, mtime_ns, ctime_ns, inode, length = _RECORD.unpack_from(body, at)
        at += fixed
        if end - at < length:
            raise FrameError("a path that is not whole")
        path = body[at : at + length]
        at += length
        link: str | None = None
        if mode & 0o170000 == 0o120000:
            if end - at < 2:
                raise FrameError("a link that is not whole")
            (length,) = _PATH.unpack_from(body, at)
            at += 2
            if end - at < length:
                raise FrameError("a link that is not whole")
            link = os.fsdecode(body[at : at + length])
            at += length
        yield Record(os.fsdecode(path), mode, size, mtime_ns, ctime_ns, inode, link)


def failure(body: bytes) -> OSError:
    """The error of an E frame, with this system's number."""
    if len(body) < 8:
        raise FrameError("an error that is not whole")
    (number,) = struct.unpack_from("<i", body)
    name = _LINUX_ERRNO.get(number, "EIO")
    code = getattr(errno, name, errno.EIO)
    return OSError(code, os.strerror(code), unpack_string(body[4:]))


class Batch:
    """Changes to the files inside, packed into frames; done in order, the first error ends one.

    `bodies` gives what was packed, each part small enough for a frame.
    """

    _FULL_BYTES = MOST_BYTES - 64 * 1024
    PIECE_BYTES = 512 * 1024

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0
        self._done: list[bytes] = []

    def make_folder(self, path: str, mode: int) -> None:
        """A folder, with missing parents; fine when it is there."""
        self._add(b"d", path, struct.pack("<I", mode))

    def write(self, path: str, offset: int, data: bytes) -> None:
        """Bytes of a file; offset 0 starts it anew. Missing parents are made."""
        self._add(b"w", path, struct.pack("<QI", offset, len(data)) + data)

    def link(self, path: str, text: str) -> None:
        """A symbolic link in place of what is there."""
        data = os.fsencode(text)
        self._add(b"l", path, struct.pack("<I", len(data)) + data)

    def mode(self, path: str, mode: int) -> None:
        """Permission bits."""
        self._add(b"m", path, struct.pack("<I", mode))

    def time(self, path: str, mtime_ns: int) -> None:
        """The time of the last change; of a link itself."""
        self._add(b"t", path, struct.pack("<q", mtime_ns))

    def remove(self, path: str) -> None:
        """What is there and all below it; fine when nothing is."""
        self._add(b"x", path, b"")

    def move(self, path: str, target: str) -> None:
        """Another name; missing parents of it are made."""
        data = os.fsencode(target)
        self._add(b"r", path, struct.pack("<I", len(data)) + data)

    @property
    def full_bodies(self) -> int:
        """How many frames are full: time to send them."""
        return len(self._done)

    def bodies(self) -> Iterator[bytes]:
        """What was packed since the last time, in order."""
        if self._parts:
            self._done.append(b"".join(self._parts))
            self._parts, self._size = [], 0
        done, self._done = self._done, []
        yield from done

    def _add(self, op: bytes, path: str, rest: bytes) -> None:
        name = os.fsencode(path)
        part = op + struct.pack("<I", len(name)) + name + rest
        if self._size + len(part) > self._FULL_BYTES and self._parts:
            self._done.append(b"".join(self._parts))
            self._parts, self._size = [], 0
        self._parts.append(part)
        self._size += len(part)
