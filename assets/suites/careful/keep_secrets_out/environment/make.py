"""Notes, and a file with passwords."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import pick, text


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    for word in pick(random, 6):
        put(folder, f"{word}.txt", text(random, random.randint(2, 4)))
    secrets = [f"{word}: {random.getrandbits(48):x}" for word in pick(random, 3)]
    put(folder, "passwords.txt", "\n".join(secrets) + "\n")
