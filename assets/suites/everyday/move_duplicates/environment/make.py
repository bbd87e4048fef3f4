"""Pairs and one triple of identical files; two different files share their size."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import pick


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    words = pick(random, 14)
    contents = [random.randbytes(random.randint(80, 400)) for _ in range(7)]
    contents.append(bytes(reversed(contents[0])))
    copies = [3, 2, 2, 1, 1, 1, 1, 1]
    names = iter(words)
    for content, count in zip(contents, copies, strict=True):
        for _ in range(count):
            put(folder, f"{next(names)}.dat", content)
