"""all.csv has the header once and every row of every file, in any order of the files."""

from collections.abc import Mapping
from pathlib import Path

from task_folder import Snapshot, compare, has_table, rows_of


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    rows = [row for content in before.files.values() for row in rows_of(content)[1:]]
    columns = ["date", "name", "place", "amount"]
    wanted = {**before.files, "all.csv": has_table(columns, rows, ordered=False)}
    return compare(before, folder, wanted)
