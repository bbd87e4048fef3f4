"""What a place for values is, and the one that forgets them with the process.

Owns the protocol that every keeper follows (`tests/app/vault/test_keepers.py` is its contract).
Keepers block; the engine calls them on worker threads. Thread: any.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from app.vault.errors import Trouble, VaultError

Keep = Literal["keyring", "file", "memory"]
KEEPS: tuple[Keep, ...] = ("keyring", "file", "memory")

LONGEST_VALUE = 65_536
"""Bytes of a value in any place: keys and certificates are far shorter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A value's place. `item_id` is unique for ever; `name` is for people who look into it."""

    item_id: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How a place stands. `trouble` None: it can be used; `label`: its name for people."""

    label: str
    trouble: Trouble | None = None
    message: str = ""
    hint: str = ""


class Keeper(Protocol):
    """A place for values. Everything raises `VaultError`."""

    def standing(self) -> Standing:
        """How the place stands now; shows no question to the person and raises nothing."""
        ...

    def get(self, item: Item, *, may_ask: bool = False) -> str | None:
        """The value, or None. `may_ask`: the system may ask the person to unlock it."""
        ...

    def put(self, item: Item, value: str) -> None:
        """Keep a value in place of the one before."""
        ...

    def delete(self, item: Item) -> None:
        """Forget a value; it is no error when it is not there."""
        ...


class MemoryKeeper:
    """Values for this run only."""

    def __init__(self) -> None:
        self._values: dict[str, str] = {}

    def standing(self) -> Standing:
        """Always usable."""
        return Standing(label="this run only")

    def get(self, item: Item, *, may_ask: bool = False) -> str | None:
        """The value of this run."""
        return self._values.get(item.item_id)

    def put(self, item: Item, value: str) -> None:
        """Keep it until the process ends."""
        check_length(value, LONGEST_VALUE, "A secret")
        self._values[item.item_id] = value

    def delete(self, item: Item) -> None:
        """Forget it."""
        self._values.pop(item.item_id, None)


def check_length(value: str, most_bytes: int, label: str, *, encoding: str = "utf-8") -> None:
    """Raises `VaultError` for a value that is longer than a place takes."""
    size = len(value.encode(encoding, "surrogatepass"))
    if size <= most_bytes:
        return
    raise VaultError(
        "too-long",
        f"The value is too long: {label} holds {most_bytes:,} bytes, and it has {size:,}.",
        hint="Keep it in the encrypted file instead."
        if most_bytes < LONGEST_VALUE and size <= LONGEST_VALUE
        else "Check that it is the value that you meant, and not a whole file.",
    )
