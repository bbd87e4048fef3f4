"""What the programs of a chat have defined so far: shown, and forgotten when the person says so.

Owns the surface of the interpreter's state for the window and the command line. Thread: engine.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from app.engine.turn_context import TurnContext
from app.errors import AppError
from app.store.records import TurnStatus
from sandbox.errors import StateUnusableError

_AT_WORK: frozenset[TurnStatus] = frozenset(
    {"writing", "checking", "running", "asking", "committing", "interrupted"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatSession:
    """What the next program finds. `problem`: why that is nothing, where it should be something."""

    variables: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    size_bytes: int = 0
    problem: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is defined."""
        return not (self.variables or self.functions)


class ChatSessions:
    """The sessions of all chats."""

    def __init__(self, context: TurnContext) -> None:
        self._store = context.store
        self._states = context.states

    async def of(self, chat_id: str) -> ChatSession:
        """What the next program of a chat finds."""
        turns = self._store.view(chat_id).turns
        latest = self._states.latest(chat_id, [turn.turn_id for turn in turns])
        if not latest:
            return ChatSession()
        try:
            state = await asyncio.to_thread(self._states.load, chat_id, latest)
        except StateUnusableError as error:
            return ChatSession(problem=error.message)
        return ChatSession(
            variables=tuple(sorted(state.names)),
            functions=tuple(sorted(state.definitions)),
            size_bytes=len(state.session),
        )

    async def reset(self, chat_id: str) -> ChatSession:
        """Forget what a chat's programs have defined; the next one starts fresh. What there was.

        Raises: `AppError` while a turn of the chat is at work or waits to go on.
        """
        for turn in self._store.view(chat_id).turns:
            if turn.status in _AT_WORK:
                raise AppError(
                    f"This chat is still at work: a run is {turn.status}.",
                    hint="Wait until it is done, or stop it first.",
                )
        found = await self.of(chat_id)
        await asyncio.to_thread(self._states.forget, chat_id)
        return found
