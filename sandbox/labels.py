"""Where data came from: the labels, and how marks of their sources are joined.

Owns the names of labels and the arithmetic of marks. A mark is one integer: for each source of a
program one bit says that a value holds data of it, the next bit that the source only decided on
the value or on whether something happens ("influenced by"). It must not know programs or policy.
Pure; any thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

Label = str
PRIVATE: Label = "private"
UNTRUSTED: Label = "untrusted"
_SECRET = "secret:"  # noqa: S105  # a label's prefix

MARK_BITS = 2


def secret_label(name: str) -> Label:
    """The label of what a secret handle stands for."""
    return f"{_SECRET}{name}"


def secret_name(label: Label) -> str | None:
    """The secret's name, or None for another label."""
    return label.removeprefix(_SECRET) if label.startswith(_SECRET) else None


class Marks:
    """The arithmetic of marks over a fixed number of sources."""

    def __init__(self, sources: int) -> None:
        self._direct = sum(1 << (MARK_BITS * index) for index in range(sources))
        self.everything = self._direct | (self._direct << 1)
        """Data of every source, and the influence of every source."""

    def as_influence(self, mark: int) -> int:
        """What a value with this mark passes on when it only decides on something."""
        return ((mark & self._direct) << 1) | (mark & (self._direct << 1))

    def held(self, mark: int) -> Iterator[int]:
        """The sources whose data is in a value, by number."""
        return _bits(mark & self._direct)

    def touched(self, mark: int) -> Iterator[int]:
        """The sources whose data is in a value or that influenced it, by number."""
        return _bits((mark | (mark >> 1)) & self._direct)


def bit(index: int) -> int:
    """The mark of data that comes from one source alone."""
    return 1 << (MARK_BITS * index)


def joined(marks: Iterable[int]) -> int:
    """The mark of a value made of several."""
    found = 0
    for mark in marks:
        found |= mark
    return found


def _bits(mark: int) -> Iterator[int]:
    while mark:
        low = mark & -mark
        yield (low.bit_length() - 1) // MARK_BITS
        mark ^= low
