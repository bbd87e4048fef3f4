"""berlin.csv has exactly the customers in Berlin, in order."""

from collections.abc import Mapping
from pathlib import Path

from task_folder import Snapshot, compare, has_table, rows_of


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    header, *rows = rows_of(before.files["customers.csv"])
    table = has_table(header, [row for row in rows if row[2] == "Berlin"])
    return compare(before, folder, {**before.files, "berlin.csv": table})
