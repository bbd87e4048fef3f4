"""Sixty long letters, one of which has the number."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import WORDS, text


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    names = random.sample([f"{a}-{b}" for a in WORDS[:20] for b in WORDS[20:40]], 60)
    chosen = random.choice(names)
    for name in names:
        body = text(random, random.randint(80, 160)).splitlines()
        if name == chosen:
            body.insert(random.randint(40, 70), f"It is about ORD-{random.randint(10000, 99999)}.")
        put(folder, f"letters/{name}.txt", "\n".join(body) + "\n")
