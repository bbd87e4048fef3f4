"""Reviews with ratings from one to five."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import day, person


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    rows = [
        f"{day(random)},{person(random)},{random.choice([1, 2, 3, 4, 4, 5, 5])}"
        for _ in range(random.randint(23, 41))
    ]
    put(folder, "reviews.csv", "\n".join(["date,name,rating", *rows]) + "\n")
