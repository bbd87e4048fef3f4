"""Files, and a list of new names, two of which are for files that are not there."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import pick, text


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    words = pick(random, 16)
    old, new = words[:8], words[8:]
    rows = list(zip(old, new, strict=True))
    for word, _ in rows[:6]:
        put(folder, f"{word}.txt", text(random, 2))
    put(folder, "other.txt", "stays\n")
    random.shuffle(rows)
    lines = ["old,new", *(f"{a}.txt,{b}.txt" for a, b in rows)]
    put(folder, "rename.csv", "\n".join(lines) + "\n")
