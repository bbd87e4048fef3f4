"""The rows are the same, by falling price."""

from collections.abc import Mapping
from pathlib import Path

from task_folder import Snapshot, compare, has_table, rows_of


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    header, *rows = rows_of(before.files["inventory.csv"])
    rows.sort(key=lambda row: -float(row[1]))
    return compare(before, folder, {"inventory.csv": has_table(header, rows)})
