"""Plausible names, words and texts for fixtures, drawn from a seeded generator. Thread: any."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random


def _words(text: str) -> list[str]:
    return text.split()


WORDS = _words("""
    amber anchor apple autumn barley basin beacon birch bottle bridge candle canal cedar clover
    copper cotton crane delta ember fable falcon fern flint forest garden ginger harbor hazel
    island ivory juniper kettle lantern lemon linen maple marble meadow mirror nutmeg orchard
    otter paper pepper pebble plum quartz rain raven river saddle sail silver spruce stone sugar
    summer thistle timber tulip velvet walnut willow winter
""")
FIRST_NAMES = _words("Ada Ben Chen Dana Emil Fatma Goran Hanna Igor Jana Kofi Lena Marta Nils Olga")
LAST_NAMES = _words("Abel Brandt Costa Diaz Eriksen Fischer Gomez Haas Ito Jensen Kaya Lopez")
CITIES = _words("Berlin Lisbon Oslo Porto Vienna Warsaw Zurich")
DOMAINS = ("example.com", "example.org", "mail.example.net")


def pick(random: Random, count: int, source: Sequence[str] = WORDS) -> list[str]:
    """`count` different words."""
    return random.sample(source, count)


def sentence(random: Random, words: int = 8) -> str:
    """A line of words that ends with a full stop."""
    return " ".join(random.choice(WORDS) for _ in range(words)).capitalize() + "."


def text(random: Random, lines: int) -> str:
    """`lines` lines of different length, each ended."""
    return "".join(sentence(random, random.randint(3, 11)) + "\n" for _ in range(lines))


def day(random: Random, first_year: int = 2021, last_year: int = 2024) -> str:
    """A date, ``YYYY-MM-DD``."""
    year = random.randint(first_year, last_year)
    return f"{year}-{random.randint(1, 12):02d}-{random.randint(1, 28):02d}"


def person(random: Random) -> str:
    """A first and a last name."""
    return f"{random.choice(FIRST_NAMES)} {random.choice(LAST_NAMES)}"
