"""Taking a committed change set back: contents, modes, times and empty folders as they were.

Owns the way back from a commit's journal and which items stand against it. It is a transaction of
its own, so a crash in an undo leaves either state. What the turn had created goes into the undo
folder where that is on the same device. Thread: one worker thread; blocks on the disk.
"""

# ruff: noqa: PTH208
# Plain `os` calls: disk paths are strings with surrogates, as os gives them.

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sandbox.changeset import Base, Change, from_json
from sandbox.commit import COMMIT_JOURNAL, UNDO_JOURNAL, copy_entry, explained
from sandbox.commit_plan import HELD
from sandbox.errors import CommitError
from sandbox.stage_paths import is_within
from sandbox.transaction import (
    FileSystem,
    Journal,
    Meta,
    Place,
    Plan,
    Step,
    Transaction,
    read_steps,
)
from sandbox.verify import Conflict, ConflictReason, conflict, difference


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoReport:
    """What an undo did. `restored`: the changes taken back; `conflicts`: those that were not."""

    restored: tuple[Change, ...]
    conflicts: tuple[Conflict, ...]


def undo(undo_folder: Path, *, fs: FileSystem | None = None) -> UndoReport:
    """Take back the commit kept in `undo_folder`.

    An item that was changed since is named as a conflict and left as it is, with what hangs on it.
    CommitError when there is nothing to take back, or a fault let nothing be taken back.
    """
    fs = fs or FileSystem()
    records = Journal(undo_folder / COMMIT_JOURNAL, fs).read()
    if "done" not in records:
        raise CommitError("There is nothing here to undo.", hint="It was never committed.")
    journal = Journal(undo_folder / UNDO_JOURNAL, fs)
    if "done" in journal.read():
        raise CommitError("This was undone already.")
    facts, after = records["plan"]["facts"], records["done"]["after"]
    changes = from_json(facts["changes"]).changes
    states = {key: Base(**value) for key, value in after["states"].items()}
    conflicts = _Obstacles(changes, states).find()
    kept = tuple(change for change in changes if change.id not in conflicts)
    if kept:
        _take_back(undo_folder, records, {change.id for change in kept}, journal, fs)
    in_order = (conflicts[change.id] for change in changes if change.id in conflicts)
    return UndoReport(restored=kept, conflicts=tuple(in_order))


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
        elif change.kind in ("delete", "rmdir", "move") and self._is_taken(change.path):
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

    def _is_taken(self, path: str) -> bool:
        """Whether something is, and stays, where an entry has to come back to."""
        now_at = self._now(path)
        if now_at is None or not os.path.lexists(now_at):
            return False
        leaver = self._arrived.get(now_at)
        return leaver is None or leaver in self._found

    def _now(self, path: str) -> str | None:
        """Where the place `path` of before the commit is now: its folder may have moved.

        None when its folder was deleted: what has that name since is another folder, and whether
        the old one can come back is decided for the folder.
        """
        at, name = os.path.split(path)
        rest = f"/{name}"
        while at != "/" and at:
            if at in self._removed:
                return None
            if at in self._moves:
                return self._moves[at] + rest
            at, name = os.path.split(at)
            rest = f"/{name}{rest}"
        return path


def _take_back(
    undo_folder: Path,
    records: dict[str, dict[str, Any]],
    ids: set[str],
    journal: Journal,
    fs: FileSystem,
) -> None:
    steps, copies = _reversed_steps(read_steps(records), ids)
    token = f"{time.time_ns():x}"
    renamed = {h: f"{h}-{token}" for h in records["plan"]["holds"]}
    steps = [_renamed(step, renamed) for step in steps]
    copies = {_in_hold(path, renamed): saved for path, saved in copies.items()}
    folder_times = records["plan"]["facts"]["folder_times"]
    known = records["done"]["after"]["folder_times"]
    due = [item for item in folder_times if _may_reset(item, known)]

    def prepare() -> None:
        for path, saved in copies.items():
            copy_entry(saved, path, frozenset(), fs)

    def finish(_: tuple[Step, ...]) -> dict[str, Any]:
        _reset_times(due, fs)
        return {"changes": sorted(ids)}

    plan = Plan(
        steps=tuple(steps),
        holds=tuple(renamed.values()),
        watched=tuple(item["after"] for item in due if item["after"] is not None),
        facts={"due": due},
    )
    try:
        Transaction(journal, fs).run(plan, prepare, finish)
    except OSError as error:
        raise explained(error) from error


def _reversed_steps(steps: Sequence[Step], ids: set[str]) -> tuple[list[Step], dict[str, str]]:
    """The steps back, last first, and the copies they need: path in a holding folder -> copy."""
    back: list[Step] = []
    copies: dict[str, str] = {}
    for step in reversed(steps):
        if step.change not in ids:
            continue
        if isinstance(step, Meta):
            back.append(_reversed_meta(step))
        elif step.keep is None:
            if step.saved is not None:
                copies[step.dst] = step.saved
            inode = 0 if step.saved is not None else step.inode
            back.append(Place(change=step.change, src=step.dst, dst=step.src, inode=inode))
        else:
            if step.saved is not None:
                copies[step.keep] = step.saved
            back.extend(_reversed_replacement(step, step.keep))
    return back, copies


def _reversed_replacement(step: Place, keep: str) -> list[Step]:
    """What was put aside comes back; at one stroke where what replaced it goes aside itself."""
    inode = 0
    if step.saved is None:
        with contextlib.suppress(OSError):
            inode = os.lstat(keep).st_ino
    if f"/{HELD}/" in step.src:
        return [Place(change=step.change, src=keep, dst=step.dst, inode=inode, keep=step.src)]
    return [
        Place(change=step.change, src=step.dst, dst=step.src, inode=step.inode),
        Place(change=step.change, src=keep, dst=step.dst, inode=inode),
    ]


def _reversed_meta(step: Meta) -> Meta:
    return replace(
        step,
        mode=step.mode_before,
        mode_before=step.mode,
        mtime_ns=step.mtime_ns_before,
        mtime_ns_before=step.mtime_ns,
    )


def _renamed(step: Step, renamed: dict[str, str]) -> Step:
    """A step with the commit's passing holding folders replaced by this transaction's own."""
    if isinstance(step, Meta) or not renamed:
        return step
    keep = _in_hold(step.keep, renamed) if step.keep is not None else None
    src, dst = _in_hold(step.src, renamed), _in_hold(step.dst, renamed)
    return replace(step, src=src, dst=dst, keep=keep)


def _in_hold(path: str, renamed: dict[str, str]) -> str:
    folder, name = os.path.split(path)
    return f"{renamed[folder]}/{name}" if folder in renamed else path


def _may_reset(item: dict[str, Any], known: dict[str, int]) -> bool:
    """Whether a folder's time is still that of the commit, so that nobody else's is lost."""
    if item["after"] is None:
        return True
    try:
        return os.lstat(item["after"]).st_mtime_ns == known.get(item["after"])
    except OSError:
        return False


def _reset_times(due: Sequence[dict[str, Any]], fs: FileSystem) -> None:
    """Give folders the times of before; one that is not there has none to get."""
    for item in due:
        with contextlib.suppress(OSError):
            fs.utime(item["before"], item["mtime_ns"])
