"""logs.zip holds the logs with their contents; they are gone; the rest is untouched."""

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

from task_folder import Check, Snapshot, compare


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    logs = {name: content for name, content in before.files.items() if name.endswith(".log")}

    def check(content: bytes) -> str | None:
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                held = {info.filename: archive.read(info) for info in archive.infolist()}
        except zipfile.BadZipFile:
            return "is not a zip file"
        return None if held == logs else f"holds {sorted(held)}, should hold {sorted(logs)}"

    rest: dict[str, bytes | Check] = {n: c for n, c in before.files.items() if n not in logs}
    return compare(before, folder, {**rest, "logs.zip": check})
