"""From a change set to the steps of a transaction.

Owns the order of the steps: new folders whose place is free; then everything that leaves its place,
deepest first; then everything that arrives, from the top down; modes and times last. What cannot go
to its place at once (a swap of two names, a folder that is still to come) waits in a holding
folder. Reads the disk, changes nothing. Thread: one worker thread.
"""

# ruff: noqa: PTH112, PTH116
# Plain `os` calls: disk paths are strings with surrogates, as os gives them.

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from sandbox.changeset import Change
from sandbox.stage_paths import Boundary, parent_of
from sandbox.transaction import Meta, Place, Step
from sandbox.verify import Layout

HELD = "held"
SAVED = "saved"
_TRAVERSABLE = 0o300  # a folder that names can be put into, by its owner


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation:
    """Something to make ready in a holding folder before anything is touched.

    Kinds: new `content` of a file, a new `folder`, a `copy` of `origin` for a move to another
    device, a copy of `origin` to be `saved` for undo.
    """

    kind: Literal["content", "folder", "copy", "saved"]
    change: Change
    path: str
    origin: str | None = None
    skip: frozenset[str] = frozenset()


@dataclass(slots=True)
class Draft:
    """A plan in the making."""

    steps: list[Step] = field(default_factory=list[Step])
    preparations: list[Preparation] = field(default_factory=list[Preparation])
    holds: dict[int, str] = field(default_factory=dict[int, str])


