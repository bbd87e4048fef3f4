"""A flat folder of files of six types; some extensions are in capitals."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import pick, text


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    extensions = ["jpg", "JPG", "png", "txt", "md", "csv", "pdf", "jpg", "txt", "PDF", "csv", "png"]
    for word, extension in zip(pick(random, len(extensions)), extensions, strict=True):
        name = word.capitalize() if random.random() < 0.4 else word
        put(folder, f"{name}.{extension}", text(random, random.randint(1, 6)))
