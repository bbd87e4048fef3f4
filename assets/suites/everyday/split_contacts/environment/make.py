"""A text file whose number of lines is no multiple of fifty."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import CITIES, person


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    count = random.choice([137, 164, 188, 213])
    lines = [f"{number} {person(random)}, {random.choice(CITIES)}" for number in range(1, count)]
    put(folder, "contacts.txt", "\n".join(lines) + "\n")
