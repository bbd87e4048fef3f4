"""Files at two depths."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import pick


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    for number, word in enumerate(pick(random, 9)):
        place = ("", "a/", "b/c/")[number % 3]
        put(folder, f"{place}{word}.bin", random.randbytes(random.randint(10, 3000)))
