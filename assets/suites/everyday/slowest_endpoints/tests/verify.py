"""p95.csv has the nearest-rank percentile of each path."""

import math
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from task_folder import Snapshot, compare, has_table


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    times: dict[str, list[int]] = defaultdict(list)
    for line in before.files["requests.log"].decode().splitlines():
        _, _, path, _, took = line.split()
        times[path].append(int(took.removesuffix("ms")))
    rows = [
        [path, sorted(values)[math.ceil(0.95 * len(values)) - 1]]
        for path, values in sorted(times.items())
    ]
    wanted = {**before.files, "p95.csv": has_table(["path", "p95"], rows)}
    return compare(before, folder, wanted)
