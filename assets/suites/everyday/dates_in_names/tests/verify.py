"""Dated files are renamed, the others are not."""

import re
from collections.abc import Mapping
from pathlib import Path

from task_folder import Snapshot, compare


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    dated = re.compile(r"^(\w+) (\d\d)\.(\d\d)\.(\d{4})\.txt$")
    wanted = {
        dated.sub(r"\4-\3-\2 \1.txt", name): content for name, content in before.files.items()
    }
    return compare(before, folder, wanted)
