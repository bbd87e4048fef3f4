"""combined.csv has every row with its cells under the right columns, and the source."""

from collections.abc import Mapping
from pathlib import Path

from task_folder import Snapshot, compare, has_table, rows_of

COLUMNS = ["date", "item", "amount", "file"]


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    wanted_rows: list[list[str]] = []
    for name, content in before.files.items():
        header, *rows = rows_of(content)
        for row in rows:
            cells = {**dict(zip(header, row, strict=True)), "file": Path(name).name}
            wanted_rows.append([cells[column] for column in COLUMNS])
    wanted = {**before.files, "combined.csv": has_table(COLUMNS, wanted_rows, ordered=False)}
    return compare(before, folder, wanted)
