"""Notes in Markdown that begin with a heading."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import pick, sentence, text


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    for word in pick(random, 6):
        title = sentence(random, 3).rstrip(".")
        put(
            folder, f"{word}.md", f"# {title}\n\n{text(random, 3)}\n## Details\n\n{text(random, 2)}"
        )
