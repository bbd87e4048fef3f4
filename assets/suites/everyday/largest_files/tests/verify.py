"""The answer names the three largest in order and no other file; nothing changed."""

from collections.abc import Mapping
from pathlib import Path

from task_answer import answer_of, says_names
from task_folder import Snapshot, untouched


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    names = sorted(before.files, key=lambda name: -len(before.files[name]))
    short = [Path(name).name for name in names]
    reason = says_names(answer_of(result), short[:3], short, ordered=True)
    return untouched(before, folder) or reason
