"""unpaid.csv has what is missing of each invoice that is not fully paid."""

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from task_folder import Snapshot, compare, has_table, rows_of


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    paid: dict[str, float] = defaultdict(float)
    for _, invoice, amount in rows_of(before.files["payments.csv"])[1:]:
        paid[invoice] += float(amount)
    rows = [
        [invoice, customer, round(float(amount) - paid[invoice], 2)]
        for invoice, customer, amount in rows_of(before.files["invoices.csv"])[1:]
        if float(amount) - paid[invoice] > 0.005
    ]
    table = has_table(["invoice", "customer", "open"], sorted(rows))
    return compare(before, folder, {**before.files, "unpaid.csv": table})
