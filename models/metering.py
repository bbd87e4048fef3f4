"""What a remote model tells of every request, and who may forbid it.

Owns the protocol between a remote model and the engine's accounts. Counts nothing itself.
Thread: the engine's loop.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request that is about to leave. `input_tokens`: an estimate, on the high side."""

    model_id: str
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """What a request took, as its provider reported it.

    `input_tokens` includes the cached ones and those written to the cache; `output_tokens`
    includes `thinking_tokens`.
    """

    input_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    thinking_tokens: int = 0
    seconds: float = 0.0


class Meter(Protocol):
    """Keeps the accounts of one turn's requests."""

    def begin(self, asked: Asked) -> str:
        """Note a request before it is sent; returns its ticket.

        Raises: `ModelError` when it must not be sent.
        """
        ...

    def end(self, ticket: str, used: Used | None) -> None:
        """Note what it took; None: it broke off, and what it took is not known."""
        ...

    def refused(self, ticket: str) -> None:
        """Note that it was refused before any work was done: it took nothing."""
        ...


class NoMeter:
    """Counts nothing, forbids nothing: for tests of models alone."""

    def begin(self, asked: Asked) -> str:
        """No ticket is needed."""
        return asked.model_id

    def end(self, ticket: str, used: Used | None) -> None:
        """There are no accounts."""

    def refused(self, ticket: str) -> None:
        """There are no accounts."""
