"""What a commit removed, put into the system's bin too, where a person may look for it.

Owns the entries in the bin. The undo folder keeps everything as before, so undo works whatever
becomes of the bin; where the system lets it, undo takes its entries out again. On Linux the entries
are written by Drydock itself, with the path that each had, and share their blocks with the undo
folder; elsewhere the system is asked. Thread: one worker thread; blocks on the disk.
"""

# ruff: noqa: PTH111, PTH118
# Plain `os` calls: disk paths are strings with surrogates, as os gives them.

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

from sandbox.changeset import Change
from sandbox.commit_content import copy_entry
from sandbox.kept import KeptContents
from sandbox.reversal import latest
from sandbox.stage_paths import parent_of
from sandbox.transaction import FileSystem

_RECORD = "bin.json"
_NAMES = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Removed:
    """An entry for the bin: the path that it had, and the removed entries below it."""

    path: str
    inner: tuple[Change, ...]


def put_into_bin(undo_folder: Path) -> int:
    """Put what the commit kept in `undo_folder` removed into the bin; how many entries.

    Folders go as one entry, with all that was removed in them. OSError when the bin cannot take
    them; what is there then is recorded.
    """
    done = latest(undo_folder)
    if done is None or done.is_undo:
        return 0
    kept = KeptContents(undo_folder)
    made: list[list[str]] = []
    try:
        for removed in _removed(done.changes):
            entry = _put(removed, kept, undo_folder)
            if entry is not None:
                made.append(entry)
    finally:
        if made:
            text = json.dumps(made)
            (undo_folder / _RECORD).write_text(text, encoding="ascii")
    return len(made)


def take_out_of_bin(undo_folder: Path) -> None:
    """Remove the entries that `put_into_bin` made and that are still there."""
    record = undo_folder / _RECORD
    with contextlib.suppress(OSError, ValueError):
        entries: list[list[str]] = json.loads(record.read_text(encoding="ascii"))
        for place, info in (entry for entry in entries if len(entry) == 2):
            with contextlib.suppress(OSError):
                os.unlink(info)  # noqa: PTH108
                if os.path.isdir(place) and not os.path.islink(place):  # noqa: PTH112, PTH114
                    shutil.rmtree(place)
                else:
                    os.unlink(place)  # noqa: PTH108
        record.unlink()


def _removed(changes: Sequence[Change]) -> Iterator[_Removed]:
    """The topmost of what was deleted, each with what was deleted in it."""
    gone = {change.path: change for change in changes if change.kind in ("delete", "rmdir")}
    below: dict[str, list[Change]] = {}
    for path, change in gone.items():
        top = path
        while parent_of(top) in gone:
            top = parent_of(top)
        below.setdefault(top, []).append(change)
    for top, inner in below.items():
        yield _Removed(path=top, inner=tuple(sorted(inner, key=lambda c: c.path)))


def _put(removed: _Removed, kept: KeptContents, undo_folder: Path) -> list[str] | None:
    """One entry; where it lies and what describes it, or nothing where only the system knows."""
    if sys.platform in ("win32", "darwin"):
        return _put_by_system(removed, kept, undo_folder)
    folder = _home_bin()
    name = removed.path[removed.path.rfind("/") + 1 :]
    for number in range(1, _NAMES):
        free = name if number == 1 else f"{name}.{number}"
        info = f"{folder}/info/{free}.trashinfo"
        place = f"{folder}/files/{free}"
        if os.path.lexists(place):
            continue
        try:
            handle = os.open(info, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            continue
        with os.fdopen(handle, "wb") as out:
            out.write(_description(removed.path))
        _copy_all(removed, kept, place)
        return [place, info]
    return None


def _description(path: str) -> bytes:
    """Source: the Trash specification of freedesktop.org, version 1.0."""
    when = datetime.now().astimezone().strftime("%Y-%m-%dT%H:%M:%S")
    where = quote(os.fsencode(path), safe="/")
    return f"[Trash Info]\nPath={where}\nDeletionDate={when}\n".encode("ascii")


def _home_bin() -> str:
    base = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    folder = os.path.join(base, "Trash")
    for name in ("files", "info"):
        Path(folder, name).mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def _put_by_system(removed: _Removed, kept: KeptContents, undo_folder: Path) -> list[str] | None:
    from send2trash import send2trash

    folder = undo_folder / "for-bin"
    folder.mkdir(exist_ok=True)
    place = f"{folder}/{removed.path[removed.path.rfind('/') + 1 :]}"
    _copy_all(removed, kept, place)
    send2trash(place)
    return []


def _copy_all(removed: _Removed, kept: KeptContents, place: str) -> None:
    """The removed entries at `place`, from where undo keeps them; folders first."""
    fs = FileSystem()
    folders: list[tuple[Change, str]] = []
    for change in removed.inner:
        source = kept.aside(change)
        target = place + change.path[len(removed.path) :]
        if source is None:
            continue
        if change.kind == "rmdir":
            fs.mkdir(target)
            folders.append((change, target))
            continue
        try:
            fs.link(source, target)
        except OSError:  # another device, or no hard links there
            copy_entry(source, target, frozenset(), fs)
    for change, target in reversed(folders):
        if change.base is not None:  # what was put aside lost its time when its entries left
            fs.chmod(target, stat.S_IMODE(change.base.mode))
            fs.utime(target, change.base.mtime_ns)
