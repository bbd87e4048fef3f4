"""all_notes.txt has every note under its name, in order; blank lines do not matter."""

from collections.abc import Mapping
from pathlib import Path

from task_folder import Snapshot, compare, has_lines


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    lines: list[str] = []
    for name, content in sorted(before.files.items()):
        lines += [f"== {Path(name).name} ==", *content.decode().splitlines()]
    check = has_lines(lines, blank=False)
    return compare(before, folder, {**before.files, "all_notes.txt": check})
