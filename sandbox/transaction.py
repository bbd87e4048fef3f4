"""A sequence of renames that happens wholly or not at all, also across a crash.

Owns the steps, their journal and the way back. Every change of a disk is one of two steps: `Place`
(an entry goes from one path to another, what was there is kept aside) and `Meta` (mode and time).
Recovery never trusts how far a log got: it looks at the disk, by inode, and takes back what it
finds done, last step first. Which steps make up a commit or an undo is decided in `commit.py` and
`undo.py`. Thread: one worker thread; blocks on the disk.
"""

# ruff: noqa: PTH101, PTH102, PTH104, PTH106, PTH108
# Plain `os` calls: names may hold surrogates, and each call has to be one system call.

from __future__ import annotations

import contextlib
import errno
import json
import os
import stat
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from sandbox.errors import HalfDoneError
from sandbox.stage_paths import parent_of

JOURNAL_VERSION = 1
_NO_HARD_LINKS = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EACCES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Move the entry at `src` to `dst`.

    `inode`: of that entry, by which it is recognised, 0 while it is not prepared yet; `keep`: where
    to put aside the entry that is replaced at `dst`, None when nothing may be there; `saved`: a
    copy of what is put aside, where the holding folder does not outlive the transaction.
    """

    change: str
    src: str
    dst: str
    inode: int = 0
    keep: str | None = None
    saved: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Meta:
    """Set mode bits and modification time (ns) of the entry at `path`; None leaves one alone.

    `inode`: of that entry; 0 when it is `prepared`: where it lies before it is put in its place.
    """

    change: str
    path: str
    inode: int = 0
    prepared: str | None = None
    mode_before: int | None = None
    mode: int | None = None
    mtime_ns_before: int | None = None
    mtime_ns: int | None = None


Step = Place | Meta


class ChangeFaultError(OSError):
    """A fault of the disk while the change with the id `change` was worked on; empty: none."""

    def __init__(self, error: OSError, change: str) -> None:
        super().__init__(error.errno, error.strerror, error.filename)
        self.change = change


_PLACE_FIELDS = tuple(item.name for item in fields(Place))
_META_FIELDS = tuple(item.name for item in fields(Meta))


class FileSystem:
    """The system calls that change a disk, one method each, so that tests can let them fail."""

    def rename(self, src: str, dst: str) -> None:
        os.rename(src, dst)

    def link(self, src: str, dst: str) -> None:
        os.link(src, dst, follow_symlinks=False)

    def unlink(self, path: str) -> None:
        os.unlink(path)

    def rmdir(self, path: str) -> None:
        os.rmdir(path)

    def mkdir(self, path: str) -> None:
        os.mkdir(path, 0o700)

    def chmod(self, path: str, mode: int) -> None:
        os.chmod(path, mode)

    def utime(self, path: str, mtime_ns: int) -> None:
        os.utime(path, ns=(mtime_ns, mtime_ns), follow_symlinks=False)

    def write(self, handle: int, data: bytes) -> int:
        return os.write(handle, data)

    def fsync(self, handle: int) -> None:
        os.fsync(handle)

    def sync_folder(self, path: str) -> None:
        """Make the names in a folder durable; where the system cannot, there is nothing to do."""
        try:
            handle = os.open(path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        except (PermissionError, FileNotFoundError, NotADirectoryError):
            return
        try:
            self.fsync(handle)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOTSUP):
                raise
        finally:
            os.close(handle)


class Journal:
    """One JSON line per record, durable before the call returns. A torn last line is ignored."""

    def __init__(self, path: Path, fs: FileSystem) -> None:
        self.path = path
        self._fs = fs

    def add(self, record: str, **data: object) -> None:
        """Append a record and wait until it is on the disk."""
        line = json.dumps({"record": record, **data}) + "\n"
        handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            size_bytes = os.fstat(handle).st_size
            left = memoryview(self._after_torn_line() + line.encode("ascii"))
            try:
                while left:
                    left = left[self._fs.write(handle, bytes(left)) :]
                self._fs.fsync(handle)
            except OSError:  # a record that the caller was told is not there must not be there
                os.ftruncate(handle, size_bytes)
                raise
        finally:
            os.close(handle)
        self._fs.sync_folder(str(self.path.parent))

    def read(self) -> dict[str, dict[str, Any]]:
        """The records since the last plan, by kind; empty when there is no journal."""
        records: dict[str, dict[str, Any]] = {}
        if not self.path.exists():
            return records
        for line in self.path.read_bytes().split(b"\n"):
            try:
                data = json.loads(line)
            except ValueError:  # torn by a crash: the record was never relied on
                continue
            if data["record"] == "plan":
                records.clear()
            records[data["record"]] = data
        return records

    def _after_torn_line(self) -> bytes:
        data = self.path.read_bytes()[-1:]
        return b"" if data in (b"", b"\n") else b"\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All that a transaction will do, written down before the first touch.

    `holds`: folders that exist only while it runs; `lasting`: folders that are made too and stay
    once it is done; `watched`: further folders whose times a way back has to restore, those that
    move themselves among them, as they are called before; `facts`: what the maker wants back.
    """

    steps: tuple[Step, ...]
    holds: tuple[str, ...] = ()
    lasting: tuple[str, ...] = ()
    watched: tuple[str, ...] = ()
    facts: dict[str, Any]


