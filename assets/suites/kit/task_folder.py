"""A task's folder: writing the fixture, remembering it, and comparing it with what is wanted.

Owns the strict part of every verifier: after a task the folder holds exactly the wanted files with
the wanted contents, and nothing else was touched. It must not know any single task. Thread: any.
"""

from __future__ import annotations

import csv
import io
import os
import stat
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

type Check = Callable[[bytes], str | None]
"""Judges a new file's content: None when it is right, else the reason."""

CENT = 0.0051  # amounts that differ by less are the same amount


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What a folder held. Paths are relative, with forward slashes; contents in bytes."""

    files: Mapping[str, bytes]
    modes: Mapping[str, int]
    mtimes_s: Mapping[str, float]
    folders: frozenset[str]

    @classmethod
    def take(cls, folder: Path) -> Snapshot:
        """Read the whole of `folder`; links are not followed."""
        files: dict[str, bytes] = {}
        modes: dict[str, int] = {}
        mtimes_s: dict[str, float] = {}
        folders: set[str] = set()
        for place, folder_names, file_names in os.walk(folder):
            base = Path(place)
            folders.update((base / name).relative_to(folder).as_posix() for name in folder_names)
            for name in file_names:
                path = base / name
                key = path.relative_to(folder).as_posix()
                info = path.lstat()
                files[key] = path.read_bytes() if stat.S_ISREG(info.st_mode) else b""
                modes[key] = stat.S_IMODE(info.st_mode)
                mtimes_s[key] = info.st_mtime
        return cls(files=files, modes=modes, mtimes_s=mtimes_s, folders=frozenset(folders))


def put(folder: Path, name: str, content: str | bytes, *, changed: str | None = None) -> None:
    """Write one fixture file, parents included; text as UTF-8, line ends exactly as given.

    `changed`: the day of its last change, ``YYYY-MM-DD`` (noon, UTC).
    """
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    if changed is not None:
        moment_s = datetime.fromisoformat(f"{changed}T12:00:00").replace(tzinfo=UTC).timestamp()
        os.utime(path, (moment_s, moment_s))


def compare(
    before: Snapshot,
    folder: Path,
    wanted: Mapping[str, bytes | Check],
    *,
    gone: Collection[str] = (),
) -> str | None:
    """Say what differs between `folder` and `wanted`, or None when nothing does.

    `wanted`: every file that must be there, by path, with its content or a check of it; `gone`:
    folders that must have vanished. Every other folder must still be there, and no folder may be
    new unless a wanted file lies in it. A file that stays where it was must keep its mode.
    """
    after = Snapshot.take(folder)
    return (
        _compare_names(before, after, wanted)
        or _compare_contents(after, wanted)
        or _compare_modes(before, after)
        or _compare_folders(before, after, wanted, gone)
    )


def untouched(before: Snapshot, folder: Path) -> str | None:
    """Say what changed in a folder that had to stay as it was, or None."""
    return compare(before, folder, before.files)


def _compare_names(
    before: Snapshot, after: Snapshot, wanted: Mapping[str, bytes | Check]
) -> str | None:
    missing = sorted(set(wanted) - set(after.files))
    if missing:
        lost = [name for name in missing if name in before.files]
        word = "was lost" if lost else "is missing"
        return f"{(lost or missing)[0]!r} {word} ({len(missing)} in all)"
    extra = sorted(set(after.files) - set(wanted))
    if extra:
        word = "is still there" if extra[0] in before.files else "should not be there"
        return f"{extra[0]!r} {word} ({len(extra)} in all)"
    return None


def _compare_contents(after: Snapshot, wanted: Mapping[str, bytes | Check]) -> str | None:
    for name, want in sorted(wanted.items(), key=lambda item: item[0]):
        content = after.files[name]
        if isinstance(want, bytes):
            if content != want:
                return f"{name!r} has the wrong content: {_first_difference(want, content)}"
        elif reason := want(content):
            return f"{name!r}: {reason}"
    return None


def _compare_modes(before: Snapshot, after: Snapshot) -> str | None:
    for name, mode in before.modes.items():
        if name in after.modes and after.modes[name] != mode:
            return f"the mode of {name!r} changed from {mode:o} to {after.modes[name]:o}"
    return None


def _compare_folders(
    before: Snapshot,
    after: Snapshot,
    wanted: Mapping[str, bytes | Check],
    gone: Collection[str],
) -> str | None:
    needed = {
        parent.as_posix() for name in wanted for parent in Path(name).parents if parent != Path()
    }
    expected = (before.folders | needed) - set(gone)
    if missing := sorted(expected - after.folders):
        return f"the folder {missing[0]!r} is gone ({len(missing)} in all)"
    if extra := sorted(after.folders - expected):
        word = "is still there" if extra[0] in before.folders else "should not be there"
        return f"the folder {extra[0]!r} {word} ({len(extra)} in all)"
    return None


def _first_difference(want: bytes, got: bytes) -> str:
    at = next(
        (i for i, (a, b) in enumerate(zip(want, got, strict=False)) if a != b),
        min(len(want), len(got)),
    )
    start = max(0, at - 10)
    return f"at byte {at} wanted {want[start : at + 20]!r}, got {got[start : at + 20]!r}"


def lines_of(content: bytes) -> list[str]:
    """The lines of a text a program wrote, without trailing blanks and final empty lines."""
    lines = [line.rstrip() for line in content.decode("utf-8-sig").splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def rows_of(content: bytes, delimiter: str = ",") -> list[list[str]]:
    """The rows of a CSV file in UTF-8, empty ones dropped, cells stripped."""
    reader = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), delimiter=delimiter)
    return [[cell.strip() for cell in row] for row in reader if any(cell.strip() for cell in row)]


def has_lines(wanted: Sequence[str], *, ordered: bool = True, blank: bool = True) -> Check:
    """A check: the text has exactly these lines. `blank`: blank lines count."""

    def check(content: bytes) -> str | None:
        try:
            got = lines_of(content)
        except UnicodeDecodeError:
            return "is not UTF-8 text"
        want = list(wanted)
        if not blank:
            got, want = [x for x in got if x], [x for x in want if x]
        if not ordered:
            got, want = sorted(got), sorted(want)
        return _compare_sequences(want, got, "line")

    return check


def has_table(
    columns: Sequence[str], rows: Sequence[Sequence[object]], *, ordered: bool = True
) -> Check:
    """A check: a CSV file with this header and these rows; equal numbers are equal cells."""

    def check(content: bytes) -> str | None:
        try:
            got = rows_of(content)
        except (UnicodeDecodeError, csv.Error):
            return "is not a CSV file in UTF-8"
        if not got or [cell.lower() for cell in got[0]] != [name.lower() for name in columns]:
            return f"the header should be {list(columns)}, is {got[0] if got else 'missing'}"
        body = [[_cell(cell) for cell in row] for row in got[1:]]
        want = [[_cell(str(cell)) for cell in row] for row in rows]
        if not ordered:
            body, want = sorted(body, key=str), sorted(want, key=str)
        return _compare_sequences(want, body, "row")

    return check


def _cell(text: str) -> str | float:
    try:
        return round(float(text), 2)
    except ValueError:
        return text


def _compare_sequences(want: Sequence[object], got: Sequence[object], noun: str) -> str | None:
    for number, (a, b) in enumerate(zip(want, got, strict=False), start=1):
        if not _same(a, b):
            return f"{noun} {number} should be {a!r}, is {b!r}"
    if len(want) != len(got):
        return f"should have {len(want)} {noun}s, has {len(got)}"
    return None


def _same(a: object, b: object) -> bool:
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, float) and isinstance(b, float):
        return abs(a - b) < CENT
    return a == b
