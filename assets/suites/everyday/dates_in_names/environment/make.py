"""Text files, most with a German date at the end of the name."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import day, pick, text


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    words = pick(random, 9)
    for word in words[:6]:
        year, month, number = day(random).split("-")
        put(folder, f"{word} {number}.{month}.{year}.txt", text(random, 3))
    for word in words[6:]:
        put(folder, f"{word}.txt", text(random, 3))
