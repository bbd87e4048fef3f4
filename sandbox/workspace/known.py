"""What we know of the files inside a workspace: their state there, and which content that is.

Owns the table and its form on the disk, so that after a restart unchanged files are not sent
again. Losing it costs time, never correctness. Thread: that of the stage.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from sandbox.stage_manifest import Key
from sandbox.workspace.frames import Record

_VERSION = 1


@dataclass(slots=True)
class Known:
    """One entry inside. `key`, `sha256`: of its content, as far as it is known to be ours."""

    inside: Record
    key: Key = ()
    sha256: str = ""


class KnownFiles:
    """Entries by path (``0/folder/file``: the root's number first). `token`: of the last scan."""

    def __init__(self) -> None:
        self.entries: dict[str, Known] = {}
        self.roots: tuple[str, ...] = ()
        self.token = 0

    def __getitem__(self, path: str) -> Known:
        return self.entries[path]

    def __contains__(self, path: object) -> bool:
        return path in self.entries

    def learn(self, found: Mapping[str, Record]) -> None:
        """The inside is as `found`; contents whose state is the same are still known."""
        former = self.entries
        self.entries = {}
        for path, record in found.items():
            known = former.get(path)
            if known is not None and known.inside == record:
                self.entries[path] = known
            else:
                self.entries[path] = Known(record)

    def below(self, path: str) -> Iterator[str]:
        """`path` and all known paths below it."""
        inner = f"{path}/"
        return (name for name in list(self.entries) if name == path or name.startswith(inner))

    def forget(self, path: str) -> None:
        """Nothing is there any more, nor below it."""
        for name in self.below(path):
            del self.entries[name]

    def move(self, path: str, target: str) -> None:
        """What was at `path` and below it is at `target`."""
        for name in list(self.below(path)):
            self.entries[target + name[len(path) :]] = self.entries.pop(name)

    def save(self, file: Path) -> None:
        """Write it down, whole or not at all."""
        rows = [
            [path, *_row(known.inside), list(known.key), known.sha256]
            for path, known in self.entries.items()
        ]
        data = {"version": _VERSION, "roots": self.roots, "rows": rows}
        partial = file.with_name(f"{file.name}.partial")
        partial.write_text(json.dumps(data), encoding="ascii")
        partial.replace(file)

    @classmethod
    def load(cls, file: Path) -> KnownFiles:
        """What was written down; empty when nothing was, or it cannot be read."""
        known = cls()
        try:
            data = json.loads(file.read_text(encoding="ascii"))
            if data["version"] != _VERSION:
                return known
            for path, mode, size, mtime_ns, ctime_ns, inode, link, key, sha256 in data["rows"]:
                record = Record(path, mode, size, mtime_ns, ctime_ns, inode, link)
                known.entries[path] = Known(record, tuple(key), sha256)
            known.roots = tuple(data["roots"])
        except (OSError, ValueError, KeyError, TypeError):
            return cls()
        return known


def _row(record: Record) -> list[object]:
    return [
        record.mode,
        record.size_bytes,
        record.mtime_ns,
        record.ctime_ns,
        record.inode,
        record.link,
    ]
