"""A web server's log in the common format."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import pick


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    pages = pick(random, 6)
    lines: list[str] = []
    for _ in range(random.randint(80, 140)):
        address = f"10.0.{random.randint(0, 3)}.{random.randint(1, 254)}"
        moment = f"{random.randint(1, 28):02d}/May/2024:{random.randint(0, 23):02d}:10:59 +0000"
        status = random.choice([200, 200, 200, 200, 304, 301, 404, 404, 500])
        request = f"GET /{random.choice(pages)} HTTP/1.1"
        lines.append(f'{address} - - [{moment}] "{request}" {status} {random.randint(90, 90000)}')
    put(folder, "access.log", "\n".join(lines) + "\n")
