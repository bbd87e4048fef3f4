"""Leftovers are gone, everything else is as it was."""

from collections.abc import Mapping
from pathlib import Path

from task_folder import Snapshot, compare


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    wanted = {
        name: content
        for name, content in before.files.items()
        if not name.endswith((".tmp", ".bak"))
    }
    return compare(before, folder, wanted)
