"""Photos are in the folder of their month, all else is where it was."""

from collections.abc import Mapping
from pathlib import Path

from task_folder import Snapshot, compare


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    wanted = {
        f"{name[4:8]}-{name[8:10]}/{name}" if name.startswith("IMG_") else name: content
        for name, content in before.files.items()
    }
    return compare(before, folder, wanted)
