"""A page with one table, with entities and nested tags in its cells."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import pick, sentence


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    rows = [
        f"<tr><td>{word} &amp; co</td><td><b>{random.randint(1, 99)}</b></td>"
        f"<td>{random.randint(100, 9999) / 100:.2f}</td></tr>"
        for word in pick(random, 8)
    ]
    head = "<tr><th>Item</th><th>Count</th><th>Price</th></tr>"
    table = "\n".join(["<table>", head, *rows, "</table>"])
    page = f"<html><body><h1>{sentence(random)}</h1>\n{table}\n<p>end</p></body></html>\n"
    put(folder, "prices.html", page)
