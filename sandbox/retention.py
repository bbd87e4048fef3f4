"""How long undo is kept: what there is, what it takes, and what is due to go.

Owns the measure and the removal, one folder a turn; the app decides which turns may be dropped and
tells the person. Thread: one worker thread; blocks on the disk.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sandbox.transaction import FileSystem, remove_tree

_GOING = ".dropped-"
_BLOCK_BYTES = 512  # Source: stat(2), st_blocks


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What is kept of one turn. `since_s`: its last commit, undo or redo, in epoch seconds."""

    name: str
    folder: Path
    size_bytes: int
    since_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How much is kept. None: without bound. The latest turn is kept whatever its size."""

    age_s: float | None
    size_bytes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Overdue:
    """A turn whose undo is due to go, and which bound it is over."""

    kept: Kept
    reason: Literal["age", "size"]


def kept_in(root: Path) -> tuple[Kept, ...]:
    """All that is kept below `root`, oldest first. Nothing below a folder that is not there."""
    if not root.is_dir():
        return ()
    found = [
        Kept(
            name=folder.name,
            folder=folder,
            size_bytes=_size_bytes(str(folder)),
            since_s=_since_s(folder),
        )
        for folder in root.iterdir()
        if folder.is_dir() and not folder.name.startswith(_GOING)
    ]
    return tuple(sorted(found, key=lambda item: (item.since_s, item.name)))


def overdue(
    kept: Sequence[Kept], policy: Policy, *, now_s: float, busy: Collection[str] = ()
) -> tuple[Overdue, ...]:
    """What `policy` lets go of `kept` (oldest first); `busy`: names that must stay."""
    left_bytes = sum(item.size_bytes for item in kept)
    due: list[Overdue] = []
    for item in kept[:-1]:
        if item.name in busy:
            continue
        if policy.age_s is not None and now_s - item.since_s > policy.age_s:
            due.append(Overdue(kept=item, reason="age"))
        elif policy.size_bytes is not None and left_bytes > policy.size_bytes:
            due.append(Overdue(kept=item, reason="size"))
        else:
            continue
        left_bytes -= item.size_bytes
    return tuple(due)


def drop(folder: Path, *, fs: FileSystem | None = None) -> None:
    """Remove what is kept of a turn; after a crash in the middle there is no half of it left.

    A folder that is not there is fine. OSError when it cannot be removed.
    """
    fs = fs or FileSystem()
    going = folder.with_name(f"{_GOING}{folder.name}")
    remove_tree(str(going), fs)
    if folder.is_dir():
        fs.rename(str(folder), str(going))
        remove_tree(str(going), fs)


def finish_drops(root: Path, *, fs: FileSystem | None = None) -> None:
    """Go on with removals that a crash interrupted."""
    for folder in root.glob(f"{_GOING}*") if root.is_dir() else ():
        remove_tree(str(folder), fs or FileSystem())


def _size_bytes(folder: str) -> int:
    """What `folder` takes on the disk; a file that has a name elsewhere too takes nothing here."""
    size_bytes = 0
    try:
        with os.scandir(folder) as listing:
            items = list(listing)
    except OSError:  # a folder that may not be listed: counted as nothing
        return 0
    for item in items:
        if item.is_dir(follow_symlinks=False):
            size_bytes += _size_bytes(item.path)
            continue
        st = item.stat(follow_symlinks=False)
        if st.st_nlink == 1:
            blocks = getattr(st, "st_blocks", None)
            size_bytes += st.st_size if blocks is None else blocks * _BLOCK_BYTES
    return size_bytes


def _since_s(folder: Path) -> float:
    times = [path.stat().st_mtime for path in folder.glob("*.jsonl")]
    return max(times, default=folder.stat().st_mtime)
