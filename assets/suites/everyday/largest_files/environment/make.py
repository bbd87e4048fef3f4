"""Files of clearly different sizes at two depths; names and sizes are unrelated."""

from pathlib import Path
from random import Random

from task_folder import put
from task_words import pick


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    sizes = [200 + 731 * step for step in range(11)]
    random.shuffle(sizes)
    for number, (word, size) in enumerate(zip(pick(random, 11), sizes, strict=True)):
        place = "videos/" if number % 3 == 0 else ""
        put(folder, f"{place}{word}.{random.choice(['mp4', 'zip', 'dat'])}", random.randbytes(size))
