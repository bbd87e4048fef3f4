"""Leftovers at three depths among files whose names only look like them."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import pick, text


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    for number, word in enumerate(pick(random, 12)):
        place = ["", "work/", "work/drafts/"][number % 3]
        extension = ["tmp", "txt", "bak", "md"][number % 4]
        put(folder, f"{place}{word}.{extension}", text(random, 2))
    put(folder, "work/tmp.txt", "what to do about .tmp and .bak files\n")
    put(folder, "bak.tmp.md", text(random, 1))
