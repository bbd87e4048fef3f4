"""Files whose last change lies in the middle of different years."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import pick, text


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    years = [2021, 2022, 2023, 2023, 2023, 2024, 2024, 2025]
    random.shuffle(years)
    for word, year in zip(pick(random, len(years)), years, strict=True):
        changed = f"{year}-{random.randint(2, 11):02d}-{random.randint(1, 28):02d}"
        put(folder, f"{word}.txt", text(random, 2), changed=changed)
