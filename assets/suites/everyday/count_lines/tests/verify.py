"""lines.csv has one right row per text file, in any order."""

from collections.abc import Mapping
from pathlib import Path

from task_folder import Snapshot, compare, has_table


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    rows = [
        [name, content.count(b"\n")]
        for name, content in before.files.items()
        if name.endswith(".txt")
    ]
    wanted = {**before.files, "lines.csv": has_table(["file", "lines"], rows, ordered=False)}
    return compare(before, folder, wanted)
