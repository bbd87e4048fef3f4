"""A price list with prices of different numbers of digits, all different."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import pick


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    prices = random.sample(range(150, 900), 5) + random.sample(range(1000, 99000), 9)
    random.shuffle(prices)
    lines = ["item,price,stock"]
    for word, cents in zip(pick(random, len(prices)), prices, strict=True):
        lines.append(f"{word},{cents / 100:.2f},{random.randint(0, 90)}")
    put(folder, "inventory.csv", "\n".join(lines) + "\n")
