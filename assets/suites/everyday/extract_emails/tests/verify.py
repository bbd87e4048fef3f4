"""emails.txt has each address once, sorted."""

import re
from collections.abc import Mapping
from pathlib import Path

from task_folder import Snapshot, compare, has_lines


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    text = b"\n".join(before.files.values()).decode()
    addresses = sorted(set(re.findall(r"[a-z]+\.[a-z]+@[a-z.]+[a-z]", text)))
    return compare(before, folder, {**before.files, "emails.txt": has_lines(addresses)})
