"""A text with umlauts and a neighbour that stays as it is."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import text


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    put(folder, "poem.txt", "Über allen Gipfeln\n" + text(random, random.randint(7, 15)))
    put(folder, "draft.txt", text(random, 4))
