"""Whether the disk is still what the stage saw, before anything is applied.

Owns the comparison and its reasons; it changes nothing. Thread: one worker thread; blocks on the
disk.
"""

# ruff: noqa: PTH208
# Plain `os` calls: disk paths are strings with surrogates, as os gives them.

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from sandbox.blobs import CHUNK_BYTES
from sandbox.changeset import Base, Change
from sandbox.disk_names import NameRules, keeps_inodes, rules_of
from sandbox.stage_paths import Boundary, FolderGrant, divided, parent_of
from sandbox.tree import base_of

ConflictReason = Literal[
    "gone",
    "changed",
    "occupied",
    "not-empty",
    "source-changed",
    "outside",
    "same-name",
    "bad-name",
    "needs-another",
    "fault",
]
Choice = Literal["theirs", "ours", "both"]
_HASHED_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """A change that was not applied (or not undone), and why.

    `reason`: "gone", "changed": what the stage saw is not there, or differs; "occupied": something
    else is at the place; "not-empty": a folder has more in it; "source-changed": the file that is
    copied from differs; "outside": a link or missing right leads out of what may be written;
    "same-name": this disk takes the name for that of another change; "bad-name": it does not take
    the name;
    "needs-another": it depends on a change with a conflict; "fault": the disk refused, as the
    message says. `choices`: what a person can choose.
    """

    change_id: str
    path: str
    reason: ConflictReason
    message: str
    choices: tuple[Choice, ...] = ()


_MESSAGES: dict[ConflictReason, str] = {
    "gone": "It is not there any more.",
    "changed": "It was changed by something else meanwhile.",
    "occupied": "Something else is there now.",
    "not-empty": "There is something in the folder that was not there before.",
    "source-changed": "The file that its content comes from was changed meanwhile.",
    "outside": "It is not inside a folder that may be changed.",
    "same-name": "This disk does not tell its name from that of another new file.",
    "bad-name": "This disk does not take the name: a reserved word, a character or its length.",
    "needs-another": "It depends on another change that could not be made.",
}


def conflict(
    change: Change, reason: ConflictReason, path: str | None = None, *, message: str = ""
) -> Conflict:
    """A conflict of `change`; `path` where it is not the change's own.

    `message`: what a fault of the disk said; every other reason has its own words.
    """
    where = path if path is not None else change.path
    text = _MESSAGES.get(reason, message)
    return Conflict(change_id=change.id, path=where, reason=reason, message=text)


class Layout:
    """Where things are on the disk now, against where the changes put them."""

    def __init__(self, changes: Sequence[Change]) -> None:
        self.leaving = {c.path for c in changes if c.kind in ("move", "delete", "rmdir")}
        self._moved_to = {c.target: c.path for c in changes if c.kind == "move" and c.target}
        self._made = {c.path for c in changes if c.kind == "mkdir"}
        self._folders: dict[str, str | None] = {}

    def before(self, final_path: str) -> str | None:
        """The disk's present path for a place; None inside a folder that does not exist yet."""
        folder, name = divided(final_path)
        if folder == final_path:
            return final_path
        now = self._now(folder)
        if now is None:
            return None
        return f"{now}/{name}" if now != "/" else f"/{name}"

    def _now(self, folder: str) -> str | None:
        """Where what will be in `folder` is now; worked out once for all that is in it."""
        if folder not in self._folders:
            if folder in self._moved_to:
                self._folders[folder] = self._moved_to[folder]
            else:
                self._folders[folder] = None if folder in self._made else self.before(folder)
        return self._folders[folder]


