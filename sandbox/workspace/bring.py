"""Telling the stage what a command changed: in an order in which each step can be done.

Owns the steps and what stands in their way (read-only folders and files, which stop nobody inside).
Thread: that of the stage.
"""

from __future__ import annotations

import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import BinaryIO

from sandbox.stage import Stage
from sandbox.stage_arrivals import make_link, put_content
from sandbox.workspace.frames import Record

SHOWN_MODES = 0o777
"""The bits of a stranger that are taken over: no set-user and set-group bits."""


@dataclass(slots=True)
class Changes:
    """What is different inside, by path with the root's number first."""

    moved: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    gone: list[str] = field(default_factory=list[str])
    folders: list[str] = field(default_factory=list[str])
    files: list[str] = field(default_factory=list[str])
    links: list[str] = field(default_factory=list[str])
    modes: list[str] = field(default_factory=list[str])
    times: list[str] = field(default_factory=list[str])
    left_out: list[str] = field(default_factory=list[str])


class Bring:
    """One way into the stage. `disk_paths`: by a root's number, the granted folder.

    `contents`: opens the new content of a file; `digests`: sha256 of what was brought in.
    """

    def __init__(
        self,
        stage: Stage,
        disk_paths: Mapping[str, str],
        contents: Callable[[str], BinaryIO],
    ) -> None:
        self._stage = stage
        self._disk_paths = disk_paths
        self._contents = contents
        self._loosened: dict[str, int] = {}
        self._held: dict[str, str] = {}
        self._refused_paths: set[str] = set()
        self.digests: dict[str, str] = {}

    def bring_in(self, changes: Changes, found: Mapping[str, Record]) -> None:
        """Tell the stage. What it refuses (a folder that may only be read) is in `refused`."""
        for old, new in changes.moved:
            self._try(new, lambda old=old, new=new: self._take_away(old, new))
        steps: tuple[tuple[list[str], Callable[[str, Record | None], None]], ...] = (
            (changes.gone, self._remove),
            (sorted(changes.folders), self._make),
            (sorted(self._held), self._settle),
            (changes.files, self._write),
            (changes.links, self._link),
            (changes.modes, self._mode),
            (sorted(changes.folders, reverse=True), self._mode),
            (sorted(changes.times, reverse=True), self._time),
        )
        for paths, step in steps:
            for path in paths:
                if path not in self._refused_paths:
                    self._try(path, lambda path=path, step=step: step(path, found.get(path)))
        for outside, mode in self._loosened.items():
            if self._stage.is_dir(outside):
                self._stage.chmod(outside, mode)

    def _try(self, path: str, work: Callable[[], None]) -> None:
        try:
            work()
        except PermissionError:
            self._refused_paths.add(path)

    @property
    def refused(self) -> list[str]:
        """What the stage refused, in order of names."""
        return sorted(self._refused_paths)

    def _take_away(self, old: str, new: str) -> None:
        """The first half of a move, and all of it where its place is free and its folder there."""
        source, target = self._now(old), self._now(new)
        self._loosen_parent(source)
        stage = self._stage
        if stage.is_dir(target.rpartition("/")[0]) and not self._is_there(target):
            self._loosen_parent(target)
            stage.rename(source, target)
            return
        root = self._disk_paths[new.partition("/")[0]]
        hold = f"{root}/.drydock-move-{len(self._held)}"
        self._loosen_parent(hold)
        stage.rename(source, hold)
        self._held[new] = hold

    def _settle(self, path: str, _record: Record | None = None) -> None:
        """The second half of a move."""
        hold, target = self._held.pop(path), self._outside(path)
        self._loosen_parent(target)
        if self._is_there(target):
            self._remove(path)
        self._stage.rename(hold, target)

    def _now(self, path: str) -> str:
        """Where an entry is while what it is in may be held."""
        for new, hold in self._held.items():
            if path == new or path.startswith(f"{new}/"):
                return hold + path[len(new) :]
        return self._outside(path)

    def _is_there(self, outside: str) -> bool:
        return self._stage.is_symlink(outside) or self._stage.exists(outside)

    def _remove(self, path: str, _record: Record | None = None) -> None:
        outside = self._outside(path)
        self._loosen_parent(outside)
        if self._stage.is_symlink(outside) or not self._stage.is_dir(outside):
            if self._is_there(outside):
                self._stage.unlink(outside)
            return
        for entry in list(self._stage.scan(outside, max_depth=None)):
            if entry.is_dir and not entry.is_symlink:
                inner = f"{outside}/{entry.path}" if entry.path else outside
                mode = stat.S_IMODE(self._stage.stat(inner).mode)
                if not mode & 0o200:
                    self._stage.chmod(inner, mode | 0o700)
        self._stage.rmtree(outside)

    def _make(self, path: str, _record: Record | None = None) -> None:
        outside = self._outside(path)
        self._loosen_parent(outside)
        self._stage.mkdir(outside, exist_ok=True)

    def _write(self, path: str, record: Record | None) -> None:
        assert record is not None
        outside = self._outside(path)
        self._loosen_parent(outside)
        if self._stage.is_file(outside):
            mode = stat.S_IMODE(self._stage.stat(outside).mode)
            if not mode & 0o222:
                self._stage.chmod(outside, mode | 0o200)
        with self._contents(path) as stream:
            self.digests[path] = put_content(self._stage, outside, stream)
        self._mode(path, record)
        self._time(path, record)

    def _link(self, path: str, record: Record | None) -> None:
        assert record is not None
        outside = self._outside(path)
        self._loosen_parent(outside)
        if self._stage.is_symlink(outside):
            self._stage.unlink(outside)
        make_link(self._stage, outside, record.link or "")

    def _mode(self, path: str, record: Record | None) -> None:
        """Set-user and set-group bits of a stranger are not taken over."""
        assert record is not None
        outside = self._outside(path)
        mode = record.mode & SHOWN_MODES
        if stat.S_IMODE(self._stage.stat(outside, follow=False).mode) & SHOWN_MODES != mode:
            self._stage.chmod(outside, mode)
        self._loosened.pop(outside, None)

    def _time(self, path: str, record: Record | None) -> None:
        assert record is not None
        self._stage.utime(self._outside(path), record.mtime_ns)

    def _loosen_parent(self, outside: str) -> None:
        """Inside, a read-only folder stops nobody: it is opened for the while."""
        parent = outside.rpartition("/")[0]
        if not self._stage.is_dir(parent):
            return
        mode = stat.S_IMODE(self._stage.stat(parent).mode)
        if not mode & 0o222:
            self._stage.chmod(parent, mode | 0o200)
            self._loosened.setdefault(parent, mode)

    def _outside(self, path: str) -> str:
        number, _, rest = path.partition("/")
        root = self._disk_paths[number]
        return f"{root}/{rest}" if rest else root
