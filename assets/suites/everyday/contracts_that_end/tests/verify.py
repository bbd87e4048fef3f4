"""The answer names just those; nothing changed."""

from collections.abc import Mapping
from pathlib import Path

from task_answer import answer_of, says_names
from task_folder import Snapshot, rows_of, untouched


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    rows = rows_of(before.files["contracts.csv"])[1:]
    wanted = [name for name, ends in rows if ends.startswith("2025-06-")]
    reason = says_names(answer_of(result), wanted, [name for name, _ in rows])
    return untouched(before, folder) or reason
