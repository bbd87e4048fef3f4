"""The name is replaced in configs alone; line ends and all else are kept byte for byte."""

from collections.abc import Mapping
from pathlib import Path

from task_folder import Snapshot, compare


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    wanted = {
        name: content.replace(b"api.old.example.com", b"api.new.example.com")
        if name.endswith((".conf", ".ini"))
        else content
        for name, content in before.files.items()
    }
    return compare(before, folder, wanted)
