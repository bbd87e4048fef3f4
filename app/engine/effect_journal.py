"""Takes the effects of a program from the worker thread to the store.

Owns the hand-over alone. Thread: the runner's worker; the store is written on the engine's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from app.store.chats import ChatStore
from sandbox.effects import Effect


class EffectJournal:
    """Hands effects from the worker thread to the store on the engine's thread, in order."""

    def __init__(self, store: ChatStore, turn_id: str, loop: asyncio.AbstractEventLoop) -> None:
        self._store = store
        self._turn_id = turn_id
        self._loop = loop

    def settle(self, program_id: str, effects: Sequence[Effect]) -> None:
        """Queue a batch; it is written before the runner's outcome is seen."""
        batch = tuple(effects)
        self._loop.call_soon_threadsafe(self._store.add_effects, self._turn_id, program_id, batch)
