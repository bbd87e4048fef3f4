"""The first name of each set stays, the others are in duplicates."""

from collections.abc import Mapping
from pathlib import Path

from task_folder import Snapshot, compare


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    seen: set[bytes] = set()
    wanted: dict[str, bytes] = {}
    for name in sorted(before.files):
        content = before.files[name]
        wanted[f"duplicates/{name}" if content in seen else name] = content
        seen.add(content)
    return compare(before, folder, wanted)
