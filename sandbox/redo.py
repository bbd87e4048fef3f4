"""Doing again what was undone: the same contents, modes and times as the commit had left.

Owns which items the disk no longer fits; the way itself is `reversal.py`'s. Thread: one worker
thread; blocks on the disk.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sandbox.changeset import Base, Change, ChangeSet, base_to_json
from sandbox.commit import only_moves, states, verified
from sandbox.errors import CommitError
from sandbox.reversal import Done, locked_latest, turn_back
from sandbox.stage_paths import FolderGrant
from sandbox.transaction import FileSystem, renamed
from sandbox.verify import Conflict


@dataclass(frozen=True, slots=True, kw_only=True)
class RedoReport:
    """What a redo did. `applied`: the changes made again; `conflicts`: those that were not."""

    applied: tuple[Change, ...]
    conflicts: tuple[Conflict, ...]


def redo(
    undo_folder: Path, *, grants: Sequence[FolderGrant], fs: FileSystem | None = None
) -> RedoReport:
    """Make the changes again that the last undo in `undo_folder` took back.

    An item that the disk no longer fits is named as a conflict and left out, with what hangs on it.
    CommitError when there is nothing to do again, or a fault let nothing be done.
    """
    fs = fs or FileSystem()
    with locked_latest(undo_folder, fs) as found:
        done = _undone(found)
        changes = ChangeSet(changes=tuple(_as_now(change, done) for change in done.changes))
        contents_kept = (replace(c, source=None, source_base=None) for c in changes.changes)
        fitting, conflicts = verified(ChangeSet(changes=tuple(contents_kept)), grants)
        ids = {change.id for change in fitting.changes}
        kept = tuple(change for change in changes.changes if change.id in ids)
        if kept:
            turn_back(undo_folder, done, kept, lambda: {"states": states(kept)}, fs)
    return RedoReport(applied=kept, conflicts=conflicts)


def bases_of(changes: Sequence[Change], done: Done) -> dict[str, dict[str, Any]]:
    """How what `changes` work on looks on the disk now, by change id: for `redo` to find again.

    `done`: what was just taken back; a file that only moved is as it was seen before that.
    """
    states = done.after["states"]
    moved = renamed(done.steps)
    found: dict[str, dict[str, Any]] = {}
    for change in changes:
        if change.id in moved and only_moves(change):
            found[change.id] = {"base": states[change.id], "target_base": None}
            continue
        found[change.id] = {
            "base": _present(change.path, change.base),
            "target_base": _present(change.replaces, change.target_base),
        }
    return found


def _present(path: str | None, former: Base | None) -> dict[str, Any] | None:
    """`former` with what may differ in an entry that came back: its inode, device and mode."""
    if path is None or former is None:
        return None
    try:
        st = os.lstat(path)
    except OSError:
        return None
    now = {"inode": st.st_ino, "device": st.st_dev, "mode": st.st_mode}
    if former.kind != "folder":
        now["mtime_ns"] = st.st_mtime_ns
    return {**base_to_json(former), **now}


def _undone(done: Done | None) -> Done:
    if done is None or not done.is_undo:
        raise CommitError("There is nothing here to do again.", hint="It was not undone.")
    if not done.repeatable:
        raise CommitError(
            "This cannot be done again: what it had made was not kept.",
            hint="Send the request again.",
        )
    return done


def _as_now(change: Change, done: Done) -> Change:
    """`change` against the disk as the undo left it."""
    bases = done.after["bases"].get(change.id, {"base": None, "target_base": None})
    base, target = bases["base"], bases["target_base"]
    return replace(
        change,
        base=Base(**base) if base is not None else change.base,
        target_base=Base(**target) if target is not None else change.target_base,
    )