class Planner:
    """Builds the steps for changes that fit together and were verified.

    `undo_folder`: put-aside originals go below it where it is on their device; `token`: names the
    passing holding folders in the granted folders; `apart`: use those even on the same device.
    """

    def __init__(
        self,
        changes: Sequence[Change],
        boundary: Boundary,
        *,
        undo_folder: str,
        token: str,
        apart: bool,
    ) -> None:
        self._changes = changes
        self._boundary = boundary
        self._layout = Layout(changes)
        self._replaced = {change.replaces for change in changes if change.replaces is not None}
        self._undo_folder = undo_folder
        self._token = token
        self._own_device = -1 if apart else os.stat(undo_folder).st_dev
        self._stable: dict[str, bool] = {}
        self._device: dict[str, int] = {}
        self._lies_on: dict[str, int] = {}
        self._ready: dict[str, str] = {}
        self._near: dict[int, str] = {}
        self._opened: dict[str, int] = {}
        self._count = 0
        self.draft = Draft()

    def plan(self) -> Draft:
        """All steps, in order, and what has to be prepared for them."""
        for change in self._changes:
            if self._opens_folder(change):
                self._set_metadata(change, change.path)
        makes = sorted((c for c in self._changes if c.kind == "mkdir"), key=_final_depth)
        arriving: list[tuple[Change, Place | None]] = [
            (change, None) for change in makes if not self._make_at_once(change)
        ]
        arriving.extend(self._leave_all())
        for change, waiting in sorted(arriving, key=lambda item: _final_depth(item[0])):
            self._arrive(change, waiting)
        for change in self._changes:
            if change.has_new_content:
                self._write(change)
        for change in sorted(self._changes, key=lambda c: -_final_depth(c)):
            if not self._opens_folder(change):
                self._set_metadata(change, change.final_path)
        return self.draft

    def _leave_all(self) -> list[tuple[Change, Place | None]]:
        """Take everything that goes from its place, deepest first; returns the moves that wait."""
        leaving = [c for c in self._changes if c.kind in ("move", "delete", "rmdir")]
        for change in leaving:
            self._open(change)
        halves = [(c, self._leave(c)) for c in sorted(leaving, key=lambda c: -c.path.count("/"))]
        return [(change, waiting) for change, waiting in halves if waiting is not None]

    def _make_at_once(self, change: Change) -> bool:
        folder = parent_of(change.path)
        if not self._is_stable(folder) or os.path.lexists(change.path):
            return False
        self._arrive(change, None)
        self._stable[change.path] = True
        return True

    def _leave(self, change: Change) -> Place | None:
        """The steps that take an entry away; for a move that has to wait, its second half."""
        device = self._device_of(change)
        if change.kind != "move" or change.target is None:
            self._discard(change, change.path, device)
            return None
        if device != self._device_at(change.target):
            copy = self._hold(self._device_at(change.target))
            skip = frozenset(self._layout.leaving - {change.path})
            self.draft.preparations.append(
                Preparation(kind="copy", change=change, path=copy, origin=change.path, skip=skip)
            )
            self._discard(change, change.path, device)
            return Place(change=change.id, src=copy, dst=change.target)
        inode = change.base.inode if change.base else 0
        place = Place(change=change.id, src=change.path, dst=change.target, inode=inode)
        folder = parent_of(change.target)
        is_free = not os.path.lexists(change.target) or change.replaces == change.target
        if self._is_stable(folder) and is_free:
            self.draft.steps.append(self._keeping(place, change))
            return None
        limbo = self._hold(device)
        self.draft.steps.append(Place(change=change.id, src=change.path, dst=limbo, inode=inode))
        return Place(change=change.id, src=limbo, dst=change.target, inode=inode)

    def _open(self, change: Change) -> None:
        """A read-only folder of one's own has to be opened before it, or what is in it, can go."""
        base = change.base
        if base is None or base.kind != "folder" or base.mode & stat.S_IWUSR:
            return
        if hasattr(os, "geteuid") and os.lstat(change.path).st_uid != os.geteuid():
            return
        before = stat.S_IMODE(base.mode)
        self._opened[change.id] = before | stat.S_IRWXU
        self.draft.steps.append(
            Meta(
                change=change.id,
                path=change.path,
                inode=base.inode,
                mode_before=before,
                mode=before | stat.S_IRWXU,
            )
        )

    def _discard(self, change: Change, path: str, device: int) -> None:
        """Put an entry aside for good."""
        inode = change.base.inode if change.base else 0
        keep = self._hold(device)
        saved = self._save(change, path, device)
        self.draft.steps.append(
            Place(change=change.id, src=path, dst=keep, inode=inode, saved=saved)
        )

    def _arrive(self, change: Change, waiting: Place | None) -> None:
        """Put a folder or something that waited into its place."""
        if waiting is not None:
            self.draft.steps.append(self._keeping(waiting, change))
            return
        ready = self._hold(self._device_at(change.path))
        self.draft.preparations.append(Preparation(kind="folder", change=change, path=ready))
        place = Place(change=change.id, src=ready, dst=change.path)
        self.draft.steps.append(self._keeping(place, change))
        self._ready[change.id] = ready

    def _write(self, change: Change) -> None:
        """Put new content into its place, over the old where there was one."""
        device = self._device_at(change.final_path)
        ready = self._hold(device)
        self.draft.preparations.append(Preparation(kind="content", change=change, path=ready))
        place = Place(change=change.id, src=ready, dst=change.final_path)
        if change.kind != "create":
            saved = self._save(change, change.path, device)
            place = replace(place, keep=self._hold(device), saved=saved)
        elif change.replaces is not None:
            place = self._keeping(place, change)
        self.draft.steps.append(place)

    def _keeping(self, place: Place, change: Change) -> Place:
        """`place`, with what it replaces put aside."""
        if change.replaces is None:
            return place
        device = self._device_at(place.dst)
        saved = self._save(change, change.replaces, device)
        return replace(place, keep=self._hold(device), saved=saved)

    def _set_metadata(self, change: Change, path: str) -> None:
        mode, before = change.mode, change.base and stat.S_IMODE(change.base.mode)
        if change.kind == "move" and change.id in self._opened:
            mode = before if mode is None else mode
            before = self._opened[change.id]
        if change.has_new_content or (mode is None and change.mtime_ns is None):
            return
        if change.kind == "mkdir":
            if _is_open(change.mode) and change.mtime_ns is None:
                return
            ready = self._ready[change.id]
            step = Meta(change=change.id, path=path, prepared=ready, mode_before=0o700)
        elif change.base is not None:
            step = Meta(
                change=change.id,
                path=path,
                inode=change.base.inode,
                mode_before=before if mode is not None else None,
                mtime_ns_before=change.base.mtime_ns if change.mtime_ns is not None else None,
            )
        else:
            return
        self.draft.steps.append(replace(step, mode=mode, mtime_ns=change.mtime_ns))

    @staticmethod
    def _opens_folder(change: Change) -> bool:
        """A folder that gets the rights under which the rest can happen: before everything else."""
        is_folder = change.base is not None and change.base.kind == "folder"
        gets_mode = change.mode is not None and change.mtime_ns is None
        return change.kind == "mode" and is_folder and gets_mode and _is_open(change.mode)

    def _is_stable(self, folder: str) -> bool:
        """Whether a folder is there now and stays where it is."""
        known = self._stable.get(folder)
        if known is None:
            is_root = folder in self._boundary.roots
            goes = folder in self._layout.leaving or folder in self._replaced
            stays = not goes and os.path.isdir(folder)
            known = stays and (is_root or self._is_stable(parent_of(folder)))
            self._stable[folder] = known
        return known

    def _save(self, change: Change, path: str, device: int) -> str | None:
        """A copy for undo of what will lie in a holding folder that does not last."""
        if device == self._own_device:
            return None
        self._count += 1
        saved = f"{self._undo_folder}/{SAVED}/{self._count}"
        skip = frozenset(self._layout.leaving - {path})
        self.draft.preparations.append(
            Preparation(kind="saved", change=change, path=saved, origin=path, skip=skip)
        )
        return saved

    def _hold(self, device: int) -> str:
        """A fresh name in the holding folder of a device."""
        if device not in self.draft.holds:
            self.draft.holds[device] = self._hold_folder(device)
        self._count += 1
        return f"{self.draft.holds[device]}/{self._count}"

    def _hold_folder(self, device: int) -> str:
        if device == self._own_device:
            return f"{self._undo_folder}/{HELD}"
        top = self._near[device]
        while top not in self._boundary.roots:
            above = parent_of(top)
            if os.stat(above).st_dev != device:
                break
            top = above
        return f"{top}/.drydock-{self._token}"

    def _device_of(self, change: Change) -> int:
        """The device that an entry lies on: that of its folder, since a mount cannot move."""
        folder = parent_of(change.path)
        device = self._lies_on.get(folder)
        if device is None:
            device = self._lies_on[folder] = os.stat(folder).st_dev
            self._near.setdefault(device, folder)
        return device

    def _device_at(self, final_path: str) -> int:
        """The device on which an entry at `final_path` will be."""
        folder = parent_of(final_path)
        if folder not in self._device:
            now = self._layout.before(folder)
            if folder in self._boundary.roots:
                now = folder
            if now is None or not os.path.isdir(now):
                self._device[folder] = self._device_at(folder)
            else:
                device = os.stat(now).st_dev
                self._near.setdefault(device, now)
                self._device[folder] = device
        return self._device[folder]


def _final_depth(change: Change) -> int:
    return change.final_path.count("/")


def _is_open(mode: int | None) -> bool:
    return mode is not None and mode & _TRAVERSABLE == _TRAVERSABLE
