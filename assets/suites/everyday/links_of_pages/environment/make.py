"""Web pages with links of several kinds."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import DOMAINS, pick, sentence


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    targets = [f"https://{random.choice(DOMAINS)}/{word}" for word in pick(random, 7)]
    for word in pick(random, 4):
        parts = [f"<p>{sentence(random)}</p>" for _ in range(3)]
        parts += [
            f'<p>See <a class="x" href="{target}">{sentence(random, 2)}</a></p>'
            for target in random.sample(targets, 4)
        ]
        parts += ['<a href="#top">up</a>', '<a href="other.html">next</a>', "<img src='a.png'>"]
        random.shuffle(parts)
        body = "\n".join(parts)
        put(folder, f"{word}.html", f"<html><body>\n{body}\n</body></html>\n")
