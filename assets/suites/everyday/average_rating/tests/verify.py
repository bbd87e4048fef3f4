"""The answer has the average; nothing changed."""

from collections.abc import Mapping
from pathlib import Path

from task_answer import answer_of, says_number
from task_folder import Snapshot, rows_of, untouched


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    ratings = [float(row[2]) for row in rows_of(before.files["reviews.csv"])[1:]]
    average = sum(ratings) / len(ratings)
    return untouched(before, folder) or says_number(answer_of(result), average, tolerance=0.0051)
