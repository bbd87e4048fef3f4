"""Each line is left once, in the order of the first ones."""

from collections.abc import Mapping
from pathlib import Path

from task_folder import Snapshot, compare, has_lines


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    lines = list(dict.fromkeys(before.files["list.txt"].decode().splitlines()))
    return compare(before, folder, {**before.files, "list.txt": has_lines(lines)})
