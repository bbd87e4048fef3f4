"""types.csv has the counts in order."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from task_folder import Snapshot, compare, has_table


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    counts = Counter(name.rsplit(".", 1)[1].lower() for name in before.files)
    rows = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    wanted = {**before.files, "types.csv": has_table(["type", "files"], rows)}
    return compare(before, folder, wanted)
