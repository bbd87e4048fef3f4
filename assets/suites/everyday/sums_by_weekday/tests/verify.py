"""weekdays.csv has seven rows in order with the right sums."""

from collections.abc import Mapping
from datetime import date
from pathlib import Path

from task_folder import Snapshot, compare, has_table, rows_of

NAMES = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    totals = [0.0] * 7
    for day, amount in rows_of(before.files["sales.csv"])[1:]:
        totals[date.fromisoformat(day).weekday()] += float(amount)
    rows = [[name, round(total, 2)] for name, total in zip(NAMES, totals, strict=True)]
    wanted = {**before.files, "weekdays.csv": has_table(["weekday", "total"], rows)}
    return compare(before, folder, wanted)
