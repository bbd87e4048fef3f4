"""Bringing back into the stage what a command changed inside a workspace.

Owns what counts as moved, changed, new or gone, and the order in which the stage is told. The
inside is a stranger: its names, links and sizes are data, nothing there is followed, and nothing
reaches the disk. Thread: that of the stage.
"""

from __future__ import annotations

import hashlib
import stat
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import IO

from sandbox.effects import Effect
from sandbox.names import shown
from sandbox.stage import Stage
from sandbox.stage_links import make_link
from sandbox.workspace.channel import Channel
from sandbox.workspace.errors import WorkspaceLimitError
from sandbox.workspace.frames import Record
from sandbox.workspace.known import KnownFiles

MOST_BYTES = 2 * 1024**3
MOST_ENTRIES = 200_000
_PIECE_BYTES = 1024 * 1024
_SPOOL_BYTES = 1024 * 1024
_SHOWN_MODES = 0o777
_CLOCK_NS = 2_000_000_000  # how far the clock inside may be off


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

    @property
    def is_empty(self) -> bool:
        """Whether the stage has nothing to be told."""
        return not (
            self.moved
            or self.gone
            or self.folders
            or self.files
            or self.links
            or self.modes
            or self.times
        )


class Pull:
    """One way out. `disk_paths`: by a root's number, the granted folder.

    `since_ns`: when the command began; folders whose time is earlier were given it.
    """

    def __init__(
        self,
        channel: Channel,
        stage: Stage,
        known: KnownFiles,
        places: Mapping[str, str],
        disk_paths: Mapping[str, str],
        since_ns: int,
    ) -> None:
        self._channel = channel
        self._stage = stage
        self._known = known
        self._places = places
        self._disk_paths = disk_paths
        self._since_ns = since_ns - _CLOCK_NS
        self._spools: dict[str, tuple[IO[bytes], str]] = {}
        self._loosened: dict[str, int] = {}
        self._refused_paths: set[str] = set()
        self.contents: dict[str, str] = {}

    # What is different

    def compare(self, found: Mapping[str, Record]) -> Changes:
        """The changes; fetches what may have new content. `known` follows the moves."""
        if len(found) > MOST_ENTRIES:
            raise WorkspaceLimitError(
                f"The command left more than {MOST_ENTRIES:,} files in the folders.",
                hint="Make them outside the folders, for example below /root.",
            )
        changes = Changes()
        self._find_moves(found, changes)
        gone = [path for path in self._known.entries if path not in found]
        gone += [
            path
            for path, known in self._known.entries.items()
            if path in found and stat.S_IFMT(found[path].mode) != stat.S_IFMT(known.inside.mode)
        ]
        changes.gone = _topmost(gone)
        for path, record in found.items():
            self._compare_entry(path, record, changes)
        self._fetch(found, changes)
        self._find_folder_times(found, changes)
        return changes

    def _compare_entry(self, path: str, record: Record, changes: Changes) -> None:
        known = self._known.entries.get(path)
        if known is not None and known.inside == record:
            return
        kind = stat.S_IFMT(record.mode)
        former = known.inside if known and stat.S_IFMT(known.inside.mode) == kind else None
        if kind == stat.S_IFDIR:
            if former is None:
                changes.folders.append(path)
            elif (former.mode ^ record.mode) & _SHOWN_MODES:
                changes.modes.append(path)
        elif kind == stat.S_IFREG:
            changes.files.append(path)
        elif kind == stat.S_IFLNK:
            if former is None or former.link != record.link:
                changes.links.append(path)
        else:
            changes.left_out.append(path)

    def _find_moves(self, found: Mapping[str, Record], changes: Changes) -> None:
        """Folders first, the topmost first: what is below moves along."""
        while True:
            gone = {
                (known.inside.inode, stat.S_IFMT(known.inside.mode)): path
                for path, known in reversed(self._known.entries.items())
                if path not in found
            }
            if not gone:
                return
            for path, record in found.items():
                if path in self._known:
                    continue
                former = gone.get((record.inode, stat.S_IFMT(record.mode)))
                if former is not None and self._is_moved(former, path, found):
                    changes.moved.append((former, path))
                    self._known.move(former, path)
                    break
            else:
                return

    def _is_moved(self, former: str, path: str, found: Mapping[str, Record]) -> bool:
        """Whether it is the same entry: the number of one that is gone is soon used again."""
        if path.startswith(f"{former}/"):
            return False
        before, now = self._known[former].inside, found[path]
        if not stat.S_ISDIR(before.mode):
            return (before.mtime_ns, before.size_bytes, before.link) == (
                now.mtime_ns,
                now.size_bytes,
                now.link,
            )
        for name in self._known.below(former):
            inner = self._known[name].inside
            there = found.get(path + name[len(former) :])
            if name != former and there is not None and there.inode == inner.inode:
                return True
        return False

    def _fetch(self, found: Mapping[str, Record], changes: Changes) -> None:
        """The content of what may have changed; what has not is a matter of mode and time."""
        total = sum(found[path].size_bytes for path in changes.files)
        if total > MOST_BYTES:
            raise WorkspaceLimitError(
                f"The command left {total:,} new bytes in the folders; at most {MOST_BYTES:,}.",
                hint="Write large files outside the folders, for example below /root.",
            )
        new: list[str] = []
        for path in changes.files:
            known = self._known.entries.get(path)
            spool, digest = self._content(path, found[path].size_bytes)
            if known is not None and stat.S_ISREG(known.inside.mode) and path not in changes.gone:
                before = known.sha256 or self._staged_digest(path)
                if before == digest:
                    spool.close()
                    self.contents[path] = digest
                    if (known.inside.mode ^ found[path].mode) & _SHOWN_MODES:
                        changes.modes.append(path)
                    if known.inside.mtime_ns != found[path].mtime_ns:
                        changes.times.append(path)
                    continue
            self._spools[path] = (spool, digest)
            new.append(path)
        changes.files = new

    def _content(self, path: str, size_bytes: int) -> tuple[IO[bytes], str]:
        spool = tempfile.SpooledTemporaryFile(max_size=_SPOOL_BYTES)  # noqa: SIM115 - closed later
        hasher = hashlib.sha256()

        def add(data: bytes) -> None:
            hasher.update(data)
            spool.write(data)

        self._channel.get(self._inside(path), add, most=size_bytes)
        return spool, hasher.hexdigest()

    def _staged_digest(self, path: str) -> str:
        try:
            return self._stage.sha256(self._outside(path))
        except OSError:
            return ""

    def _find_folder_times(self, found: Mapping[str, Record], changes: Changes) -> None:
        """A folder's time counts where it was given, not where a name in it came or went."""
        for path, record in found.items():
            if not stat.S_ISDIR(record.mode) or "/" not in path:
                continue
            known = self._known.entries.get(path)
            if known is not None and known.inside.mtime_ns == record.mtime_ns:
                continue
            if not self._since_ns <= record.mtime_ns <= time.time_ns() + _CLOCK_NS:
                changes.times.append(path)

    # What that means

    def effects(self, changes: Changes, found: Mapping[str, Record]) -> list[Effect]:
        """The effects that bringing `changes` in has."""
        effects = [
            Effect(kind="move", path=self._shown(old), target=self._shown(new), folder=folder)
            for old, new in changes.moved
            for folder in [new in found and stat.S_ISDIR(found[new].mode)]
        ]
        for top in changes.gone:
            for path in self._known.below(top):
                is_folder = stat.S_ISDIR(self._known[path].inside.mode)
                effects.append(Effect(kind="delete", path=self._shown(path), folder=is_folder))
        effects += [
            Effect(kind="create", path=self._shown(path), folder=True) for path in changes.folders
        ]
        for path in changes.files:
            is_new = path not in self._known or path in changes.gone
            effects.append(
                Effect(
                    kind="create" if is_new else "modify",
                    path=self._shown(path),
                    size_bytes=found[path].size_bytes,
                )
            )
        effects += [Effect(kind="create", path=self._shown(path)) for path in changes.links]
        effects += [
            Effect(kind="modify", path=self._shown(path))
            for path in dict.fromkeys([*changes.modes, *changes.times])
        ]
        return effects

    # Bringing it in

    def bring_in(self, changes: Changes, found: Mapping[str, Record]) -> None:
        """Tell the stage. What it refuses (a folder that may only be read) is in `refused`."""
        for old, new in changes.moved:
            self._try(new, lambda old=old, new=new: self._move(old, new))
        steps: tuple[tuple[list[str], Callable[[str, Record | None], None]], ...] = (
            (changes.gone, self._remove),
            (sorted(changes.folders), self._make),
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

    def close(self) -> None:
        """Forget what was fetched."""
        for spool, _ in self._spools.values():
            spool.close()
        self._spools.clear()

    def _try(self, path: str, work: Callable[[], None]) -> None:
        try:
            work()
        except PermissionError:
            self._refused_paths.add(path)

    @property
    def refused(self) -> list[str]:
        """What the stage refused, in order of names."""
        return sorted(self._refused_paths)

    def _move(self, old: str, new: str) -> None:
        source, target = self._outside(old), self._outside(new)
        self._loosen_parent(source)
        self._loosen_parent(target)
        if self._stage.is_file(target) or self._stage.is_symlink(target):
            self._stage.unlink(target)
        self._stage.rename(source, target)

    def _remove(self, path: str, _record: Record | None = None) -> None:
        outside = self._outside(path)
        self._loosen_parent(outside)
        if self._stage.is_symlink(outside) or not self._stage.is_dir(outside):
            if self._stage.is_symlink(outside) or self._stage.exists(outside):
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
        self._stage.mkdir(outside)

    def _write(self, path: str, record: Record | None) -> None:
        assert record is not None
        outside = self._outside(path)
        self._loosen_parent(outside)
        if self._stage.is_file(outside):
            mode = stat.S_IMODE(self._stage.stat(outside).mode)
            if not mode & 0o222:
                self._stage.chmod(outside, mode | 0o200)
        spool, digest = self._spools[path]
        spool.seek(0)
        self._stage.write_bytes(outside, spool.read(_PIECE_BYTES))
        while data := spool.read(_PIECE_BYTES):
            self._stage.append_bytes(outside, data)
        self.contents[path] = digest
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
        mode = record.mode & _SHOWN_MODES
        if stat.S_IMODE(self._stage.stat(outside, follow=False).mode) & _SHOWN_MODES != mode:
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

    def _inside(self, path: str) -> str:
        number, _, rest = path.partition("/")
        return f"{self._places[number]}/{rest}" if rest else self._places[number]

    def _outside(self, path: str) -> str:
        number, _, rest = path.partition("/")
        root = self._disk_paths[number]
        return f"{root}/{rest}" if rest else root

    def _shown(self, path: str) -> str:
        return shown(self._outside(path))


def _topmost(paths: list[str]) -> list[str]:
    """Those of `paths` that are below none of the others."""
    every = set(paths)
    return [path for path in paths if not any(above in every for above in _above(path))]


def _above(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path
