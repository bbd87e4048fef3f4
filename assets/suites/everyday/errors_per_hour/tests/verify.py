"""errors.csv has the count of each hour that has any."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from task_folder import Snapshot, compare, has_table


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    hours = Counter(
        f"{line[:13]}:00"
        for line in before.files["app.log"].decode().splitlines()
        if " ERROR " in line
    )
    table = has_table(["hour", "errors"], sorted(hours.items()))
    return compare(before, folder, {**before.files, "errors.csv": table})
