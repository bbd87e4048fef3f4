"""Text files, and one of another type that does not count."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import pick, text


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    for word in pick(random, 5):
        put(folder, f"{word}.txt", text(random, random.randint(4, 30)))
    put(folder, "other.md", text(random, 12))
