"""All pictures are in pictures; the folders they came from are still there."""

from collections.abc import Mapping
from pathlib import Path

from task_folder import Snapshot, compare


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    wanted = {
        f"pictures/{Path(name).name}" if name.endswith((".jpg", ".png")) else name: content
        for name, content in before.files.items()
    }
    return compare(before, folder, wanted)
