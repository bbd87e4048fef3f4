"""The answer has the number and the file; nothing changed."""

import re
from collections.abc import Mapping
from pathlib import Path

from task_answer import answer_of, says_names
from task_folder import Snapshot, untouched


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    for name, content in before.files.items():
        found = re.search(r"ORD-\d{5}", content.decode())
        if found:
            answer = answer_of(result)
            missing = None if found[0] in answer else f"the answer does not have {found[0]}"
            names = [Path(other).stem for other in before.files]
            return (
                untouched(before, folder) or missing or says_names(answer, [Path(name).stem], names)
            )
    return "the fixture has no number"
