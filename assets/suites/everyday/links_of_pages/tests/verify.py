"""links.txt has every absolute link once, sorted."""

import re
from collections.abc import Mapping
from pathlib import Path

from task_folder import Snapshot, compare, has_lines


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    found: set[str] = set()
    for content in before.files.values():
        found.update(re.findall(r'<a [^>]*href="(http[^"]+)"', content.decode()))
    return compare(before, folder, {**before.files, "links.txt": has_lines(sorted(found))})
