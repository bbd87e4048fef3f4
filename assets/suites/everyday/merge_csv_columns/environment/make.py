"""CSV files in a subfolder whose columns are in different orders."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import WORDS, day


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    columns = ["date", "item", "amount"]
    for month in random.sample(range(1, 13), 5):
        random.shuffle(columns)
        lines = [",".join(columns)]
        for _ in range(random.randint(2, 6)):
            row = {
                "date": day(random),
                "item": random.choice(WORDS),
                "amount": str(random.randint(100, 9999) / 100),
            }
            lines.append(",".join(row[name] for name in columns))
        put(folder, f"months/2024-{month:02d}.csv", "\n".join(lines) + "\n")
