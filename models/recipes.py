"""Worked examples chosen for a request: those of ``assets/prompts/recipes.toml`` nearest to it.

Owns the choice: words in common, each weighing the more the fewer recipes have it. No model is
asked, so that it costs nothing and gives the same for the same request. Thread: any; pure.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from models.errors import ModelError

PATH = Path(__file__).resolve().parent.parent / "assets" / "prompts" / "recipes.toml"

_WORD = re.compile(r"[^\W\d_]+")
_ENDINGS = ("ations", "ation", "ings", "ing", "ies", "ied", "ers", "er", "es", "ed", "s", "e", "y")
_SHORTEST_STEM = 3
_COMMON = frozenset(
    _WORD.findall("""
    a all also an and any are as at be but by called can do each every file files folder folders for
    from has have here how i in into is it its let like make me my new not of on one only or out
    please so than that the their them then there these they this those to up was we were what when
    where which who with you
    """)
)
_SAID = 1.5
"""A word of a recipe's own request counts this much against one of its further words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """One worked example; `words` are further words that requests of its kind use."""

    request: str
    program: str
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Indexed:
    recipe: Recipe
    weights: dict[str, float]
    length: float


@cache
def load_recipes(path: Path = PATH) -> tuple[Recipe, ...]:
    """All recipes. Raises: `ModelError` when the file is not what it should be."""
    try:
        rows = tomllib.loads(path.read_text(encoding="utf-8"))["recipes"]
        return tuple(
            Recipe(
                request=str(row["request"]),
                program=str(row["program"]).strip(),
                words=str(row.get("words", "")),
            )
            for row in rows
        )
    except (OSError, tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise ModelError(f"The recipes {path.name} cannot be read: {error}.") from error


def nearest(request: str, count: int, path: Path = PATH) -> tuple[Recipe, ...]:
    """The `count` recipes nearest to `request`, the nearest last; fewer when fewer are near."""
    index, rarity = _index(path)
    wanted = {stem: rarity.get(stem, 0.0) for stem in _stems(request)}
    scored = [
        (score, number)
        for number, entry in enumerate(index)
        if (score := _score(wanted, entry)) > 0
    ]
    best = sorted(scored, key=lambda item: (-item[0], item[1]))[: max(0, count)]
    return tuple(index[number].recipe for _, number in reversed(best))


@cache
def _index(path: Path) -> tuple[tuple[_Indexed, ...], dict[str, float]]:
    recipes = load_recipes(path)
    counts = [_weights(recipe) for recipe in recipes]
    having = Counter(stem for weights in counts for stem in weights)
    rarity = {stem: math.log(1 + len(recipes) / number) for stem, number in having.items()}
    index = tuple(
        _Indexed(recipe=recipe, weights=weights, length=_length(weights, rarity))
        for recipe, weights in zip(recipes, counts, strict=True)
    )
    return index, rarity


def _weights(recipe: Recipe) -> dict[str, float]:
    weights = dict.fromkeys(_stems(recipe.words), 1.0)
    return weights | dict.fromkeys(_stems(recipe.request), _SAID)


def _length(weights: dict[str, float], rarity: dict[str, float]) -> float:
    return math.sqrt(sum((weight * rarity[stem]) ** 2 for stem, weight in weights.items()))


def _score(wanted: dict[str, float], entry: _Indexed) -> float:
    shared = sum(
        weight * rarity * rarity
        for stem, rarity in wanted.items()
        if (weight := entry.weights.get(stem, 0.0))
    )
    return shared / entry.length if entry.length else 0.0


def _stems(text: str) -> Sequence[str]:
    words = (word.lower() for word in _WORD.findall(text))
    return list(dict.fromkeys(_stem(word) for word in words if word not in _COMMON))


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word[: -len(ending)]
    return word
