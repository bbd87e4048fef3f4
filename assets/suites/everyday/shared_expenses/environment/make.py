"""Expenses of a group; the total divides evenly."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import FIRST_NAMES, pick


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    people = pick(random, 4, FIRST_NAMES)
    rows = [[random.choice(people), random.randint(5, 120)] for _ in range(10)]
    rows += [[person, random.randint(5, 50)] for person in people]
    rows[-1][1] += -sum(amount for _, amount in rows) % 4
    random.shuffle(rows)
    lines = [f"{person},{amount}.00" for person, amount in rows]
    put(folder, "expenses.csv", "\n".join(["person,amount", *lines]) + "\n")