class Transaction:
    """Runs a plan against `journal`: `run` to apply, `recover` after a crash."""

    def __init__(self, journal: Journal, fs: FileSystem) -> None:
        self._journal = journal
        self._fs = fs

    def run(
        self,
        plan: Plan,
        prepare: Callable[[], None],
        finish: Callable[[tuple[Step, ...]], dict[str, Any]],
    ) -> None:
        """Apply `plan`. On a fault everything is taken back and it is raised as `ChangeFaultError`.

        `prepare` fills the holding folders, before anything of the person's is touched; `finish`
        gives what is to be recorded once all is done.
        """
        times = _folder_times(plan)
        self._journal.add(
            "plan",
            version=JOURNAL_VERSION,
            steps=[_step_to_json(step) for step in plan.steps],
            holds=list(plan.holds),
            lasting=list(plan.lasting),
            times=times,
            facts=plan.facts,
        )
        steps = plan.steps
        at = ""
        try:
            for hold in (*plan.lasting, *plan.holds):
                self._fs.mkdir(hold)
            prepare()
            steps = tuple(_with_inode(step) for step in plan.steps)
            self._journal.add("begin", inodes=[step.inode for step in steps])
            for step in steps:
                at = step.change
                self._do(step)
            at = ""
            self._sync(steps)
            self._journal.add("done", after=finish(steps))
        except OSError as error:
            self._roll_back(steps, (*plan.holds, *plan.lasting), times)
            raise (
                error if isinstance(error, ChangeFaultError) else ChangeFaultError(error, at)
            ) from error
        with contextlib.suppress(OSError):  # done is done; what is left over goes on next start
            self.clean_up(plan.holds)

    def recover(self) -> bool:
        """Take back a transaction that a crash interrupted; True when there was one.

        One that was done is only tidied up. `OSError` when the way back is barred.
        """
        records = self._journal.read()
        if "plan" not in records or "ended" in records:
            return False
        holds = tuple(records["plan"]["holds"])
        if "done" in records:
            self.clean_up(holds)
            return False
        steps = read_steps(records) if "begin" in records else ()
        plan = records["plan"]
        self._roll_back(steps, (*holds, *plan["lasting"]), plan["times"])
        return True

    def clean_up(self, holds: Iterable[str]) -> None:
        """Remove the holding folders, with no trace in the times around them; close the journal."""
        for hold in holds:
            around = parent_of(hold)
            mtime_ns = os.lstat(around).st_mtime_ns
            if remove_tree(hold, self._fs):
                self._fs.utime(around, mtime_ns)
        self._journal.add("ended")

    def _roll_back(
        self, steps: Sequence[Step], holds: Iterable[str], times: dict[str, int]
    ) -> None:
        try:
            for step in reversed(steps):
                self._take_back(step)
            self._sync(steps)
            for folder, mtime_ns in times.items():
                if os.lstat(folder).st_mtime_ns != mtime_ns:
                    self._fs.utime(folder, mtime_ns)
        except OSError as error:
            raise HalfDoneError(
                f"The change failed half-way and could not be taken back yet: {error}",
                hint="Make the disk available again and start the app: it goes on taking back.",
            ) from error
        with contextlib.suppress(OSError):  # all is back; what is left over goes on next start
            self.clean_up(holds)

    def _do(self, step: Step) -> None:
        fs = self._fs
        match step:
            case Place(keep=str() as keep):
                self._put_aside(step, keep)
                fs.rename(step.src, step.dst)
            case Place():
                if os.path.lexists(step.dst):
                    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), step.dst)
                fs.rename(step.src, step.dst)
            case Meta():
                self._set(step, step.mode, step.mtime_ns)

    def _put_aside(self, step: Place, keep: str) -> None:
        """Keep what is at `dst`, by a second name where possible: then it is never missing."""
        if _inode(step.dst) != step.inode and not stat.S_ISDIR(os.lstat(step.src).st_mode):
            try:
                self._fs.link(step.dst, keep)
            except OSError as error:
                if error.errno not in _NO_HARD_LINKS:
                    raise
            else:
                return
        self._fs.rename(step.dst, keep)

    def _take_back(self, step: Step) -> None:
        fs = self._fs
        if isinstance(step, Meta):
            if _inode(step.path) == step.inode:
                self._set(step, step.mode_before, step.mtime_ns_before)
            return
        if _inode(step.dst) == step.inode and not os.path.lexists(step.src):
            fs.rename(step.dst, step.src)
        if step.keep is None or not os.path.lexists(step.keep):
            return
        there = _inode(step.dst)
        if there is None:
            fs.rename(step.keep, step.dst)
        elif there == _inode(step.keep):
            fs.unlink(step.keep)
        else:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), step.dst)

    def _set(self, step: Meta, mode: int | None, mtime_ns: int | None) -> None:
        if mode is not None:
            self._fs.chmod(step.path, mode)
        if mtime_ns is not None:
            self._fs.utime(step.path, mtime_ns)

    def _sync(self, steps: Sequence[Step]) -> None:
        folders = {parent_of(p) for s in steps if isinstance(s, Place) for p in (s.src, s.dst)}
        for folder in sorted(folders):
            self._fs.sync_folder(folder)


