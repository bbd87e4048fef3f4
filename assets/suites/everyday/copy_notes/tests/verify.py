"""backup has a copy of each note, and nothing else is new."""

from collections.abc import Mapping
from pathlib import Path

from task_folder import Snapshot, compare


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    copies = {f"backup/{name}": text for name, text in before.files.items() if name.endswith(".md")}
    return compare(before, folder, {**before.files, **copies})
