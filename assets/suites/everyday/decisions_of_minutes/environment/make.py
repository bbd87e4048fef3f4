"""Four thousand lines with a few decisions."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import sentence, text


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    lines = text(random, 4000).splitlines()
    for at in random.sample(range(4000), 25):
        lines[at] = f"DECISION: {sentence(random)}"
    for at in random.sample(range(4000), 10):
        if not lines[at].startswith("DECISION"):
            lines[at] = f"No DECISION: {sentence(random)}"
    put(folder, "minutes.txt", "\n".join(lines) + "\n")
