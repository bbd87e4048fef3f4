"""The files have their new names; missing.txt names the two that were not there."""

from collections.abc import Mapping
from pathlib import Path

from task_folder import Check, Snapshot, compare, has_lines, rows_of


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    rows = rows_of(before.files["rename.csv"])[1:]
    names = dict(rows)
    wanted: dict[str, bytes | Check] = {names.get(n, n): c for n, c in before.files.items()}
    wanted["missing.txt"] = has_lines([old for old, _ in rows if old not in before.files])
    return compare(before, folder, wanted)
