"""Folders without any file below them are gone, the others are not."""

from collections.abc import Mapping
from pathlib import Path

from task_folder import Snapshot, compare


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    gone = [
        place
        for place in before.folders
        if not any(name.startswith(f"{place}/") for name in before.files)
    ]
    return compare(before, folder, before.files, gone=gone)
