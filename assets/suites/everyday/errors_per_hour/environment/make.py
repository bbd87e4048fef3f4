"""A log over two days."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import sentence


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    lines: list[str] = []
    for _ in range(120):
        level = random.choice(["INFO", "INFO", "WARNING", "ERROR"])
        hour = f"2024-05-0{random.randint(1, 2)} {random.randint(8, 17):02d}"
        minute, second = random.randint(0, 59), random.randint(0, 59)
        lines.append(f"{hour}:{minute:02d}:{second:02d} {level} {sentence(random, 4)}")
    lines.sort()
    put(folder, "app.log", "\n".join(lines) + "\n")
