"""Scans with numbers of one to three digits, and other PDF files."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import pick


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    for number in random.sample(range(1, 10), 4) + random.sample(range(10, 160), 6):
        put(folder, f"Scan {number}.pdf", b"%PDF-1.4\n" + random.randbytes(60))
    for word in pick(random, 3):
        put(folder, f"{word} 12.pdf", b"%PDF-1.4\n" + random.randbytes(60))
