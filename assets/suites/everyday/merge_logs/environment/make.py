"""Logs of several services, with different times on every line."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import pick, sentence


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    minutes = random.sample(range(24 * 60), 40)
    for number, word in enumerate(pick(random, 4)):
        mine = sorted(minutes[number * 10 : number * 10 + 10])
        lines = [f"2024-05-01T{at // 60:02d}:{at % 60:02d} {sentence(random, 3)}" for at in mine]
        put(folder, f"{word}.log", "\n".join(lines) + "\n")
