"""Temporary files beside files with names that look like theirs."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import pick, text


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    words = pick(random, 10)
    for word in words[:3]:
        put(folder, f"~${word}.docx", text(random, 1))
    for word in words[3:6]:
        put(folder, f"{word}.tmp", text(random, 1))
    put(folder, f"{words[6]}.tmp.docx", text(random, 2))
    put(folder, f"tmp-{words[7]}.txt", text(random, 2))
    put(folder, f"{words[8]}~$.txt", text(random, 2))
    put(folder, f"{words[9]}.template", text(random, 2))
