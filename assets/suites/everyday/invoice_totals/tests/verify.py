"""totals.csv has each invoice with its total, in any order."""

import re
from collections.abc import Mapping
from pathlib import Path

from task_folder import Snapshot, compare, has_table


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    rows: list[list[str]] = []
    for name, content in before.files.items():
        found = re.search(r"^Total: ([\d.]+)", content.decode(), re.MULTILINE)
        rows.append([name, found[1] if found else ""])
    wanted = {**before.files, "totals.csv": has_table(["invoice", "total"], rows, ordered=False)}
    return compare(before, folder, wanted)
