"""Files with capitals in names and extensions, spaces and umlauts included."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import pick, text


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    words = pick(random, 7)
    names = [
        f"{words[0].upper()}.TXT",
        f"{words[1].capitalize()} Report.md",
        f"{words[2]}.csv",
        f"{words[3].capitalize()}{words[4].capitalize()}.Txt",
        f"Über {words[5].capitalize()}.txt",
        f"{words[6]}_FINAL.PDF",
    ]
    for name in names:
        put(folder, name, text(random, 3))
