"""Saved states of a model's fixed prompt beginning: files that replace its evaluation.

Owns the format, the folder and its bounds. A file is handed out only when every byte of it is as
it was written, for the same model, llama.cpp and context; whatever else is found under its name is
removed. A cache and nothing more: no trouble with it is an error. The caller passes only text
that ships with the app, so that nobody's data is in these files. Knows nothing of llama.cpp; that
is `engine.py`. Thread: the worker's main thread.
"""

from __future__ import annotations

import array
import contextlib
import hashlib
import os
import shutil
import struct
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

_MAGIC = b"DRYDOCK-PREFIX-1"
_HEADER = struct.Struct("<16s32s32sIQ")
"""Magic, key, checksum of all that follows, count of tokens (4 bytes each), size of the state."""

_DIGEST_BYTES = 32
_NAME_DIGITS = 32
_KEPT_PER_MODEL = 3
_SPARE_BYTES = 256 << 20
"""This much stays free on the disk: a cache is not worth the last of it."""

_STALE_S = 3600.0
"""A half-written file older than this is nobody's any more."""


class PrefixStore:
    """The saved states of one model file as it is loaded now."""

    def __init__(
        self,
        folder: Path,
        model: Path,
        *,
        runtime: str,
        free_bytes: Callable[[Path], int] = lambda folder: shutil.disk_usage(folder).free,
    ) -> None:
        """`runtime`: what else a state depends on, such as llama.cpp's version and the context.

        Raises `OSError` when the model file cannot be looked at.
        """
        stat = model.stat()
        self._folder = folder
        self._stem = model.stem
        self._mark = f"{model.name}\0{stat.st_size}\0{stat.st_mtime_ns}\0{runtime}".encode()
        self._free_bytes = free_bytes

    def path(self, tokens: Sequence[int]) -> Path:
        """Where the state of `tokens` is, or would be."""
        name = self._key(_packed(tokens)).hex()[:_NAME_DIGITS]
        return self._folder / f"{self._stem}.{name}.state"

    def load(self, tokens: Sequence[int]) -> bytearray | None:
        """The state of `tokens`, or None. A file that is not what it should be is removed."""
        path = self.path(tokens)
        try:
            state = self._checked(path, _packed(tokens))
            if state is None:
                path.unlink(missing_ok=True)
            else:
                # The newest are kept, and newest means last used.
                os.utime(path)
        except OSError:
            return None
        return state

    def save(self, tokens: Sequence[int], state: bytes | bytearray | memoryview) -> bool:
        """Keep the state of `tokens`, whole or not at all. False when it could not be kept."""
        packed = _packed(tokens)
        header = _HEADER.pack(
            _MAGIC, self._key(packed), _checksum(packed, state), len(tokens), len(state)
        )
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            if self._free_bytes(self._folder) < len(state) + _SPARE_BYTES:
                return False
            self._write(self.path(tokens), header, packed, state)
        except OSError:
            return False
        with contextlib.suppress(OSError):
            self._tidy()
        return True

    def forget(self, tokens: Sequence[int]) -> None:
        """Remove the state of `tokens`: llama.cpp did not take it."""
        with contextlib.suppress(OSError):
            self.path(tokens).unlink(missing_ok=True)

    def _key(self, packed: bytes) -> bytes:
        return hashlib.blake2b(self._mark + b"\0" + packed, digest_size=_DIGEST_BYTES).digest()

    def _checked(self, path: Path, packed: bytes) -> bytearray | None:
        """The state in `path` when every byte is right, else None. Raises `OSError`."""
        with path.open("rb") as file:
            header = file.read(_HEADER.size)
            if len(header) < _HEADER.size:
                return None
            magic, key, checksum, count, size = _HEADER.unpack(header)
            known = (_MAGIC, self._key(packed), len(packed))
            if (magic, key, count * array.array("i").itemsize) != known:
                return None
            # Before memory is taken: the size in the header is only a claim.
            if os.fstat(file.fileno()).st_size != _HEADER.size + len(packed) + size:
                return None
            if file.read(len(packed)) != packed:
                return None
            state = bytearray(size)
            if file.readinto(state) != size or _checksum(packed, state) != checksum:
                return None
            return state

    def _write(self, path: Path, *parts: bytes | bytearray | memoryview) -> None:
        """Write under another name, readable by this person alone, then rename."""
        handle, name = tempfile.mkstemp(dir=self._folder, prefix="saving-", suffix=".part")
        partial = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.writelines(parts)
            partial.replace(path)
        except OSError:
            partial.unlink(missing_ok=True)
            raise

    def _tidy(self) -> None:
        """Keep the newest states of this model; remove what a killed worker left half written."""
        for path in saved_states(self._folder, self._stem)[_KEPT_PER_MODEL:]:
            path.unlink(missing_ok=True)
        stale = time.time() - _STALE_S
        for path in self._folder.glob("saving-*.part"):
            if path.stat().st_mtime < stale:
                path.unlink(missing_ok=True)


def saved_states(folder: Path, stem: str) -> list[Path]:
    """The saved states of the model file named `stem`, the last used first."""
    # By the whole form of the name: one model's name may be the beginning of another's.
    found = [
        (path.stat().st_mtime_ns, path)
        for path in folder.glob("*.state")
        if path.name[: -len(".state")].rpartition(".")[0] == stem
    ]
    return [path for _, path in sorted(found, reverse=True)]


def _packed(tokens: Sequence[int]) -> bytes:
    return array.array("i", tokens).tobytes()


def _checksum(packed: bytes, state: bytes | bytearray | memoryview) -> bytes:
    digest = hashlib.blake2b(packed, digest_size=_DIGEST_BYTES)
    digest.update(state)
    return digest.digest()
