"""Pictures with different names at two depths of subfolders, among other files."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import pick, text


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    places = ["trip/", "trip/day two/", "phone/"]
    for number, word in enumerate(pick(random, 12)):
        place = places[number % 3]
        if number < 9:
            put(folder, f"{place}{word}.{['jpg', 'png'][number % 2]}", random.randbytes(120))
        else:
            put(folder, f"{place}{word}.txt", text(random, 2))
