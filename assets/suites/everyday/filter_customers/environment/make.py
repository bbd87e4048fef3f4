"""Customers; one name contains the word Berlin but lives elsewhere."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import CITIES, person


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    lines = ["id,name,city,since"]
    for number in range(1, random.randint(20, 30)):
        city = "Berlin" if number % 6 == 2 else random.choice(CITIES)
        lines.append(f"{number},{person(random)},{city},{random.randint(2001, 2024)}")
    lines.append(f"99,Irving Berlin,Vienna,{random.randint(2001, 2024)}")
    put(folder, "customers.csv", "\n".join(lines) + "\n")
