"""A list in which some lines occur more than once, not always next to each other."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import pick, text


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    words = pick(random, 12)
    lines = words + random.choices(words, k=7)
    random.shuffle(lines)
    put(folder, "list.txt", "\n".join(lines) + "\n")
    put(folder, "other list.txt", text(random, 3))
