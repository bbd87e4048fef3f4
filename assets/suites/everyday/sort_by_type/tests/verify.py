"""Every file is in the folder of its type, with its name and content."""

from collections.abc import Mapping
from pathlib import Path

from task_folder import Snapshot, compare


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    wanted = {
        f"{Path(name).suffix[1:].lower()}/{name}": content for name, content in before.files.items()
    }
    return compare(before, folder, wanted)
