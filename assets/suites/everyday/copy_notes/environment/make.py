"""Notes in Markdown among other files."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import pick, text


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    for number, word in enumerate(pick(random, 9)):
        put(folder, f"{word}.{['md', 'md', 'txt'][number % 3]}", text(random, 4))
