"""The answer has the number, and nothing changed."""

from collections.abc import Mapping
from pathlib import Path

from task_answer import answer_of, says_number
from task_folder import Snapshot, untouched


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    count = sum(name.endswith(".pdf") for name in before.files)
    return untouched(before, folder) or says_number(answer_of(result), count)
