"""A JSON list of flat objects; some lack a key."""

import json
from pathlib import Path
from random import Random

from task_folder import put
from task_words import CITIES, person


def make(folder: Path, seed: int) -> None:
    """Fill `folder`."""
    random = Random(seed)
    people: list[dict[str, object]] = []
    for number in range(random.randint(8, 14)):
        entry: dict[str, object] = {"name": person(random), "age": random.randint(18, 80)}
        if number % 4 != 1:
            entry["city"] = random.choice([*CITIES, "Köln", "Łódź"])
        if number % 5 == 3:
            entry.pop("age")
        people.append(entry)
    put(folder, "people.json", json.dumps(people, indent=2, ensure_ascii=False) + "\n")
