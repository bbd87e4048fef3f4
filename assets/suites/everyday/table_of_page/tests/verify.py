"""prices.csv has the table's rows as text."""

import html
import re
from collections.abc import Mapping
from pathlib import Path

from task_folder import Snapshot, compare, has_table


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    page = before.files["prices.html"].decode()
    rows = [
        [html.unescape(re.sub(r"<[^>]+>", "", cell)) for cell in re.findall(r"<td>(.*?)</td>", row)]
        for row in re.findall(r"<tr>(<td>.*?)</tr>", page)
    ]
    wanted = {**before.files, "prices.csv": has_table(["Item", "Count", "Price"], rows)}
    return compare(before, folder, wanted)
