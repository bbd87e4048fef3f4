"""Empty files beside files that only look empty."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import pick, text


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    words = pick(random, 9)
    for word in words[:3]:
        put(folder, f"{word}.txt", "")
    for word in words[3:5]:
        put(folder, f"{word}.txt", " \n")
    put(folder, f"{words[5]}.md", "")
    for word in words[6:]:
        put(folder, f"{word}.txt", text(random, 2))
