"""The vault: values by item, whichever place keeps them, known to the redactor as soon as read.

Owns the three places and the values that were read in this process. It must not know hosts, methods
or the store: `app/engine/secret_desk.py` joins them. Thread: any; what touches a place blocks.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from pathlib import Path

from app.vault.encrypted_file import EncryptedFile
from app.vault.errors import VaultError
from app.vault.keepers import Item, Keep, Keeper, MemoryKeeper, Standing
from app.vault.keyring_backend import KeyringKeeper
from app.vault.redact import SHORTEST_VALUE, Redactor


class Vault:
    """All values of this process. `redactor` learns each value that goes through here."""

    def __init__(
        self,
        file: Path,
        redactor: Redactor,
        *,
        keyring: Keeper | None = None,
        timeout_s: float = 5.0,
    ) -> None:
        self.redactor = redactor
        self.file = EncryptedFile(file)
        self.keyring = keyring or KeyringKeeper(timeout_s=timeout_s)
        self._keepers: Mapping[Keep, Keeper] = {
            "keyring": self.keyring,
            "file": self.file,
            "memory": MemoryKeeper(),
        }
        self._values: dict[str, str] = {}
        self._lock = threading.Lock()

    def keeper(self, keep: Keep) -> Keeper:
        """A place itself."""
        return self._keepers[keep]

    def standing(self, keep: Keep) -> Standing:
        """How a place stands."""
        return self._keepers[keep].standing()

    def known(self, item: Item) -> str | None:
        """The value, if it was read already; does not block."""
        with self._lock:
            return self._values.get(item.item_id)

    def value(self, keep: Keep, item: Item, *, may_ask: bool = False) -> str:
        """The value of an item. Raises: `VaultError`, "gone" when its place has none."""
        known = self.known(item)
        if known is not None:
            return known
        value = self._keepers[keep].get(item, may_ask=may_ask)
        if value is None:
            raise VaultError(
                "gone",
                f"The value of {item.name} is not there any more: "
                f"{self._keepers[keep].standing().label} has none.",
                hint=f"Enter it again: drydock vault set {item.name}",
            )
        self._know(item, value)
        return value

    def read(self, items: Iterable[tuple[Keep, Item]]) -> dict[str, VaultError]:
        """Read values, so that they are known, without a question to the person.

        Returns what was wrong, by item id. A place that does not answer is not asked again.
        """
        problems: dict[str, VaultError] = {}
        broken: dict[Keep, VaultError] = {}
        for keep, item in items:
            if keep in broken:
                problems[item.item_id] = broken[keep]
                continue
            try:
                self.value(keep, item)
            except VaultError as error:
                problems[item.item_id] = error
                if error.trouble not in ("gone", "failed"):
                    broken[keep] = error
        return problems

    def put(self, keep: Keep, item: Item, value: str) -> None:
        """Keep a value. The one before, if it was read, stays known to the redactor."""
        check_value(value)
        self._keepers[keep].put(item, value)
        self._know(item, value)

    def delete(self, keep: Keep, item: Item) -> None:
        """Forget a value; the redactor goes on knowing it while this process lives."""
        self._keepers[keep].delete(item)
        with self._lock:
            self._values.pop(item.item_id, None)

    def close(self) -> None:
        """Forget what was read."""
        with self._lock:
            self._values.clear()
        self.file.lock()

    def _know(self, item: Item, value: str) -> None:
        with self._lock:
            self._values[item.item_id] = value
        self.redactor.learn(item.name, value, *_parts(value))


def check_value(value: str) -> None:
    """Raises `VaultError` for what cannot be a secret."""
    if len(value) < SHORTEST_VALUE:
        raise VaultError(
            "failed",
            f"The value is too short: a secret has at least {SHORTEST_VALUE} characters, so that "
            "it can be told from other text.",
            hint="Check that you gave the whole value.",
        )
    if "\0" in value or not value.strip():
        raise VaultError("failed", "The value is no text.", hint="Give the value as text.")


def _parts(value: str) -> tuple[str, ...]:
    """What is secret by itself in `user:password` and in `Name: value`."""
    before, colon, after = value.partition(":")
    return (after.strip(),) if colon and before and len(after.strip()) >= SHORTEST_VALUE else ()
