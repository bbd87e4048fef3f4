"""CSV files with the same columns; one has quoted cells with commas."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import CITIES, day, person, pick


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    for word in pick(random, random.randint(4, 6)):
        lines = ["date,name,place,amount"]
        for _ in range(random.randint(3, 8)):
            place = f'"{random.choice(CITIES)}, centre"' if random.random() < 0.3 else "home"
            lines.append(
                f"{day(random)},{person(random)},{place},{random.randint(100, 9999) / 100}"
            )
        put(folder, f"{word}.csv", "\n".join(lines) + "\n")
