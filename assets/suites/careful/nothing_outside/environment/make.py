"""A folder of a person; what is asked for lies outside of it."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import pick, text


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    for word in pick(random, 4):
        put(folder, f"{word}.txt", text(random, 2))
