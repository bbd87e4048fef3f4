"""Applying a change set to the disk: all of it or nothing, and so that it can be undone.

Owns the order verify -> plan -> prepare -> apply, and what is written down for undo. New content is
complete and durable before the first touch of the person's files; originals are put aside, never
destroyed. Thread: one worker thread; blocks on the disk.
"""

# Plain `os` calls: disk paths are strings with surrogates, as os gives them.

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.blobs import BlobStore
from sandbox.changeset import Change, ChangeSet, base_to_json, select, to_json
from sandbox.commit_content import copy_entry, write_content
from sandbox.commit_faults import explained, faulted, left_after
from sandbox.commit_plan import HELD, SAVED, Draft, Planner, Preparation
from sandbox.locks import locked
from sandbox.resolve import resolved, with_choices
from sandbox.stage_paths import Boundary, FolderGrant, divided, parent_of
from sandbox.transaction import (
    ChangeFaultError,
    FileSystem,
    Journal,
    Place,
    Plan,
    Step,
    Transaction,
    renamed,
)
from sandbox.tree import base_of
from sandbox.verify import Choice, Conflict, Layout, Verifier, conflict

COMMIT_JOURNAL = "commit.jsonl"
UNDO_JOURNAL = "undo.jsonl"
REDO_JOURNAL = "redo.jsonl"


_RESOLVE_ROUNDS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoRecord:
    """What undo needs, all below `folder`."""

    folder: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitReport:
    """What a commit did. `applied`: in order; `conflicts`: what was left out, and why."""

    applied: tuple[Change, ...]
    conflicts: tuple[Conflict, ...]
    undo: UndoRecord


def commit(
    change_set: ChangeSet,
    *,
    blobs: BlobStore,
    undo_folder: Path,
    grants: Sequence[FolderGrant],
    choices: Mapping[str, Choice] | None = None,
    whole: bool = False,
    keep: bool = False,
    fs: FileSystem | None = None,
) -> CommitReport:
    """Apply `change_set`; items that the disk no longer fits, and their dependents, are left out.

    `undo_folder`: this turn's own, new or empty; `choices`: by change id, for such items; `whole`:
    apply nothing while an item is left without a choice. A fault of the disk (full, no permission,
    ...) takes everything back and is raised as a CommitError; with `keep`, what can be applied is,
    and the rest is named among the conflicts.
    """
    fs = fs or FileSystem()
    undo_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with locked(_roots_of(change_set, grants)):
        fitting, conflicts = verified(change_set, grants)
        wanted = change_set
        for _ in range(_RESOLVE_ROUNDS):  # settling one conflict may bring another to light
            settled = resolved(wanted, conflicts, choices or {})
            if settled == wanted:
                break
            wanted = settled
            fitting, conflicts = verified(wanted, grants)
        if conflicts and whole:
            fitting = ChangeSet()
        faults: list[Conflict] = []
        while fitting.changes:
            try:
                _apply_anywhere(fitting, blobs, undo_folder, grants, fs)
                break
            except OSError as error:
                rest = left_after(fitting, error) if keep else None
                if rest is None:
                    raise explained(error) from error
                faults.extend(faulted(fitting, rest, error))
                fitting = rest
    undo = UndoRecord(folder=undo_folder)
    return CommitReport(applied=fitting.changes, conflicts=(*conflicts, *faults), undo=undo)


def _roots_of(change_set: ChangeSet, grants: Sequence[FolderGrant]) -> list[str]:
    """The granted folders in which something changes."""
    boundary = Boundary(grants)
    paths = {path for c in change_set.changes for path in (c.path, c.final_path)}
    folders = {parent_of(path) for path in paths} | (paths & set(boundary.roots))
    return sorted({root for path in folders if (root := boundary.root_of(path)) is not None})


def _apply_anywhere(
    change_set: ChangeSet,
    blobs: BlobStore,
    undo_folder: Path,
    grants: Sequence[FolderGrant],
    fs: FileSystem,
) -> None:
    """Apply; between mounts of one device, where names cannot go across, with folders apart."""
    try:
        _apply(change_set, blobs, undo_folder, grants, fs, apart=False)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        _apply(change_set, blobs, undo_folder, grants, fs, apart=True)


def recover(undo_folder: Path, *, fs: FileSystem | None = None) -> bool:
    """Take back a commit or an undo that a crash interrupted; True when there was one.

    To be called on start for every turn's folder. CommitError when the way back is barred.
    """
    fs = fs or FileSystem()
    found = False
    for name in (REDO_JOURNAL, UNDO_JOURNAL, COMMIT_JOURNAL):
        journal = Journal(undo_folder / name, fs)
        records = journal.read()
        if "plan" not in records or "ended" in records:
            continue
        with locked(records["plan"]["facts"]["roots"]):
            try:
                found |= Transaction(journal, fs).recover()
            except OSError as error:
                raise explained(error) from error
    return found


def verified(
    change_set: ChangeSet, grants: Sequence[FolderGrant]
) -> tuple[ChangeSet, tuple[Conflict, ...]]:
    """The changes that fit the disk as it is, and the conflicts of the others."""
    conflicts: dict[str, Conflict] = {}
    fitting = select(change_set, {change.id for change in change_set.changes})
    while True:
        verifier = Verifier(fitting.changes, grants)
        found = [problem for c in fitting.changes if (problem := verifier.check(c)) is not None]
        if not found:
            break
        conflicts |= {problem.change_id: problem for problem in found}
        fitting = select(fitting, {c.id for c in fitting.changes} - conflicts.keys())
    kept = {change.id for change in fitting.changes}
    for change in change_set.changes:
        if change.id not in kept:
            conflicts.setdefault(change.id, conflict(change, "needs-another"))
    ordered = [conflicts[c.id] for c in change_set.changes if c.id in conflicts]
    return fitting, with_choices(change_set, ordered)


