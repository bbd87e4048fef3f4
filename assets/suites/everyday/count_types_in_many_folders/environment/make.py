"""Three hundred files in many folders."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import WORDS


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    kinds = ["jpg", "JPG", "pdf", "txt", "csv", "md"]
    for number in range(300):
        place = f"{random.choice(WORDS[:8])}/{random.choice(WORDS[8:14])}"
        put(folder, f"{place}/{number:03d}.{random.choice(kinds)}", f"{number}\n")
