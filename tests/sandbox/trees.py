"""Folders for the tests: building them, and taking a picture of all that must not change."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from sandbox.blobs import BlobStore
from sandbox.changeset import ChangeSet
from sandbox.commit import CommitReport, commit
from sandbox.stage import FolderGrant, Stage
from sandbox.transaction import FileSystem

Picture = dict[str, tuple[int, int, bytes | str | None]]


def picture(folder: Path) -> Picture:
    """Mode, time (ns) and content of everything below, by relative path; links as their text."""
    found: Picture = {}
    for parent, folders, files in os.walk(folder):
        for path in (parent, *(f"{parent}/{name}" for name in (*folders, *files))):
            st = os.lstat(path)
            content: bytes | str | None = None
            if stat.S_ISLNK(st.st_mode):
                content = str(Path(path).readlink())
            elif stat.S_ISREG(st.st_mode):
                content = Path(path).read_bytes()
            found[os.path.relpath(path, folder)] = (st.st_mode, st.st_mtime_ns, content)
    return found


def contents(folder: Path) -> dict[str, bytes | str | None]:
    """Like `picture`, without modes and times."""
    return {path: entry[2] for path, entry in picture(folder).items()}


def build(folder: Path, files: dict[str, bytes | str | None]) -> None:
    """Files by relative path; None makes a folder. Times are old, so that a change shows."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            path.mkdir(exist_ok=True)
        else:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
    for number, path in enumerate(sorted(folder.rglob("*"), reverse=True)):
        if not path.is_symlink():
            os.utime(path, ns=(number, 1_500_000_000_123_456_789 + number))
    os.utime(folder, ns=(0, 1_400_000_000_987_654_321))


@dataclass(slots=True)
class Yard:
    """A granted folder, a stage over it, and where blobs and undo records go."""

    folder: Path
    stage: Stage
    blobs: BlobStore
    undo_folder: Path

    def commit(
        self, changes: ChangeSet | None = None, *, fs: FileSystem | None = None
    ) -> CommitReport:
        """Commit the stage's changes, or those given."""
        return commit(
            self.stage.changes() if changes is None else changes,
            blobs=self.blobs,
            undo_folder=self.undo_folder,
            grants=self.stage.grants,
            fs=fs,
        )

    def restage(self) -> None:
        """A fresh stage over what is on the disk now."""
        self.stage = Stage(self.stage.grants, self.blobs)


def make_yard(
    home: Path, files: dict[str, bytes | str | None], *, folder: Path | None = None
) -> Yard:
    """A yard below `home` whose granted folder holds `files`."""
    home = home.resolve()
    where = folder.resolve() if folder is not None else home / "granted"
    where.mkdir(parents=True, exist_ok=True)
    build(where, files)
    blobs = BlobStore(home / "blobs")
    return Yard(where, Stage([FolderGrant(path=where)], blobs), blobs, home / "undo")


def kinds(changes: ChangeSet, folder: Path) -> list[tuple[str, str, str | None]]:
    """Kind, path and target of each change, relative to `folder`."""
    start = len(str(folder)) + 1
    return [
        (c.kind, c.path[start:], c.target[start:] if c.target is not None else None)
        for c in changes.changes
    ]
