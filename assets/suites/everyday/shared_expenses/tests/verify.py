"""balance.csv has each person's balance."""

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from task_folder import Snapshot, compare, has_table, rows_of


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    paid: dict[str, float] = defaultdict(float)
    for person, amount in rows_of(before.files["expenses.csv"])[1:]:
        paid[person] += float(amount)
    share = sum(paid.values()) / len(paid)
    rows = [[person, round(total - share, 2)] for person, total in sorted(paid.items())]
    wanted = {**before.files, "balance.csv": has_table(["person", "balance"], rows)}
    return compare(before, folder, wanted)