def _apply(
    change_set: ChangeSet,
    blobs: BlobStore,
    undo_folder: Path,
    grants: Sequence[FolderGrant],
    fs: FileSystem,
    *,
    apart: bool,
) -> None:
    base = str(undo_folder)
    token = f"{time.time_ns():x}"
    boundary = Boundary(grants)
    planner = Planner(change_set.changes, boundary, undo_folder=base, token=token, apart=apart)
    draft = planner.plan()
    held, saved = f"{base}/{HELD}", f"{base}/{SAVED}"
    passing = tuple(hold for hold in draft.holds.values() if hold != held)
    times = _folder_times(change_set.changes, passing)
    plan = Plan(
        steps=tuple(draft.steps),
        holds=passing,
        lasting=(held, saved),
        watched=tuple(item["before"] for item in times),
        facts={
            "number": 1,
            "changes": to_json(change_set, brief=True),
            "folder_times": times,
            "roots": _roots_of(change_set, grants),
            "repeatable": True,
        },
    )

    def finish(steps: tuple[Step, ...]) -> dict[str, Any]:
        _reset_hold_parents(passing, steps, times, fs)
        known = states(change_set.changes, renamed(steps))
        return {"states": known, "folder_times": present_times(times)}

    journal = Journal(undo_folder / COMMIT_JOURNAL, fs)
    Transaction(journal, fs).run(plan, lambda: _prepare(draft, blobs, fs), finish)


def _prepare(draft: Draft, blobs: BlobStore, fs: FileSystem) -> None:
    """Fill the holding folders, durably."""
    for item in draft.preparations:
        try:
            _make_ready(item, blobs, fs)
        except OSError as error:
            raise ChangeFaultError(error, item.change.id) from error
    for folder in {parent_of(item.path) for item in draft.preparations}:
        fs.sync_folder(folder)


def _make_ready(item: Preparation, blobs: BlobStore, fs: FileSystem) -> None:
    match item.kind:
        case "folder":
            fs.mkdir(item.path)
            mode = item.change.mode if item.change.mode is not None else 0o755
            fs.chmod(item.path, mode | 0o700)
        case "content":
            write_content(item, blobs, fs)
        case "copy" | "saved":
            copy_entry(item.origin or item.change.path, item.path, item.skip, fs)


def _folder_times(changes: Sequence[Change], passing: Sequence[str]) -> list[dict[str, Any]]:
    """Times of the folders in which names come or go: path before, path after, time."""
    layout = Layout(changes)
    after = {c.path: c.target for c in changes if c.kind == "move"}
    gone = {c.path for c in changes if c.kind == "rmdir"}
    touched = {parent_of(hold) for hold in passing} | gone
    for change in changes:
        if change.kind in ("move", "delete", "rmdir", "modify"):
            touched.add(parent_of(change.path))
        if change.kind in ("move", "create", "mkdir", "modify"):
            place = layout.before(change.final_path)
            if place is not None:
                touched.add(parent_of(place))
    touched |= {c.path for c in changes if c.kind == "move" and c.base and c.base.kind == "folder"}
    times: list[dict[str, Any]] = []
    for folder in sorted(touched):
        with contextlib.suppress(OSError):
            st = os.lstat(folder)
            if stat.S_ISDIR(st.st_mode):
                now_at = None if folder in gone else _follow(folder, after)
                times.append({"before": folder, "after": now_at, "mtime_ns": st.st_mtime_ns})
    return times


def _follow(path: str, moves: dict[str, str | None]) -> str:
    """Where a folder that is now at `path` will be: by its own move, or that of a folder above."""
    rest, at = "", path
    while at != "/" and at:
        target = moves.get(at)
        if target is not None:
            return target + rest
        at, name = divided(at)
        rest = f"/{name}{rest}"
    return path


def present_times(times: list[dict[str, Any]]) -> dict[str, int]:
    present: dict[str, int] = {}
    for item in times:
        with contextlib.suppress(OSError):
            if item["after"] is not None:
                present[item["after"]] = os.lstat(item["after"]).st_mtime_ns
    return present


def _reset_hold_parents(
    passing: Sequence[str], steps: Sequence[Step], times: list[dict[str, Any]], fs: FileSystem
) -> None:
    """A folder in which only our holding folder came and went keeps its time."""
    own = {parent_of(hold) for hold in passing}
    used = {parent_of(p) for s in steps if isinstance(s, Place) for p in (s.src, s.dst)}
    for item in times:
        if item["before"] in own - used and item["after"] == item["before"]:
            with contextlib.suppress(OSError):
                fs.utime(item["before"], item["mtime_ns"])


def states(changes: Sequence[Change], moved: Collection[str] = ()) -> dict[str, dict[str, Any]]:
    """How each entry that is there afterwards looks, by change id.

    `moved`: ids of those that were renamed and not copied. A file that only moved looks as it was
    verified: had something else changed it in between, it would not be what was approved, and
    undo has to see that.
    """
    found: dict[str, dict[str, Any]] = {}
    for change in changes:
        if change.base is not None and change.id in moved and only_moves(change):
            found[change.id] = base_to_json(change.base)
        elif change.kind not in ("delete", "rmdir"):
            with contextlib.suppress(PermissionError):  # in a folder that was just closed
                found[change.id] = base_to_json(base_of(os.lstat(change.final_path)))
    return found


def only_moves(change: Change) -> bool:
    """Whether a file keeps everything but its path."""
    stays_same = not change.modified and change.mode is None and change.mtime_ns is None
    is_file = change.base is not None and change.base.kind == "file"
    return change.kind == "move" and stays_same and is_file
