"""Making the files inside a workspace what the stage has: the difference, and sending it.

Owns what is sent, and in which order. Content that the inside has already is moved or left, never
sent again. Thread: that of the stage.
"""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Callable, Mapping
from typing import BinaryIO

from sandbox.errors import StoppedError
from sandbox.stage_manifest import ManifestEntry
from sandbox.workspace.channel import Channel
from sandbox.workspace.frames import Batch
from sandbox.workspace.known import Known, KnownFiles

_MODES = 0o7777


class Push:
    """One way in. `sent_bytes`: of contents; `changed`: whether anything was done inside."""

    def __init__(
        self,
        channel: Channel,
        known: KnownFiles,
        places: Mapping[str, str],
        stopped: Callable[[], bool],
    ) -> None:
        """`places`: by a root's number, the folder inside."""
        self._channel = channel
        self._known = known
        self._places = places
        self._stopped = stopped
        self._batch = Batch()
        self._touched: set[str] = set()
        self._keys: dict[str, tuple[tuple[object, ...], str]] = {}
        self._skipped: list[str] = []
        self.changed = False
        self.sent_bytes = 0

    @property
    def skipped(self) -> list[str]:
        """Files that could not be read here, and so are not there."""
        return self._skipped

    def run(self, wanted: Mapping[str, ManifestEntry]) -> None:
        """Make the inside be `wanted`."""
        self._move_and_remove(wanted)
        for path, entry in wanted.items():
            self._place(path, entry)
        self._settle_folders(wanted)
        self._flush()

    def contents(self) -> dict[str, tuple[tuple[object, ...], str]]:
        """Key and sha256 of what was sent or moved, by path."""
        return self._keys

    def _move_and_remove(self, wanted: Mapping[str, ManifestEntry]) -> None:
        """What is elsewhere now is moved there; what is nowhere any more goes."""
        gone = [path for path in self._known.entries if path not in wanted]
        if not gone:
            return
        by_key = {self._known[path].key: path for path in gone if self._known[path].key}
        for path, entry in wanted.items():
            if path in self._known or not entry.key or entry.key not in by_key:
                continue
            former = by_key.pop(entry.key)
            if self._known[former].inside.size_bytes != entry.size_bytes:
                continue
            self._do()
            self._batch.move(self._inside(former), self._inside(path))
            self._note_parent(former)
            self._note_parent(path)
            self._known.move(former, path)
            self._keys[path] = (self._known[path].key, self._known[path].sha256)
        for path in gone:
            if path in self._known:  # else it went with a folder above it, or was moved
                self._remove(path)

    def _remove(self, path: str) -> None:
        self._do()
        self._batch.remove(self._inside(path))
        self._note_parent(path)
        self._known.forget(path)

    def _place(self, path: str, entry: ManifestEntry) -> None:
        known = self._known.entries.get(path)
        if known is not None and stat.S_IFMT(known.inside.mode) != stat.S_IFMT(entry.mode):
            self._remove(path)
            known = None
        inside = None if known is None else known.inside
        if entry.link is not None:
            if inside is None or inside.link != entry.link:
                self._do()
                self._batch.link(self._inside(path), entry.link)
                self._batch.time(self._inside(path), entry.mtime_ns)
                self._note_parent(path)
            return
        if stat.S_ISDIR(entry.mode):
            if inside is None:
                self._do()
                self._batch.make_folder(self._inside(path), 0o700)
                self._touched.add(path)
                self._note_parent(path)
            elif _differs(known, entry):
                self._touched.add(path)
            return
        if known is None or known.key != entry.key:
            self._content(path, entry)
        elif _differs(known, entry):
            self._metadata(path, entry)

    def _content(self, path: str, entry: ManifestEntry) -> None:
        """Send a file, unless the inside has these very bytes."""
        assert entry.open is not None
        known = self._known.entries.get(path)
        try:
            with entry.open() as stream:
                if known is not None and known.sha256 and self._is_same(stream, known.sha256):
                    digest = known.sha256
                else:
                    digest = self._send(path, stream)
        except (PermissionError, FileNotFoundError):
            self._skipped.append(path)
            if known is not None:
                self._remove(path)
            return
        self._keys[path] = (entry.key, digest)
        is_same = known is not None and known.sha256 == digest
        if not is_same or _differs(known, entry):
            self._metadata(path, entry)

    def _is_same(self, stream: BinaryIO, sha256: str) -> bool:
        hasher = hashlib.sha256()
        while data := stream.read(Batch.PIECE_BYTES):
            hasher.update(data)
        stream.seek(0)
        return hasher.hexdigest() == sha256

    def _send(self, path: str, stream: BinaryIO) -> str:
        hasher = hashlib.sha256()
        offset = 0
        place = self._inside(path)
        if path in self._known and not self._known[path].inside.mode & 0o200:
            self._batch.mode(place, 0o600)
        if path not in self._known:
            self._note_parent(path)
        while True:
            data = stream.read(Batch.PIECE_BYTES)
            if not data and offset:
                return hasher.hexdigest()
            hasher.update(data)
            self._do()
            self._batch.write(place, offset, data)
            offset += len(data)
            self.sent_bytes += len(data)
            if len(data) < Batch.PIECE_BYTES:
                return hasher.hexdigest()
            self._flush_full()

    def _metadata(self, path: str, entry: ManifestEntry) -> None:
        self._do()
        if path in self._known and entry.key:
            self._keys.setdefault(path, (self._known[path].key, self._known[path].sha256))
        self._batch.mode(self._inside(path), stat.S_IMODE(entry.mode))
        self._batch.time(self._inside(path), entry.mtime_ns)

    def _settle_folders(self, wanted: Mapping[str, ManifestEntry]) -> None:
        """Folders get mode and time last, the deepest first: what came into them is there."""
        for path in sorted(self._touched & wanted.keys(), key=lambda p: -p.count("/")):
            self._metadata(path, wanted[path])

    def _note_parent(self, path: str) -> None:
        if "/" in path:
            self._touched.add(path.rpartition("/")[0])

    def _inside(self, path: str) -> str:
        number, _, rest = path.partition("/")
        return f"{self._places[number]}/{rest}" if rest else self._places[number]

    def _do(self) -> None:
        self.changed = True

    def _flush_full(self) -> None:
        if self._batch.full_bodies:
            self._flush()

    def _flush(self) -> None:
        if self._stopped():
            raise StoppedError
        self._channel.apply(self._batch)


def _differs(known: Known | None, entry: ManifestEntry) -> bool:
    """Whether mode or time inside are not the wanted ones."""
    if known is None:
        return True
    inside = known.inside
    return inside.mtime_ns != entry.mtime_ns or bool((inside.mode ^ entry.mode) & _MODES)
