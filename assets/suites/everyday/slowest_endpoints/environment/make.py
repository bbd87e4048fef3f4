"""Requests with their times."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import pick


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    lines: list[str] = []
    for word in pick(random, 5):
        for _ in range(random.randint(21, 60)):
            ms = int(random.lognormvariate(4, 0.8)) + 1
            at = f"2024-05-{random.randint(1, 28):02d}T{random.randint(0, 23):02d}:00:00"
            status = random.choice([200, 200, 404])
            lines.append(f"{at} GET /{word} {status} {ms}ms")
    lines.sort()
    put(folder, "requests.log", "\n".join(lines) + "\n")
