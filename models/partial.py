"""The unfinished file of one source: append, resume, and what is known about it so far.

Owns ``partial/<model>/<content>.part`` and the small ``.json`` next to it. Every call is blocking
file work of at most a few milliseconds per megabyte: call it from a worker thread.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import psutil
from pydantic import BaseModel, ConfigDict, ValidationError

_WRITING_S = 10.0


class PartialState(BaseModel):
    """What has been agreed with the source; written after the bytes that it speaks of.

    `etag`: the Hub's validator for resuming, and `host`: who gave it; `mixed`: bytes of several
    hosts are in the file; `total_bytes` 0: unknown; `parts_done`: wheels whose content is in the
    file; `committed_bytes`: the length of the file after those.
    """

    model_config = ConfigDict(frozen=True)

    etag: str = ""
    host: str = ""
    mixed: bool = False
    total_bytes: int = 0
    announced_sha256: str = ""
    parts_done: int = 0
    committed_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PartialFile:
    """A file that is not complete yet, named after what it will be."""

    path: Path

    @classmethod
    def of(cls, folder: Path, model_id: str, content: str) -> PartialFile:
        """The partial file of `content` (see `models.catalog`) in `folder`; the folder is made."""
        name = hashlib.sha256(content.encode()).hexdigest()[:12]
        place = folder / "partial" / model_id
        place.mkdir(parents=True, exist_ok=True)
        return cls(path=place / f"{name}.part")

    @property
    def _state_path(self) -> Path:
        return self.path.with_suffix(".json")

    def size(self) -> int:
        """Bytes that are there; 0 when there is no file."""
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0

    def state(self) -> PartialState:
        """What is known; empty when nothing is, or when it cannot be read."""
        try:
            return PartialState.model_validate_json(self._state_path.read_bytes())
        except (OSError, ValidationError):
            return PartialState()

    def remember(self, state: PartialState) -> None:
        """Replace what is known, in one step."""
        draft = self._state_path.with_suffix(".new")
        draft.write_text(state.model_dump_json(), encoding="utf-8")
        draft.replace(self._state_path)

    def append(self, data: bytes) -> None:
        """Add bytes at the end."""
        with self.path.open("ab") as file:
            file.write(data)

    def truncate(self, size_bytes: int) -> None:
        """Cut to `size_bytes`, or make an empty file."""
        with self.path.open("ab") as file:
            file.truncate(size_bytes)

    def discard(self) -> None:
        """Remove the bytes and what is known about them."""
        self.path.unlink(missing_ok=True)
        self._state_path.unlink(missing_ok=True)


class FetchBusyError(Exception):
    """Another process is fetching this model into this folder."""


@contextlib.contextmanager
def sole_fetch(folder: Path, model_id: str) -> Generator[None]:
    """Hold the model's lock: two writers would mix their bytes. Raises `FetchBusyError`.

    A lock whose process has gone is taken over.
    """
    place = folder / "partial"
    place.mkdir(parents=True, exist_ok=True)
    lock = place / f"{model_id}.lock"
    if not _claim(lock):
        if _holder_lives(lock):
            raise FetchBusyError
        lock.unlink(missing_ok=True)
        if not _claim(lock):
            raise FetchBusyError
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)


def _claim(lock: Path) -> bool:
    try:
        with lock.open("x", encoding="ascii") as file:
            file.write(str(os.getpid()))
    except FileExistsError:
        return False
    return True


def _holder_lives(lock: Path) -> bool:
    """Whether the process that wrote the lock still runs; an empty lock is held while it is new."""
    try:
        text = lock.read_text(encoding="ascii")
        age_s = time.time() - lock.stat().st_mtime
    except FileNotFoundError:
        return False
    return psutil.pid_exists(int(text)) if text.isdecimal() else age_s < _WRITING_S
