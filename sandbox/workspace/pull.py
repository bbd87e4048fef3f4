"""Finding out what a command changed inside a workspace.

Owns what counts as moved, changed, new or gone. The inside is a stranger: its names, links and
sizes are data, nothing there is followed, and nothing reaches the disk. Thread: that of the stage.
"""

from __future__ import annotations

import hashlib
import stat
import tempfile
import time
from collections.abc import Iterator, Mapping
from typing import IO, BinaryIO, cast

from sandbox.effects import Effect
from sandbox.names import shown
from sandbox.stage import Stage
from sandbox.workspace.bring import SHOWN_MODES, Changes
from sandbox.workspace.channel import Channel
from sandbox.workspace.errors import WorkspaceLimitError
from sandbox.workspace.frames import Record
from sandbox.workspace.known import KnownFiles

MOST_BYTES = 2 * 1024**3
MOST_ENTRIES = 200_000
_PIECE_BYTES = 1024 * 1024
_SPOOL_BYTES = 1024 * 1024
_CLOCK_NS = 2_000_000_000  # how far the clock inside may be off


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
            elif (former.mode ^ record.mode) & SHOWN_MODES:
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
                    if (known.inside.mode ^ found[path].mode) & SHOWN_MODES:
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

    def content(self, path: str) -> BinaryIO:
        """What was fetched of a file; to be closed by who reads it."""
        spool = self._spools.pop(path)[0]
        spool.seek(0)
        return cast("BinaryIO", spool)

    def close(self) -> None:
        """Forget what was fetched."""
        for spool, _ in self._spools.values():
            spool.close()
        self._spools.clear()

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
