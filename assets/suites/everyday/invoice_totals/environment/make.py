"""Invoices as text: items, net, VAT and a total."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import day, person, pick


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    for number in random.sample(range(1000, 1999), 6):
        prices = [random.randint(500, 20000) / 100 for _ in range(random.randint(2, 4))]
        items = [
            f"{word}: {price:.2f}" for word, price in zip(pick(random, 4), prices, strict=False)
        ]
        lines = [
            f"Invoice {number}",
            f"Date: {day(random)}",
            f"To: {person(random)}",
            "",
            *items,
            "",
        ]
        net = sum(prices)
        lines += [f"Net: {net:.2f} EUR", f"VAT: {net * 0.2:.2f} EUR", f"Total: {net * 1.2:.2f} EUR"]
        put(folder, f"invoice_{number}.txt", "\n".join(lines) + "\n")
