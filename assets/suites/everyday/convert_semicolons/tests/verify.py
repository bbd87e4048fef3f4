"""customers.csv has the same cells, quoted where needed; the original is as it was."""

from collections.abc import Mapping
from pathlib import Path

from task_folder import Snapshot, compare, has_table, rows_of


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    text = before.files["kunden.csv"].decode("cp1252")
    header, *rows = rows_of(text.encode(), delimiter=";")
    wanted = {**before.files, "customers.csv": has_table(header, rows)}
    return compare(before, folder, wanted)
