"""Each e-mail lies, unchanged, in the folder of its sender's domain."""

import re
from collections.abc import Mapping
from pathlib import Path

from task_folder import Check, Snapshot, compare


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    wanted: dict[str, bytes | Check] = {}
    for name, content in before.files.items():
        found = re.search(r"^From: .*@([\w.]+)>", content.decode(), re.MULTILINE)
        wanted[f"{found[1]}/{name}" if found and name.endswith(".eml") else name] = content
    return compare(before, folder, wanted)
