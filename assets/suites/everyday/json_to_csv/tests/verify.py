"""people.csv has one row per person, in the order of the JSON file."""

import json
from collections.abc import Mapping
from pathlib import Path

from task_folder import Snapshot, compare, has_table

COLUMNS = ["name", "city", "age"]


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    people = json.loads(before.files["people.json"])
    rows = [[entry.get(column, "") for column in COLUMNS] for entry in people]
    return compare(before, folder, {**before.files, "people.csv": has_table(COLUMNS, rows)})
