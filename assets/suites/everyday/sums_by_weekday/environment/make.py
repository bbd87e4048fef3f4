"""Sales on many days."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import day


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    rows = [f"{day(random)},{random.randint(100, 9999) / 100:.2f}" for _ in range(40)]
    put(folder, "sales.csv", "\n".join(["date,amount", *rows]) + "\n")
