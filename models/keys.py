"""Where keys for providers come from: a small protocol, and keys for this run alone.

Never a file, never an environment variable. Thread: the engine's; `RunKeys` may be filled from any.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class KeySource(Protocol):
    """Gives a provider's key; the vault is one."""

    def key(self, provider: str) -> str | None:
        """The key for a `Provider.key_name`; None: there is none.

        Raises: `ModelError` when it is there and cannot be had, such as in a locked keyring.
        """
        ...


class RunKeys:
    """Keys that live in memory and end with this process; asks `after` for those it has not."""

    def __init__(
        self, after: KeySource | None = None, *, learn: Callable[[str, str], None] | None = None
    ) -> None:
        """`learn`: is told each key's name and value, so that it can be kept out of texts."""
        self._keys: dict[str, str] = {}
        self._after = after
        self._learn = learn

    def put(self, provider: str, key: str) -> None:
        """Take a key for this run; an empty one is forgotten."""
        if key.strip():
            self._keys[provider] = key.strip()
            if self._learn is not None:
                self._learn(f"key of {provider}", key.strip())
        else:
            self._keys.pop(provider, None)

    def has(self, provider: str) -> bool:
        """Whether there is a key for this run."""
        return provider in self._keys

    def key(self, provider: str) -> str | None:
        """The key given for this run, else what the next source has."""
        own = self._keys.get(provider)
        if own is not None or self._after is None:
            return own
        return self._after.key(provider)

    def __repr__(self) -> str:
        """Names, never values."""
        return f"RunKeys({sorted(self._keys)})"
