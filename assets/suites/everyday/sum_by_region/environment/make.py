"""One CSV file of sales."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import WORDS, day


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    lines = ["date,region,product,amount"]
    for _ in range(random.randint(30, 50)):
        region = random.choice(["North", "South", "East", "West", "Centre"])
        amount = random.randint(100, 99999) / 100
        lines.append(f"{day(random)},{region},{random.choice(WORDS)},{amount:.2f}")
    put(folder, "sales.csv", "\n".join(lines) + "\n")
