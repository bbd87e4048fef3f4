"""The answer names the message and the count; nothing changed."""

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from task_answer import answer_of, says_names, says_number
from task_folder import Snapshot, untouched


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    counts = Counter(re.findall(r"ERROR (.+)", before.files["app.log"].decode()))
    message, count = counts.most_common(1)[0]
    answer = answer_of(result)
    return (
        untouched(before, folder)
        or says_names(answer, [message], counts)
        or says_number(answer, count)
    )
