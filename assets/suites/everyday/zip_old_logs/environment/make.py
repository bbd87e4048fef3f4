"""Log files and others."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import pick, text


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    for word in pick(random, 6):
        put(folder, f"{word}.log", text(random, random.randint(3, 20)))
    for word in pick(random, 3):
        put(folder, f"{word}.txt", text(random, 3))
