"""Where labelled data of a turn came from, and what of it reaches a call.

Owns the record of an origin and collections of them, bounded: a program that reads a hundred
thousand files keeps a few of each kind, and how many there were. Pure data; any thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from sandbox.labels import UNTRUSTED, Label

OriginKind = Literal[
    "file", "listing", "web", "mail", "download", "tool", "command", "shown", "secret"
]
_KEPT = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where data came from.

    `what`: a path, a URL, a tool's name, ...; `line`: of the call that brought it, in program
    `program` of the turn (from 1).
    """

    label: Label
    kind: OriginKind
    what: str
    line: int | None = None
    program: int = 0

    @property
    def is_strong(self) -> bool:
        """Whether a stranger wrote it for sure: not just a file that once was downloaded."""
        return self.label == UNTRUSTED and self.kind != "download"


class Origins:
    """Some origins: the first of each label and kind, without repetition."""

    def __init__(self, items: Iterable[Origin] = ()) -> None:
        self._items: dict[tuple[Label, OriginKind, str], Origin] = {}
        self._counts: dict[tuple[Label, OriginKind], int] = {}
        self.update(items)

    def __iter__(self) -> Iterator[Origin]:
        return iter(self._items.values())

    def __len__(self) -> int:
        return len(self._items)

    def add(self, origin: Origin) -> bool:
        """Add one; whether it is new and kept."""
        key = (origin.label, origin.kind, origin.what)
        if key in self._items:
            return False
        group = (origin.label, origin.kind)
        count = self._counts[group] = self._counts.get(group, 0) + 1
        if count > _KEPT:
            return False
        self._items[key] = origin
        return True

    def update(self, origins: Iterable[Origin]) -> bool:
        """Add several; whether any was new."""
        news = False
        for origin in origins:
            news = self.add(origin) or news
        return news


@dataclass(frozen=True, slots=True, kw_only=True)
class Reaching:
    """What reaches a call. `held`: its arguments hold data of it; `led`: it only decides on them
    or on whether the call is made; `known`: whether the call was analysed."""

    held: tuple[Origin, ...] = ()
    led: tuple[Origin, ...] = ()
    known: bool = True

    def private(self) -> tuple[Origin, ...]:
        """Private data and secrets in the arguments."""
        return tuple(one for one in self.held if one.label != UNTRUSTED)

    def private_led(self) -> tuple[Origin, ...]:
        """Private data that decides."""
        return tuple(one for one in self.led if one.label != UNTRUSTED)

    def untrusted(self) -> tuple[Origin, ...]:
        """Untrusted data that is in the arguments or decides, the certain ones first."""
        found = [one for one in (*self.held, *self.led) if one.label == UNTRUSTED]
        return tuple(sorted(found, key=lambda one: not one.is_strong))

    def labels(self) -> tuple[Label, ...]:
        """All labels, each once, in a fixed order."""
        return tuple(sorted({one.label for one in (*self.held, *self.led)}))
