"""Source files with TODO comments."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import pick, sentence


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    for number, word in enumerate(pick(random, 6)):
        lines = [f"value_{n} = {random.randint(1, 99)}" for n in range(random.randint(4, 12))]
        for at in sorted(random.sample(range(len(lines)), 2)):
            lines[at] += f"  # TODO:  {sentence(random, 4)}"
        place = "" if number % 2 else "src/"
        put(folder, f"{place}{word}.py", "\n".join(lines) + "\n")
    put(folder, "notes.txt", "TODO: not in a Python file\n")
