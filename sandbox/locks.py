"""One commit, undo or recovery in a folder at a time, whichever process it comes from.

Owns the lock on granted folders. Where the system can lock a folder itself (`flock`), that is what
is locked: nothing is written, other homes of the app are kept out too, and a process that dies lets
go. A folder is held alone and those above it shared, so a folder and one inside it exclude each
other. Elsewhere all commits of a person take turns at one lock file. Thread: a worker; blocks.
"""

# Plain `os` calls: disk paths are strings with surrogates, as os gives them.

from __future__ import annotations

import contextlib
import errno
import os
import sys
import tempfile
import time
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from typing import Literal

from sandbox.errors import CommitError
from sandbox.stage_paths import parent_of

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

WAIT_S = 10.0
_POLL_S = 0.05
_BUSY = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)


@contextlib.contextmanager
def locked(folders: Iterable[str], *, wait_s: float = WAIT_S) -> Generator[None]:
    """Hold `folders` (absolute, resolved) while the block runs; one that is gone is left out.

    CommitError when another run still holds one of them after `wait_s`.
    """
    wanted = sorted(set(folders))
    deadline = time.monotonic() + wait_s
    while True:
        held: list[int] = []
        try:
            busy = _try_all(wanted, held)
            if busy is None:
                yield
                return
        finally:
            for handle in held:
                os.close(handle)
        if time.monotonic() >= deadline:
            raise CommitError(
                f"Another run is changing this folder just now: {busy}.",
                hint="Wait until it is done, then try again.",
            )
        time.sleep(_POLL_S)


def _try_all(wanted: list[str], held: list[int]) -> str | None:
    """Lock everything without waiting; the first folder that somebody else holds, or None."""
    if sys.platform == "win32":  # a folder cannot be locked there
        return _try_file(wanted, held)
    above = {parent for folder in wanted for parent in _parents(folder)} - set(wanted)
    for folder, alone in (*((f, False) for f in sorted(above)), *((f, True) for f in wanted)):
        handle = _open_folder(folder)
        if handle is None:
            continue
        held.append(handle)
        match _lock(handle, alone=alone):
            case "busy":
                return folder
            case "cannot":
                return _try_file(wanted, held)
            case _:
                continue
    return None


def _parents(folder: str) -> Iterator[str]:
    while (above := parent_of(folder)) != folder:
        folder = above
        yield folder


def _open_folder(folder: str) -> int | None:
    """None for a folder that is gone, or, above the granted ones, may not be listed."""
    with contextlib.suppress(OSError):
        return os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    return None


def _lock(handle: int, *, alone: bool) -> Literal["held", "busy", "cannot"]:
    """Try once; "cannot" where the file system has no such lock."""
    try:
        fcntl.flock(handle, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except OSError as error:
        return "busy" if error.errno in _BUSY else "cannot"
    return "held"


def _try_file(wanted: list[str], held: list[int]) -> str | None:
    """The lock file of this person instead, for all folders at once."""
    handle = os.open(_lock_file(), os.O_RDWR | os.O_CREAT, 0o600)
    held.append(handle)
    try:
        if sys.platform == "win32":
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in _BUSY:
            raise
        return wanted[0]
    return None


def _lock_file() -> str:
    """In a folder of this person's own: a name that others could take would be a trap."""
    owner = os.getuid() if sys.platform != "win32" else 0
    folder = Path(tempfile.gettempdir(), f"drydock-{owner}")
    folder.mkdir(mode=0o700, exist_ok=True)
    return str(folder / "commit.lock")
