"""Config files with both kinds of line ends, one per folder; notes that must stay as they are."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import pick


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    for number, word in enumerate(pick(random, 8)):
        place = ["", "site/", "site/staging/"][number % 3]
        end = "\r\n" if number % 2 else "\n"
        host = "localhost" if number == 4 else "api.old.example.com"
        lines = [f"[{word}]", f"server = {host}", f"port = {random.randint(1000, 9999)}"]
        if number % 3 == 0:
            lines.append(f"fallback = https://{host}/v{random.randint(1, 3)}/")
        put(folder, f"{place}{word}.{['conf', 'ini'][number % 2]}", end.join(lines) + end)
    put(folder, "changes.txt", "The server was api.old.example.com until spring.\n")
