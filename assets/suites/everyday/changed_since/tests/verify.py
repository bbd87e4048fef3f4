"""The answer names exactly the files changed since then; nothing changed."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from task_answer import answer_of, says_names
from task_folder import Snapshot, untouched


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    since_s = datetime(2024, 1, 1, tzinfo=UTC).timestamp()
    names = [name for name, moment_s in before.mtimes_s.items() if moment_s >= since_s]
    return untouched(before, folder) or says_names(answer_of(result), names, before.files)
