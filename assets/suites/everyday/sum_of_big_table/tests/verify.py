"""The answer has the sum; nothing changed."""

from collections.abc import Mapping
from pathlib import Path

from task_answer import answer_of, says_number
from task_folder import Snapshot, rows_of, untouched


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    rows = rows_of(before.files["measurements.csv"])[1:]
    total = sum(int(value) for _, station, value in rows if station == "north")
    return untouched(before, folder) or says_number(answer_of(result), total)
