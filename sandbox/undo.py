"""Taking a committed change set back: contents, modes, times and empty folders as they were.

Owns which items stand against it; the way itself is `reversal.py`'s: a transaction of its own, so a
crash in an undo leaves either state. Thread: one worker thread; blocks on the disk.
"""

# ruff: noqa: PTH208
# Plain `os` calls: disk paths are strings with surrogates, as os gives them.

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sandbox.changeset import Base, Change
from sandbox.disk_names import is_respelled, listed_path
from sandbox.errors import CommitError
from sandbox.redo import bases_of
from sandbox.reversal import Done, locked_latest, turn_back
from sandbox.stage_paths import divided, is_within
from sandbox.transaction import FileSystem
from sandbox.verify import Conflict, ConflictReason, conflict, difference


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoReport:
    """What an undo did. `restored`: the changes taken back; `conflicts`: those that were not."""

    restored: tuple[Change, ...]
    conflicts: tuple[Conflict, ...]


def undo(undo_folder: Path, *, fs: FileSystem | None = None) -> UndoReport:
    """Take back the commit (or the redo) kept in `undo_folder`.

    An item that was changed since is named as a conflict and left as it is, with what hangs on it.
    CommitError when there is nothing to take back, or a fault let nothing be taken back.
    """
    fs = fs or FileSystem()
    with locked_latest(undo_folder, fs) as found:
        done = _applied(found)
        states = {key: Base(**value) for key, value in done.after["states"].items()}
        conflicts = _Obstacles(done.changes, states).find()
        kept = tuple(change for change in done.changes if change.id not in conflicts)
        if kept:
            turn_back(undo_folder, done, kept, lambda: {"bases": bases_of(kept, done)}, fs)
    in_order = (conflicts[change.id] for change in done.changes if change.id in conflicts)
    return UndoReport(restored=kept, conflicts=tuple(in_order))


def _applied(done: Done | None) -> Done:
    if done is None:
        raise CommitError("There is nothing here to undo.", hint="It was never committed.")
    if done.is_undo:
        raise CommitError("This was undone already.")
    return done


class _Obstacles:
    """Which changes cannot be taken back, because the disk went on, and why."""

    def __init__(self, changes: Sequence[Change], states: dict[str, Base]) -> None:
        self._changes = changes
        self._states = states
        self._by_id = {change.id: change for change in changes}
        self._arrived = {
            c.final_path: c.id for c in changes if c.kind in ("create", "mkdir", "move")
        }
        self._moves = {c.path: c.target for c in changes if c.kind == "move" and c.target}
        self._removed = {c.path for c in changes if c.kind == "rmdir"}
        self._found: dict[str, Conflict] = {}
        self._folders: dict[str, str | None] = {}

    def find(self) -> dict[str, Conflict]:
        """Conflicts by change id, those that follow from others included."""
        for change in self._changes:
            state = self._states.get(change.id)
            problem = difference(change.final_path, state) if state is not None else None
            if problem is not None:
                self._block(change, problem)
        size = -1
        while size != len(self._found):
            size = len(self._found)
            for change in self._changes:
                if change.id not in self._found:
                    self._check(change)
        return self._found

    def _check(self, change: Change) -> None:
        if change.kind == "mkdir" and not self._gets_empty(change.path):
            self._block(change, "not-empty")
        elif change.kind in ("delete", "rmdir", "move") and self._is_taken(change):
            self._block(change, "occupied")

    def _block(self, change: Change, reason: ConflictReason) -> None:
        """`change` stays; so does what it stands on or in, and what would come back into it."""
        if change.id in self._found:
            return
        self._found[change.id] = conflict(change, reason, change.final_path)
        for need in change.depends_on:
            other = self._by_id.get(need)
            if other is not None and not self._only_contains(other, change):
                self._block(other, "needs-another")
        if change.kind in ("move", "rmdir"):
            for other in self._changes:
                returns = other.kind in ("move", "delete", "rmdir")
                if returns and other.path != change.path and is_within(other.path, change.path):
                    self._block(other, "needs-another")

    @staticmethod
    def _only_contains(container: Change, change: Change) -> bool:
        """A folder that moved with `change` in it can move back with it."""
        target = container.target
        moved = container.kind == "move" and target is not None
        return moved and is_within(change.final_path, target or "") and target != change.final_path

    def _gets_empty(self, folder: str) -> bool:
        try:
            names = os.listdir(folder)
        except OSError:
            return True
        leaving = (self._arrived.get(f"{folder}/{name}") for name in names)
        return all(change_id is not None and change_id not in self._found for change_id in leaving)

    def _is_taken(self, change: Change) -> bool:
        """Whether something is, and stays, where an entry has to come back to."""
        now_at = self._now(change.path)
        if now_at is None or not os.path.lexists(now_at):
            return False
        state = self._states.get(change.id)
        if now_at not in self._arrived:
            if state and is_respelled(now_at, state.inode):
                return False
            now_at = listed_path(now_at)
        leaver = self._arrived.get(now_at)
        return leaver is None or leaver in self._found

    def _now(self, path: str) -> str | None:
        """Where the place `path` of before the commit is now: its folder may have moved.

        None when its folder was deleted: what has that name since is another folder, and whether
        the old one can come back is decided for the folder.
        """
        folder, name = divided(path)
        if folder == path:
            return path
        if folder not in self._folders:
            self._folders[folder] = self._folder_now(folder)
        now = self._folders[folder]
        return None if now is None else f"{now}/{name}" if now != "/" else path

    def _folder_now(self, folder: str) -> str | None:
        if folder in self._removed:
            return None
        return self._moves[folder] if folder in self._moves else self._now(folder)
