"""Photos with the date in the name, and a few other files."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import day, text


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    for number in range(14):
        date = day(random, 2022, 2024).replace("-", "")
        time = f"{random.randint(7, 22):02d}{random.randint(0, 59):02d}{number:02d}"
        put(folder, f"IMG_{date}_{time}.jpg", b"\xff\xd8\xff" + random.randbytes(200) + b"\xff\xd9")
    put(folder, "packing list.txt", text(random, 5))
    put(folder, "map.png", b"\x89PNG" + random.randbytes(90))
