"""Letters with addresses in running text; some occur more than once, some lines have an @ alone."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import DOMAINS, FIRST_NAMES, LAST_NAMES, pick, sentence


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    addresses = [
        f"{first}.{last}@{random.choice(DOMAINS)}".lower()
        for first, last in zip(
            pick(random, 9, FIRST_NAMES), pick(random, 9, LAST_NAMES), strict=True
        )
    ]
    for word in pick(random, 5):
        lines: list[str] = []
        for address in random.sample(addresses, 3):
            form = random.choice(["Please write to {}, thanks.", "Contact: <{}>", "cc {} and me"])
            lines += [sentence(random), form.format(address)]
        put(folder, f"{word}.txt", "\n".join([*lines, "2 kg @ 3.50 each"]) + "\n")
