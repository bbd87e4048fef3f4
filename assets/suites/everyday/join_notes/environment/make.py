"""Notes in a subfolder."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import pick, text


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    for word in pick(random, 6):
        put(folder, f"notes/{word}.txt", text(random, random.randint(1, 5)))
