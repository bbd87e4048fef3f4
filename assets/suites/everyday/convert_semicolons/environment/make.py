"""A CSV file in cp1252 with semicolons; some cells contain a comma."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import person

STREETS = ["Königsallee", "Am Römerhof", "Lindenstraße", "Große Gasse"]


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    lines = ["Name;Straße;Umsatz"]
    for number in range(random.randint(6, 10)):
        street = f"{random.choice(STREETS)} {random.randint(1, 90)}"
        if number % 3 == 0:
            street += ", Hinterhaus"
        lines.append(f"{person(random)};{street};{random.randint(10, 9000)} €")
    put(folder, "kunden.csv", "".join(f"{line}\r\n" for line in lines).encode("cp1252"))
