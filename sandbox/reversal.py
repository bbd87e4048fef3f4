"""The way back from a transaction that was done, whether it was a commit, an undo or a redo.

Owns which journal of a turn is the latest, and the reversed steps. Every way back is a transaction
of its own with a journal of its own, from which there is a way back again. What goes into a holding
folder that does not last is copied into the undo folder first. What stands against going back is
decided in `undo.py` and `redo.py`. Thread: one worker thread; blocks on the disk.
"""

# Plain `os` calls: disk paths are strings with surrogates, as os gives them.

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sandbox.changeset import Change, from_json
from sandbox.commit import (
    COMMIT_JOURNAL,
    REDO_JOURNAL,
    UNDO_JOURNAL,
    present_times,
    recover,
)
from sandbox.commit_content import copy_entry
from sandbox.commit_faults import explained
from sandbox.commit_plan import HELD, SAVED
from sandbox.locks import locked
from sandbox.stage_paths import divided, parent_of
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

_FULL = (errno.ENOSPC, errno.EDQUOT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A transaction that was done.

    `journal`: the file's name; `number`: counts a turn's transactions from 1; `changes`: in the
    turn's own direction, `raw_changes` as they were read; `after`: what was recorded at its end;
    `folder_times`: of each folder in which names came or went its path `before` and `after` (None:
    not there) and its time before; `holds`: folders that were there only meanwhile; `roots`: the
    granted folders it touched; `repeatable`: all that it put aside is still kept.
    """

    journal: str
    number: int
    changes: tuple[Change, ...]
    raw_changes: dict[str, Any]
    steps: tuple[Step, ...]
    after: dict[str, Any]
    folder_times: tuple[dict[str, Any], ...]
    holds: tuple[str, ...]
    roots: tuple[str, ...]
    repeatable: bool

    @property
    def is_undo(self) -> bool:
        """Whether the turn's changes are not on the disk after it."""
        return self.journal == UNDO_JOURNAL


@dataclass(frozen=True, slots=True, kw_only=True)
class _Saving:
    """A copy to be made for the next way back; `skip`: paths that leave by steps of their own."""

    origin: str
    path: str
    skip: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Way:
    """Everything about one way back but what it saves."""

    steps: tuple[Step, ...]
    copies: dict[str, str]
    holds: tuple[str, ...]
    saves_folder: str
    due: tuple[dict[str, Any], ...]
    facts: dict[str, Any]


def latest(undo_folder: Path, fs: FileSystem | None = None) -> Done | None:
    """The last transaction of a turn that was done; None when nothing was."""
    fs = fs or FileSystem()
    found: Done | None = None
    for name in (COMMIT_JOURNAL, UNDO_JOURNAL, REDO_JOURNAL):
        records = Journal(undo_folder / name, fs).read()
        if "done" not in records:
            continue
        plan = records["plan"]
        facts = plan["facts"]
        if found is None or facts["number"] > found.number:
            found = Done(
                journal=name,
                number=facts["number"],
                changes=from_json(facts["changes"]).changes,
                raw_changes=facts["changes"],
                steps=read_steps(records),
                after=records["done"]["after"],
                folder_times=tuple(facts["folder_times"]),
                holds=tuple(plan["holds"]),
                roots=tuple(facts["roots"]),
                repeatable=facts["repeatable"],
            )
    return found


@contextlib.contextmanager
def locked_latest(undo_folder: Path, fs: FileSystem) -> Generator[Done | None]:
    """`latest`, with the folders that it touched held while the block runs.

    CommitError when another run holds them.
    """
    seen = _fingerprint(undo_folder)
    done = latest(undo_folder, fs)
    with locked(done.roots if done is not None else ()):
        yield done if _fingerprint(undo_folder) == seen else latest(undo_folder, fs)


def _fingerprint(undo_folder: Path) -> list[tuple[str, int, int]]:
    """Tells whether another process has gone on with a turn meanwhile."""
    stats = sorted((path.name, path.stat()) for path in undo_folder.glob("*.jsonl"))
    return [(name, st.st_size, st.st_mtime_ns) for name, st in stats]


def turn_back(
    undo_folder: Path,
    done: Done,
    kept: Sequence[Change],
    recorded: Callable[[], dict[str, Any]],
    fs: FileSystem,
) -> None:
    """Take the changes `kept` of `done` back; `recorded`: what to remember at the end.

    CommitError when a fault let nothing be taken back. A full disk does not keep an undo from
    happening: it then cannot be done again.
    """
    again = done.is_undo
    way = _way_back(undo_folder, done, kept)
    steps, savings = way.steps, ()
    if done.repeatable:
        steps, savings = _with_savings(way, kept, again=again)
    try:
        try:
            _run(undo_folder, way, steps, savings, recorded, fs, repeatable=done.repeatable)
        except OSError as error:
            if again or not savings or error.errno not in _FULL:
                raise
            _run(undo_folder, way, way.steps, (), recorded, fs, repeatable=False)
    except OSError as error:
        raise explained(error) from error


def _way_back(undo_folder: Path, done: Done, kept: Sequence[Change]) -> _Way:
    token = f"{time.time_ns():x}"
    ids = {change.id for change in kept}
    raw = [item for item in done.raw_changes["changes"] if item["id"] in ids]
    steps, copies = _reversed_steps(done.steps, ids)
    renamed = {hold: f"{_without_token(hold)}-{token}" for hold in done.holds}
    known = done.after["folder_times"]
    times = [_reversed_time(item) for item in done.folder_times]
    return _Way(
        steps=tuple(_renamed(step, renamed) for step in steps),
        copies={_in_hold(path, renamed): saved for path, saved in copies.items()},
        holds=tuple(renamed.values()),
        saves_folder=f"{undo_folder}/{SAVED}/{token}",
        due=tuple(item for item in done.folder_times if _may_reset(item, known)),
        facts={
            "number": done.number + 1,
            "changes": {**done.raw_changes, "changes": raw},
            "folder_times": times,
            "roots": list(done.roots),
        },
    )


def _run(
    undo_folder: Path,
    way: _Way,
    steps: Sequence[Step],
    savings: Sequence[_Saving],
    recorded: Callable[[], dict[str, Any]],
    fs: FileSystem,
    *,
    repeatable: bool,
) -> None:
    times = way.facts["folder_times"]

    def prepare() -> None:
        for path, saved in way.copies.items():
            copy_entry(saved, path, frozenset(), fs)
        for saving in savings:
            copy_entry(saving.origin, saving.path, saving.skip, fs)

    def finish(_: tuple[Step, ...]) -> dict[str, Any]:
        _reset_times(way.due, fs)
        return {**recorded(), "folder_times": present_times(times)}

    plan = Plan(
        steps=tuple(steps),
        holds=way.holds,
        lasting=(way.saves_folder,) if savings else (),
        watched=(
            *(item["before"] for item in times if item["before"] is not None),
            *_folders_that_move(steps, way.facts["changes"]["changes"]),
        ),
        facts={**way.facts, "repeatable": repeatable},
    )
    name = REDO_JOURNAL if way.facts["number"] % 2 else UNDO_JOURNAL
    Transaction(Journal(undo_folder / name, fs), fs).run(plan, prepare, finish)


def _folders_that_move(steps: Sequence[Step], raw: Sequence[dict[str, Any]]) -> list[str]:
    """The folders that come from elsewhere, as they are called before."""
    ids = {
        item["id"]
        for item in raw
        if item["kind"] in ("mkdir", "rmdir") or item.get("base", {}).get("kind") == "folder"
    }
    return [step.src for step in steps if isinstance(step, Place) and step.change in ids]


def _with_savings(
    way: _Way, kept: Sequence[Change], *, again: bool
) -> tuple[tuple[Step, ...], tuple[_Saving, ...]]:
    """The steps, those that put something aside in a passing folder with a copy that lasts."""
    if not way.holds:
        return way.steps, ()
    by_id = {change.id: change for change in kept}
    goes_on = {step.src for step in way.steps if isinstance(step, Place)}
    origins = _Origins(way.steps, again=again)
    steps: list[Step] = []
    savings: list[_Saving] = []
    leaving = {
        change.path if again else change.final_path
        for change in kept
        if change.kind in (("move", "delete", "rmdir") if again else ("move", "create", "mkdir"))
    }
    for step in way.steps:
        if not isinstance(step, Place):
            steps.append(step)
            continue
        origin = origins.of(step, by_id[step.change])
        if parent_of(step.dst) not in way.holds or step.dst in goes_on:
            steps.append(step)
            continue
        path = f"{way.saves_folder}/{len(savings) + 1}"
        savings.append(_Saving(origin=origin, path=path, skip=frozenset(leaving - {origin})))
        steps.append(replace(step, saved=path))
    return tuple(steps), tuple(savings)


class _Origins:
    """Where on the disk, as it is before a way back, lies what each of its steps takes away.

    `again`: it is a redo. Then a step that clears the place for another one of the same change
    takes what the change replaces, once; all else is the change's own.
    """

    def __init__(self, steps: Sequence[Step], *, again: bool) -> None:
        self._again = again
        self._arrivals = {(step.change, step.dst) for step in steps if isinstance(step, Place)}
        self._replaced: set[str] = set()

    def of(self, step: Place, change: Change) -> str:
        """The path; to be asked for each step once, in order."""
        if not self._again:
            return change.final_path
        clears = (step.change, step.src) in self._arrivals
        if change.replaces is None or change.id in self._replaced or not (clears or step.keep):
            return change.path
        self._replaced.add(change.id)
        return change.replaces


def _reversed_steps(steps: Sequence[Step], ids: set[str]) -> tuple[list[Step], dict[str, str]]:
    """The steps back, last first, and the copies they need: path in a holding folder -> copy."""
    back: list[Step] = []
    copies: dict[str, str] = {}
    went_on = {step.src: step.inode for step in steps if isinstance(step, Place)}
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
            inode = 0 if step.saved is not None else went_on.get(step.keep) or _inode(step.keep)
            back.extend(_reversed_replacement(step, step.keep, inode))
    return back, copies


def _inode(path: str) -> int:
    """Of what lies aside; 0 for what is only now copied there."""
    try:
        return os.lstat(path).st_ino
    except OSError:
        return 0


def _reversed_replacement(step: Place, keep: str, inode: int) -> list[Step]:
    """What was put aside comes back; at one stroke where what replaced it goes aside itself."""
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


def _without_token(hold: str) -> str:
    """`/folder/.drydock-TOKEN...` without the tokens of former transactions."""
    folder, name = divided(hold)
    return f"{folder}/{'-'.join(name.split('-')[:1])}"


def _renamed(step: Step, renamed: dict[str, str]) -> Step:
    """A step with the former passing holding folders replaced by this transaction's own."""
    if isinstance(step, Meta) or not renamed:
        return step
    keep = _in_hold(step.keep, renamed) if step.keep is not None else None
    src, dst = _in_hold(step.src, renamed), _in_hold(step.dst, renamed)
    return replace(step, src=src, dst=dst, keep=keep)


def _in_hold(path: str, renamed: dict[str, str]) -> str:
    folder, name = divided(path)
    return f"{renamed[folder]}/{name}" if folder in renamed else path


def _reversed_time(item: dict[str, Any]) -> dict[str, Any]:
    mtime_ns = None
    if item["after"] is not None:
        with contextlib.suppress(OSError):
            mtime_ns = os.lstat(item["after"]).st_mtime_ns
    return {"before": item["after"], "after": item["before"], "mtime_ns": mtime_ns}


def _may_reset(item: dict[str, Any], known: dict[str, int]) -> bool:
    """Whether a folder's time is still that of the commit, so that nobody else's is lost."""
    if item["before"] is None or item["mtime_ns"] is None:
        return False
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


def make_room(undo_folder: Path) -> None:
    """Make room for a commit: what a former one that failed has left there is gone.

    CommitError when that one is still half done and cannot be taken back.
    """
    recover(undo_folder)
    if latest(undo_folder) is None:
        shutil.rmtree(undo_folder, ignore_errors=True)
