"""Ranks texts by the words of a query: Okapi BM25 over an inverted index, in memory.

Owns tokenizing (snake_case and camelCase are words, endings are cut) and the ranking. It knows
nothing of tools. Pure; any thread.
Source: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

# How soon repeating a word stops to count, and how much longer texts are held back.
_SATURATION = 1.2
_LENGTH = 0.75
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WORD = re.compile(r"[^\W_]+")
_STOP_WORDS = frozenset(
    _WORD.findall(
        "a all an and any are as at be by can do each every for from get give has have how i in "
        "into is it its list make me my not of on or our that the their them then there these they "
        "this to use want was were what when where which who will with you your"
    )
)
_ENDINGS = ("ing", "ed", "es", "s")
_SHORTEST_STEM = 3


@dataclass(frozen=True, slots=True)
class Hit:
    """A text that was found. `terms`: how many different words of the query it has."""

    index: int
    score: float
    terms: int


class Index:
    """An index of `texts`, each given as words with a weight for where they stand."""

    def __init__(self, texts: Sequence[Mapping[str, float]]) -> None:
        """`texts`: each a mapping from a part of the text to the weight of its words."""
        counts = [_weighted(parts) for parts in texts]
        lengths = [sum(words.values()) for words in counts]
        average = sum(lengths) / max(len(lengths), 1) or 1.0
        held = [_SATURATION * (1 - _LENGTH + _LENGTH * n / average) for n in lengths]
        frequency = Counter(word for words in counts for word in words)
        self._postings: dict[str, list[tuple[int, float]]] = {}
        for number, words in enumerate(counts):
            for word, count in words.items():
                rare = math.log(1 + (len(counts) - frequency[word] + 0.5) / (frequency[word] + 0.5))
                weight = rare * count * (_SATURATION + 1) / (count + held[number])
                self._postings.setdefault(word, []).append((number, weight))

    def search(self, query: str, limit: int) -> list[Hit]:
        """The best texts for `query`, best first, equal ones in the order of the texts."""
        scores: dict[int, float] = {}
        terms: dict[int, int] = {}
        for word in dict.fromkeys(words_of(query)):
            for number, weight in self._postings.get(word, ()):
                scores[number] = scores.get(number, 0.0) + weight
                terms[number] = terms.get(number, 0) + 1
        best = sorted(scores, key=lambda number: (-scores[number], number))[:limit]
        return [Hit(number, scores[number], terms[number]) for number in best]


def words_of(text: str) -> list[str]:
    """The words of a text that are worth comparing, in lower case, without their endings."""
    found = _WORD.findall(_CAMEL.sub(" ", text))
    return [stem(word) for word in map(str.casefold, found) if word not in _STOP_WORDS]


def stem(word: str) -> str:
    """`word` without a common English ending."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word[: -len(ending)].rstrip("e") or word
    return word.rstrip("e") if len(word) > _SHORTEST_STEM else word


def _weighted(parts: Mapping[str, float]) -> dict[str, float]:
    words: dict[str, float] = {}
    for text, weight in parts.items():
        for word in words_of(text):
            words[word] = words.get(word, 0.0) + weight
    return words
