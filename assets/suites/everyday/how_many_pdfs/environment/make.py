"""PDF files (also .PDF) at three depths among other files; one folder has .pdf in its name."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import pick


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    words = pick(random, 30)
    places = ["", "bills/", "bills/2023/", "old pdf files/"]
    for number, word in enumerate(words[: random.randint(9, 24)]):
        put(folder, f"{places[number % 4]}{word}.pdf", b"%PDF" + random.randbytes(30))
    for number, word in enumerate(words[24:]):
        put(folder, f"{places[number % 4]}{word}.txt", "see the pdf\n")
