"""Applying a change set to the disk: all of it or nothing, and so that it can be undone.

Owns the order verify -> plan -> prepare -> apply, and what is written down for undo. New content is
complete and durable before the first touch of the person's files; originals are put aside, never
destroyed. Thread: one worker thread; blocks on the disk.
"""

# ruff: noqa: PTH115, PTH123, PTH211
# Plain `os` calls: disk paths are strings with surrogates, as os gives them.

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from sandbox.blobs import CHUNK_BYTES, BlobStore
from sandbox.changeset import Change, ChangeSet, base_to_json, select, to_json
from sandbox.commit_plan import HELD, SAVED, Draft, Planner, Preparation
from sandbox.errors import CommitError
from sandbox.locks import locked
from sandbox.resolve import resolved, with_choices
from sandbox.stage_paths import Boundary, FolderGrant
from sandbox.transaction import FileSystem, Journal, Place, Plan, Step, Transaction
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
    fs: FileSystem | None = None,
) -> CommitReport:
    """Apply `change_set`; items that the disk no longer fits, and their dependents, are left out.

    `undo_folder`: this turn's own, new or empty; `choices`: by change id, for such items; `whole`:
    apply nothing while an item is left without a choice. CommitError when nothing was applied
    because of a fault (disk full, no permission, ...): everything is as before.
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
        if fitting.changes:
            try:
                _apply_anywhere(fitting, blobs, undo_folder, grants, fs)
            except OSError as error:
                raise explained(error) from error
    undo = UndoRecord(folder=undo_folder)
    return CommitReport(applied=fitting.changes, conflicts=conflicts, undo=undo)


def _roots_of(change_set: ChangeSet, grants: Sequence[FolderGrant]) -> list[str]:
    """The granted folders in which something changes."""
    boundary = Boundary(grants)
    paths = {path for c in change_set.changes for path in (c.path, c.final_path)}
    return sorted({root for path in paths if (root := boundary.root_of(path)) is not None})


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
            "changes": to_json(change_set),
            "folder_times": times,
            "roots": _roots_of(change_set, grants),
            "repeatable": not any(item.kind == "copy" for item in draft.preparations),
        },
    )

    def finish(steps: tuple[Step, ...]) -> dict[str, Any]:
        _reset_hold_parents(passing, steps, times, fs)
        return {"states": states(change_set.changes), "folder_times": present_times(times)}

    journal = Journal(undo_folder / COMMIT_JOURNAL, fs)
    Transaction(journal, fs).run(plan, lambda: _prepare(draft, blobs, fs), finish)


def _prepare(draft: Draft, blobs: BlobStore, fs: FileSystem) -> None:
    """Fill the holding folders, durably."""
    for item in draft.preparations:
        match item.kind:
            case "folder":
                fs.mkdir(item.path)
                mode = item.change.mode if item.change.mode is not None else 0o755
                fs.chmod(item.path, mode | 0o700)
            case "content":
                _write_content(item, blobs, fs)
            case "copy" | "saved":
                copy_entry(item.origin or item.change.path, item.path, item.skip, fs)
    for folder in {os.path.split(item.path)[0] for item in draft.preparations}:
        fs.sync_folder(folder)


def _write_content(item: Preparation, blobs: BlobStore, fs: FileSystem) -> None:
    """New content with its mode, time and (of a file that was there) extended attributes."""
    change = item.change
    handle = os.open(item.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        if change.source is not None:
            with open(change.source, "rb") as source:
                _copy_range(source, handle, change.prefix_bytes, fs)
        if change.blob is not None:
            with blobs.open(change.blob) as source:
                _copy_range(source, handle, os.fstat(source.fileno()).st_size, fs)
        if change.size_after not in (None, os.fstat(handle).st_size):
            raise OSError(errno.EIO, "The staged content is damaged", change.final_path)
        fs.fsync(handle)
    finally:
        os.close(handle)
    mode = change.mode
    if change.base is not None:
        _copy_attributes(change.path, item.path, change.base.mode)
        mode = stat.S_IMODE(change.base.mode) if mode is None else mode
    fs.chmod(item.path, mode if mode is not None else 0o644)
    if change.mtime_ns is not None:
        fs.utime(item.path, change.mtime_ns)


def _copy_range(source: BinaryIO, handle: int, size_bytes: int, fs: FileSystem) -> None:
    """Append the first `size_bytes` of `source`; holes stay holes, blocks are shared if they can.

    OSError when the source is shorter.
    """
    start = os.lseek(handle, 0, os.SEEK_CUR)
    if os.fstat(source.fileno()).st_size < size_bytes:
        raise OSError(errno.EIO, "The file became shorter while it was read", source.name)
    at = 0
    while at < size_bytes:
        at, end = _next_data(source.fileno(), at, size_bytes)
        if at < end:
            os.lseek(handle, start + at, os.SEEK_SET)
            _copy_data(source, handle, at, end, fs)
        at = end
    if size_bytes and os.fstat(handle).st_size < start + size_bytes:
        os.ftruncate(handle, start + size_bytes)
    os.lseek(handle, start + size_bytes, os.SEEK_SET)


def _next_data(source: int, at: int, size_bytes: int) -> tuple[int, int]:
    """Where the next data from `at` on begins and ends; all of it where holes are not told."""
    if not hasattr(os, "SEEK_DATA"):
        return at, size_bytes
    try:
        begin = os.lseek(source, at, os.SEEK_DATA)
        end = os.lseek(source, begin, os.SEEK_HOLE)
    except OSError as error:
        return (size_bytes if error.errno == errno.ENXIO else at), size_bytes
    return min(begin, size_bytes), min(end, size_bytes)


def _copy_data(source: BinaryIO, handle: int, at: int, end: int, fs: FileSystem) -> None:
    """Copy bytes `at` to `end`; by the file system itself where it can."""
    if hasattr(os, "copy_file_range"):
        with contextlib.suppress(OSError):
            while at < end:
                count = os.copy_file_range(source.fileno(), handle, end - at, offset_src=at)
                if count == 0:
                    break
                at += count
    source.seek(at)
    while at < end:
        chunk = source.read(min(CHUNK_BYTES, end - at))
        if not chunk:
            raise OSError(errno.EIO, "The file became shorter while it was read", source.name)
        view = memoryview(chunk)
        while view:
            view = view[fs.write(handle, bytes(view)) :]
        at += len(chunk)


def copy_entry(origin: str, target: str, skip: frozenset[str], fs: FileSystem) -> None:
    """Copy a file, a link or a folder with modes, times and attributes; `skip`: paths to leave."""
    st = os.lstat(origin)
    if stat.S_ISLNK(st.st_mode):
        os.symlink(os.readlink(origin), target)
        fs.utime(target, st.st_mtime_ns)
        return
    if stat.S_ISDIR(st.st_mode):
        fs.mkdir(target)
        with os.scandir(origin) as listing:
            names = sorted(item.name for item in listing)
        for name in names:
            if f"{origin}/{name}" not in skip:
                copy_entry(f"{origin}/{name}", f"{target}/{name}", skip, fs)
    elif stat.S_ISREG(st.st_mode):
        handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with open(origin, "rb") as source:
                _copy_range(source, handle, st.st_size, fs)
            fs.fsync(handle)
        finally:
            os.close(handle)
    else:
        raise OSError(errno.EINVAL, "A socket, device or pipe cannot be copied", origin)
    _copy_attributes(origin, target, st.st_mode)
    fs.chmod(target, stat.S_IMODE(st.st_mode))
    fs.utime(target, st.st_mtime_ns)


def _copy_attributes(origin: str, target: str, mode: int) -> None:
    """Owner and extended attributes, as far as this user may set them."""
    if not stat.S_ISLNK(mode):
        with contextlib.suppress(OSError):
            shutil.copystat(origin, target)
    st = os.lstat(origin)
    if hasattr(os, "chown") and (st.st_uid, st.st_gid) != (os.getuid(), os.getgid()):
        with contextlib.suppress(OSError):
            os.chown(target, st.st_uid, st.st_gid)


def _folder_times(changes: Sequence[Change], passing: Sequence[str]) -> list[dict[str, Any]]:
    """Times of the folders in which names come or go: path before, path after, time."""
    layout = Layout(changes)
    after = {c.path: c.target for c in changes if c.kind == "move"}
    gone = {c.path for c in changes if c.kind == "rmdir"}
    touched = {os.path.split(hold)[0] for hold in passing} | gone
    for change in changes:
        if change.kind in ("move", "delete", "rmdir", "modify"):
            touched.add(os.path.split(change.path)[0])
        if change.kind in ("move", "create", "mkdir", "modify"):
            place = layout.before(change.final_path)
            if place is not None:
                touched.add(os.path.split(place)[0])
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
        at, name = os.path.split(at)
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
    own = {os.path.split(hold)[0] for hold in passing}
    used = {os.path.split(p)[0] for s in steps if isinstance(s, Place) for p in (s.src, s.dst)}
    for item in times:
        if item["before"] in own - used and item["after"] == item["before"]:
            with contextlib.suppress(OSError):
                fs.utime(item["before"], item["mtime_ns"])


def states(changes: Sequence[Change]) -> dict[str, dict[str, Any]]:
    """How each entry that is there afterwards looks, by change id."""
    found: dict[str, dict[str, Any]] = {}
    for change in changes:
        if change.kind not in ("delete", "rmdir"):
            with contextlib.suppress(PermissionError):  # in a folder that was just closed
                found[change.id] = base_to_json(base_of(os.lstat(change.final_path)))
    return found


def explained(error: OSError) -> CommitError:
    """A fault in the person's words, with what to do."""
    name = f" ({error.filename})" if error.filename else ""
    hints = {
        errno.ENOSPC: "Free some space on the disk, then approve again.",
        errno.EDQUOT: "Free some space in your quota, then approve again.",
        errno.EACCES: "Check the permissions of the folder, then approve again.",
        errno.EPERM: "Check the permissions of the folder, then approve again.",
        errno.EROFS: "The disk is read-only; choose another folder.",
        errno.EBUSY: "Close the programs that use it, then approve again.",
    }
    return CommitError(
        f"Nothing was changed: {error.strerror or error}{name}.",
        hint=hints.get(error.errno or 0, "Look at the file or the disk, then approve again."),
    )
