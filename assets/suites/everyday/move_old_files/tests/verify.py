"""Old files are in old, the others are where they were."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from task_folder import Snapshot, compare


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    limit_s = datetime(2023, 1, 1, tzinfo=UTC).timestamp()
    wanted = {
        f"old/{name}" if before.mtimes_s[name] < limit_s else name: content
        for name, content in before.files.items()
    }
    return compare(before, folder, wanted)
