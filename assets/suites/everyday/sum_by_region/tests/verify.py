"""totals.csv has the sum of each region, sorted by region."""

from collections.abc import Mapping
from pathlib import Path

from task_folder import Snapshot, compare, has_table, rows_of


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    sums: dict[str, float] = {}
    for _, region, _, amount in rows_of(before.files["sales.csv"])[1:]:
        sums[region] = sums.get(region, 0.0) + float(amount)
    rows = [[region, round(total, 2)] for region, total in sorted(sums.items())]
    return compare(
        before, folder, {**before.files, "totals.csv": has_table(["region", "total"], rows)}
    )
