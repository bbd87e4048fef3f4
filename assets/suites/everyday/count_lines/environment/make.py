"""Text files of different lengths, one of them empty, and files of other types."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import pick, text


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    words = pick(random, 8)
    for word in words[:5]:
        put(folder, f"{word}.txt", text(random, random.randint(1, 60)))
    put(folder, f"{words[5]}.txt", "")
    for word in words[6:]:
        put(folder, f"{word}.md", text(random, 7))
