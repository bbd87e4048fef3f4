"""The tape of a turn on the disk: one file, only ever appended to, every mark with its checksum.

Owns the file's form: a head that names the version, then marks, each with its length and a checksum
that runs on from the one before, so that what is cut out, put in or altered shows. What the marks
mean is `sandbox/tape.py`'s and `app/engine/turn_tape.py`'s. Thread: any, one append at a time.
"""

from __future__ import annotations

import contextlib
import json
import os
import struct
import threading
import weakref
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from app.errors import AppError

VERSION = 1
_MAGIC = b"drydock tape\n"
_FRAME = struct.Struct("<II")
_MOST_BYTES = 256 * 1024 * 1024


class TapeUnusableError(AppError):
    """The tape cannot be played: it is damaged, or of another version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What a tape was made by. `interpreter`: its version."""

    turn_id: str
    interpreter: str
    version: int = VERSION


class TapeFile:
    """One turn's tape, open for appending."""

    def __init__(
        self, path: Path, file: BinaryIO, checksum: int, scrub: Callable[[bytes], bytes] = bytes
    ) -> None:
        self.path = path
        self._scrub = scrub
        self._file = file
        self._checksum = checksum
        self._lock = threading.Lock()
        _open[path] = self

    @classmethod
    def new(
        cls, path: Path, head: Head, first: bytes, scrub: Callable[[bytes], bytes] = bytes
    ) -> TapeFile:
        """A tape with one mark, in place of one that may be there; it is there whole or not.

        `scrub`: takes out of a mark, without changing its length, what must not be on the disk.
        """
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        text = {"turn": head.turn_id, "interpreter": head.interpreter, "version": head.version}
        data, checksum = bytearray(_MAGIC), 0
        for mark in (json.dumps(text).encode("ascii"), scrub(first)):
            checksum = zlib.crc32(mark, checksum)
            data += _FRAME.pack(len(mark), checksum) + mark
        fresh = path.with_name(f"{path.name}.new")
        with fresh.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
        return cls(path, path.open("ab", buffering=0), checksum, scrub)

    @classmethod
    def reopen(
        cls, path: Path, head: Head, scrub: Callable[[bytes], bytes] = bytes
    ) -> tuple[TapeFile, list[bytes]]:
        """A tape with its marks, to be appended to. A mark that was cut off at the end is dropped.

        Raises: `TapeUnusableError` that says what is wrong; the file is left as it is.
        """
        marks, end, checksum = _read(path, head)
        file = path.open("r+b", buffering=0)
        file.truncate(end)
        file.seek(end)
        return cls(path, file, checksum, scrub), marks

    def append(self, mark: bytes, *, sync: bool) -> None:
        """Add a mark; `sync`: the disk has it, and all before it, when this returns."""
        mark = self._scrub(mark)
        with self._lock:
            checksum = zlib.crc32(mark, self._checksum)
            self._file.write(_FRAME.pack(len(mark), checksum) + mark)
            self._checksum = checksum
            if sync:
                os.fsync(self._file.fileno())

    def scrub(self) -> None:
        """Take out of what is on the disk already what `scrub` has come to know since."""
        with self._lock:
            clean, self._checksum = _scrubbed(self.path.read_bytes(), self._scrub, self._checksum)
            _overwrite(self.path, clean)

    def close(self) -> None:
        """Close the file."""
        _open.pop(self.path, None)
        self._file.close()


def scrub_tapes(folder: Path, scrub: Callable[[bytes], bytes]) -> None:
    """Take out of all tapes what `scrub` knows. What cannot be read or written is left alone."""
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        tape = _open.get(path)
        with contextlib.suppress(OSError):
            if tape is not None:
                tape.scrub()
            else:
                _overwrite(path, _scrubbed(path.read_bytes(), scrub, 0)[0])


_open: weakref.WeakValueDictionary[Path, TapeFile] = weakref.WeakValueDictionary()


def _scrubbed(data: bytes, scrub: Callable[[bytes], bytes], last: int) -> tuple[bytes, int]:
    """A tape's content, of the same length, with its checksums made anew; and the last of them.

    From the first mark that is damaged on, only the content changes: it stays damaged.
    `last`: the checksum when nothing has to be changed.
    """
    if scrub(data) == data or not data.startswith(_MAGIC):
        return data, last
    out, at, old, new = bytearray(_MAGIC), len(_MAGIC), 0, 0
    while at + _FRAME.size <= len(data):
        length, wanted = _FRAME.unpack_from(data, at)
        mark = data[at + _FRAME.size : at + _FRAME.size + length]
        old = zlib.crc32(mark, old)
        if len(mark) < length or old != wanted:
            break
        clean = scrub(mark)
        new = zlib.crc32(clean, new)
        out += _FRAME.pack(length, new) + clean
        at += _FRAME.size + length
    return bytes(out) + scrub(data[at:]), new


def _overwrite(path: Path, data: bytes) -> None:
    """Write over a file in place: it may be open for writing at its end."""
    with path.open("r+b") as file:
        if file.read() == data:
            return
        file.seek(0)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _read(path: Path, head: Head) -> tuple[list[bytes], int, int]:
    """The marks after the head, where the last whole one ends, and the checksum up to there."""
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise _unusable("There is no record of what its programs did.") from error
    except OSError as error:
        raise _unusable(f"Its record cannot be read ({error.strerror}).") from error
    if not data.startswith(_MAGIC):
        raise _unusable("Its record is damaged at the start.")
    marks: list[bytes] = []
    at, checksum = len(_MAGIC), 0
    while at + _FRAME.size <= len(data):
        length, wanted = _FRAME.unpack_from(data, at)
        mark = data[at + _FRAME.size : at + _FRAME.size + length]
        if length > _MOST_BYTES:
            raise _unusable(f"Its record is damaged (at byte {at:,}).")
        if len(mark) < length:
            break  # cut off while it was written
        if zlib.crc32(mark, checksum) != wanted:
            raise _unusable(f"Its record was altered or is damaged (at byte {at:,}).")
        marks.append(mark)
        checksum, at = wanted, at + _FRAME.size + length
    if not marks:
        raise _unusable("Its record is cut off at the start.")
    _check_head(marks[0], head)
    return marks[1:], at, checksum


def _check_head(mark: bytes, head: Head) -> None:
    try:
        found: dict[str, Any] = json.loads(mark)
        turn_id, version = str(found["turn"]), int(found["version"])
        interpreter = str(found["interpreter"])
    except (ValueError, KeyError, TypeError) as error:
        raise _unusable("Its record is damaged at the start.") from error
    if version != head.version:
        which = "an older" if version < head.version else "a newer"
        raise _unusable(f"Its record was written by {which} Drydock (format {version}).")
    if turn_id != head.turn_id:
        raise _unusable("Its record belongs to another run.")
    if interpreter != head.interpreter:
        raise _unusable(
            f"Its record is of the program interpreter {interpreter}, this is {head.interpreter}."
        )


def _unusable(what: str) -> TapeUnusableError:
    return TapeUnusableError(
        f"This run cannot go on where it was. {what}",
        hint="Nothing of it is on the disk. Start it again from its beginning, or send the request "
        "again.",
    )
