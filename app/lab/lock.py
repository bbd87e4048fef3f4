"""Which process works on a lab run: a file that is locked as long as it does.

A process that dies lets go, so a run that is still called running while nobody holds its lock was
interrupted. Thread: any.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Generator
from pathlib import Path

from app.errors import AppError
from app.paths import Paths
from app.store.trials import LabRun

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


@contextlib.contextmanager
def working_on(paths: Paths, run_id: str) -> Generator[None]:
    """Hold a run while the block runs. Raises: `AppError` when another process works on it."""
    place = _place(paths, run_id)
    place.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(place, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if not _try_lock(handle):
            raise AppError(
                f"Another process works on the lab run {run_id}.",
                hint="Wait until it is done, or stop it first.",
            )
        yield
    finally:
        os.close(handle)  # which lets go


def status_of(paths: Paths, run: LabRun) -> str:
    """How a run stands: "interrupted" where it is called running and nobody works on it."""
    if run.status != "running":
        return run.status
    try:
        handle = os.open(_place(paths, run.run_id), os.O_RDWR)
    except OSError:
        return "interrupted"
    try:
        return "interrupted" if _try_lock(handle) else "running"
    finally:
        os.close(handle)


def _place(paths: Paths, run_id: str) -> Path:
    return paths.lab / run_id / "lock"


def _try_lock(handle: int) -> bool:
    try:
        if sys.platform == "win32":
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
