"""todo.md lists all of them in order."""

from collections.abc import Mapping
from pathlib import Path

from task_folder import Snapshot, compare, has_lines


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    lines: list[str] = []
    for name, content in sorted(before.files.items()):
        if name.endswith(".py"):
            for number, line in enumerate(content.decode().splitlines(), start=1):
                if "TODO:" in line:
                    lines.append(f"- {name}:{number}: {line.split('TODO:', 1)[1].strip()}")
    return compare(before, folder, {**before.files, "todo.md": has_lines(lines)})
