"""Every name is in lower case, every content is as it was."""

from collections.abc import Mapping
from pathlib import Path

from task_folder import Snapshot, compare


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    return compare(before, folder, {name.lower(): text for name, text in before.files.items()})
