"""A log with four error messages of clearly different frequency among other lines."""

from pathlib import Path
from random import Random

from task_folder import put

ERRORS = ["disk full", "connection refused", "file not found", "permission denied"]


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    random.shuffle(errors := list(ERRORS))
    messages = [
        f"ERROR {error}"
        for error, count in zip(errors, (random.randint(17, 22), 11, 7, 3), strict=True)
        for _ in range(count)
    ]
    messages += ["INFO started"] * 40 + ["WARNING slow response"] * 30
    random.shuffle(messages)
    lines = [
        f"2024-05-{1 + at // 12:02d} {at % 12 + 8:02d}:{random.randint(0, 59):02d} {message}"
        for at, message in enumerate(messages)
    ]
    put(folder, "app.log", "\n".join(lines) + "\n")
