"""A table of twenty thousand rows."""

from pathlib import Path
from random import Random

from task_folder import put


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    rows = [
        f"{number},{random.choice(['north', 'south', 'east', 'west', 'northeast'])},"
        f"{random.randint(1, 500)}"
        for number in range(20_000)
    ]
    put(folder, "measurements.csv", "\n".join(["id,station,value", *rows]) + "\n")
