"""manifest.csv has the right sizes and hashes."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from task_folder import Snapshot, compare, has_table


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    rows = [
        [name, len(content), hashlib.sha256(content).hexdigest()]
        for name, content in sorted(before.files.items())
    ]
    table = has_table(["file", "bytes", "sha256"], rows)
    return compare(before, folder, {**before.files, "manifest.csv": table})
