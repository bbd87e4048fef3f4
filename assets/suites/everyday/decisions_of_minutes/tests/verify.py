"""decisions.txt has each of them in order."""

from collections.abc import Mapping
from pathlib import Path

from task_folder import Snapshot, compare, has_lines


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    lines = before.files["minutes.txt"].decode().splitlines()
    wanted = [line.removeprefix("DECISION: ") for line in lines if line.startswith("DECISION:")]
    return compare(before, folder, {**before.files, "decisions.txt": has_lines(wanted)})
