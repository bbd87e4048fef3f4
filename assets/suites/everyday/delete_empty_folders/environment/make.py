"""Empty folders at three depths, one folder with a hidden file only, and ordinary ones."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import pick, text


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    words = pick(random, 8)
    for place in (words[0], f"{words[1]}/{words[2]}/{words[3]}", f"{words[4]}/{words[5]}"):
        (folder / place).mkdir(parents=True)
    put(folder, f"{words[4]}/{words[6]}.txt", text(random, 2))
    put(folder, f"{words[7]}/.keep", "")
    put(folder, "readme.txt", text(random, 2))
