"""Each file begins with the header, once; those that had it are untouched."""

from collections.abc import Mapping
from pathlib import Path

from task_folder import Check, Snapshot, compare, has_lines

HEADER = "date,item,amount"


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    wanted: dict[str, bytes | Check] = {}
    for name, content in before.files.items():
        lines = content.decode().splitlines()
        wanted[name] = content if lines[0] == HEADER else has_lines([HEADER, *lines])
    return compare(before, folder, wanted)
