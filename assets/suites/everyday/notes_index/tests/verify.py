"""index.md has the links in order; blank lines and a title above are accepted."""

from collections.abc import Mapping
from pathlib import Path

from task_folder import Snapshot, compare, has_lines, lines_of


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    links = [
        f"- [{content.decode().splitlines()[0].removeprefix('# ')}]({name})"
        for name, content in sorted(before.files.items())
    ]

    def check(content: bytes) -> str | None:
        kept = [line for line in lines_of(content) if line and not line.startswith("#")]
        return has_lines(links)("\n".join(kept).encode())

    return compare(before, folder, {**before.files, "index.md": check})