def renamed(steps: Iterable[Step]) -> set[str]:
    """The changes (by id) that are one rename of one entry, and no copy."""
    found: dict[str, bool] = {}
    for step in steps:
        is_plain = isinstance(step, Place) and step.keep is None and step.saved is None
        found[step.change] = is_plain and step.change not in found
    return {change for change, is_plain in found.items() if is_plain}


def read_steps(records: dict[str, dict[str, Any]]) -> tuple[Step, ...]:
    """The steps of a journal that got as far as its `begin`, with their inodes."""
    steps: list[Step] = []
    for data, inode in zip(records["plan"]["steps"], records["begin"]["inodes"], strict=True):
        values = {**data, "inode": inode}
        steps.append(Place(**values) if "dst" in data else Meta(**values))
    return tuple(steps)


def _step_to_json(step: Step) -> dict[str, Any]:
    """A step as a plain dict; many thousands of them are written, so not by `asdict`."""
    names = _PLACE_FIELDS if isinstance(step, Place) else _META_FIELDS
    return {name: value for name in names if (value := getattr(step, name)) is not None}


def remove_tree(path: str, fs: FileSystem) -> bool:
    """Delete a folder of ours with all in it, links not followed; False when it is not there."""
    try:
        with os.scandir(path) as listing:
            items = [(item.path, item.is_dir(follow_symlinks=False)) for item in listing]
    except FileNotFoundError:
        return False
    for item, is_dir in items:
        if is_dir:
            fs.chmod(item, 0o700)
            remove_tree(item, fs)
        else:
            fs.unlink(item)
    fs.rmdir(path)
    return True


def _folder_times(plan: Plan) -> dict[str, int]:
    """The times (ns) of the folders that the plan touches, as they are before it."""
    places = [step for step in plan.steps if isinstance(step, Place)]
    paths = {path for step in places for path in (step.src, step.dst)}
    folders = {parent_of(path) for path in (*paths, *plan.holds)}
    times: dict[str, int] = {}
    for path in sorted({*folders, *plan.watched}):
        with contextlib.suppress(OSError):
            st = os.lstat(path)
            if stat.S_ISDIR(st.st_mode):
                times[path] = st.st_mtime_ns
    return times


def _with_inode(step: Step) -> Step:
    """A step whose entry was only now prepared, with what it is recognised by."""
    lies_at = step.src if isinstance(step, Place) else step.prepared
    if step.inode or lies_at is None:
        return step
    return replace(step, inode=os.lstat(lies_at).st_ino)


def _inode(path: str) -> int | None:
    try:
        return os.lstat(path).st_ino
    except (FileNotFoundError, NotADirectoryError):
        return None
