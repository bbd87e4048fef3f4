"""Scans have their new names, all else kept its name."""

import re
from collections.abc import Mapping
from pathlib import Path

from task_folder import Snapshot, compare


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    wanted = {
        re.sub(r"^Scan (\d+)\.pdf$", lambda found: f"scan-{int(found[1]):03d}.pdf", name): content
        for name, content in before.files.items()
    }
    return compare(before, folder, wanted)
