"""status.csv has the exact counts, sorted."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from task_folder import Snapshot, compare, has_table


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    lines = before.files["access.log"].decode().splitlines()
    counts = Counter(line.split()[-2] for line in lines)
    table = has_table(["status", "count"], sorted(counts.items()))
    return compare(before, folder, {**before.files, "status.csv": table})