class Verifier:
    """Checks changes one by one against the disk."""

    def __init__(self, changes: Sequence[Change], grants: Sequence[FolderGrant]) -> None:
        self._layout = Layout(changes)
        self._boundary = Boundary(grants)
        self._real: dict[str, bool] = {}
        self._rules: dict[str, NameRules] = {}
        self._keys: dict[str, str] = {}
        self._arrivals = self._arriving(changes)

    def check(self, change: Change) -> Conflict | None:
        """The first thing that is wrong with applying `change`, or None."""
        return next(self._problems(change), None)

    def _problems(self, change: Change) -> Iterator[Conflict]:
        final = change.final_path
        if change.base is not None and not self._may_write(change.path, change.path):
            yield conflict(change, "outside")
        if change.kind not in ("delete", "rmdir") and not self._may_write(
            final, self._layout.before(final)
        ):
            yield conflict(change, "outside", final)
        if change.base is not None:
            yield from self._check_base(change, change.path, change.base)
        if change.kind == "rmdir" and not (
            change.with_contents or self._will_be_empty(change.path)
        ):
            yield conflict(change, "not-empty")
        if change.kind in ("create", "mkdir", "move"):
            yield from self._check_name(change)
            yield from self._check_target(change)
        source, base = change.source, change.source_base
        if source is not None and base is not None and difference(source, base) is not None:
            yield conflict(change, "source-changed", source)

    def _check_base(self, change: Change, path: str, base: Base) -> Iterator[Conflict]:
        problem = difference(path, base)
        if problem is not None:
            yield conflict(change, problem, path)

    def _check_target(self, change: Change) -> Iterator[Conflict]:
        place = self._layout.before(change.final_path)
        if change.replaces is not None and change.target_base is not None:
            yield from self._check_base(change, change.replaces, change.target_base)
        elif place is not None and os.path.lexists(place) and not self._leaves(change, place):
            yield conflict(change, "occupied", change.final_path)

    def _check_name(self, change: Change) -> Iterator[Conflict]:
        rules = self._rules_at(change.final_path)
        if rules.fault(change.final_path) is not None:
            yield conflict(change, "bad-name", change.final_path)
        if self._arrivals[self._keys[change.id]] != change.id:
            yield conflict(change, "same-name", change.final_path)

    def _arriving(self, changes: Sequence[Change]) -> dict[str, str]:
        """The first change for each name, as the disk tells names apart."""
        first: dict[str, str] = {}
        for change in changes:
            if change.kind in ("create", "mkdir", "move"):
                key = self._keys[change.id] = self._key(change.final_path)
                first.setdefault(key, change.id)
        return first

    def _key(self, final_path: str) -> str:
        folder, name = divided(final_path)
        return f"{folder}/{self._rules_at(final_path).key(name)}"

    def _leaves(self, change: Change, place: str) -> bool:
        """Whether what is at `place` goes; it may have that name in other capitals only."""
        if place in self._layout.leaving:
            return True
        rules = self._rules_at(change.final_path)
        if not rules.folds_case and not rules.folds_forms:
            return False
        folder, name = divided(place)
        key = rules.key(name)
        splits = (divided(gone) for gone in self._layout.leaving)
        return any(at == folder and rules.key(other) == key for at, other in splits)

    def _rules_at(self, final_path: str) -> NameRules:
        """The rules of the folder, as it is now or of the nearest above it that is there."""
        folder = parent_of(final_path)
        if folder not in self._rules:
            now = self._layout.before(folder)
            if folder in self._boundary.roots:
                now = folder
            if now is None or not os.path.isdir(now):  # noqa: PTH112
                is_top = folder in ("", "/")
                self._rules[folder] = NameRules() if is_top else self._rules_at(folder)
            else:
                self._rules[folder] = rules_of(now)
        return self._rules[folder]

    def _will_be_empty(self, folder: str) -> bool:
        try:
            return all(f"{folder}/{name}" in self._layout.leaving for name in os.listdir(folder))
        except OSError:
            return False

    def _may_write(self, path: str, place: str | None) -> bool:
        """Inside a grant to write, with no link on the way there, as the stage saw it.

        `place`: where that is on the disk now, None inside a folder that does not exist yet.
        """
        if not self._boundary.may_write(path):
            return False
        if place is None:
            return True
        folder = parent_of(place)
        if folder not in self._real:
            self._real[folder] = os.path.realpath(folder) == folder
        return self._real[folder]


def difference(path: str, base: Base) -> Literal["gone", "changed"] | None:
    """How the disk's entry at `path` differs from `base`. A folder's time does not count.

    Neither does the number of its device: it is another one each time a disk is plugged in.
    """
    try:
        st = os.lstat(path)
    except OSError:
        return "gone"
    now = base_of(st)
    same = (now.kind, now.mode) == (base.kind, base.mode)
    same = same and (now.inode == base.inode or not keeps_inodes(now.device))
    if base.kind != "folder":
        same = same and (now.size_bytes, now.mtime_ns) == (base.size_bytes, base.mtime_ns)
    if same and base.sha256 is not None and base.size_bytes <= _HASHED_BYTES:
        same = stat.S_ISREG(st.st_mode) and _digest(path) == base.sha256
    return None if same else "changed"


def _digest(path: str) -> str:
    hasher = hashlib.sha256()
    with open(path, "rb") as stream:  # noqa: PTH123 - a path with surrogates, as os gives it
        while chunk := stream.read(CHUNK_BYTES):
            hasher.update(chunk)
    return hasher.hexdigest()
