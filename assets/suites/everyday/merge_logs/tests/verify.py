"""all.log has every line once, in order, with its service."""

from collections.abc import Mapping
from pathlib import Path

from task_folder import Snapshot, compare, has_lines


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    lines = [
        (line, name.removesuffix(".log"))
        for name, content in before.files.items()
        for line in content.decode().splitlines()
    ]
    merged = [f"{name} {line}" for line, name in sorted(lines)]
    return compare(before, folder, {**before.files, "all.log": has_lines(merged)})
