"""Contracts that end around June 2025."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import pick


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    days = ["2025-06-01", "2025-06-30", "2025-05-31", "2025-07-01", "2024-06-15", "2026-06-10"]
    days += [f"2025-06-{random.randint(2, 29):02d}", f"2025-0{random.randint(1, 4)}-15"]
    random.shuffle(days)
    rows = [f"{word},{day}" for word, day in zip(pick(random, 8), days, strict=True)]
    put(folder, "contracts.csv", "\n".join(["name,ends", *rows]) + "\n")
