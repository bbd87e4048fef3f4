"""CSV files of one kind, some with the header and some without."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import WORDS, day, pick


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    for number, word in enumerate(pick(random, 7)):
        lines = ["date,item,amount"] if number % 3 == 0 else []
        for _ in range(random.randint(2, 6)):
            amount = random.randint(100, 9999) / 100
            lines.append(f"{day(random)},{random.choice(WORDS)},{amount:.2f}")
        put(folder, f"{word}.csv", "\n".join(lines) + "\n")
