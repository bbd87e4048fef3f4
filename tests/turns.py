"""Turns through a real engine, for tests: opened, asked and closed in order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from app.engine.engine import Engine
from app.engine.mailbox import Mailbox
from app.paths import Paths
from app.store.records import Folder, TurnRecord
from tests.fakes import ScriptedModels

LONGEST_S = 200


@asynccontextmanager
async def engine_with(home: Path, models: ScriptedModels) -> AsyncGenerator[Engine]:
    """A started engine with these models, closed at the end."""
    engine = Engine(Paths(home=home), Mailbox(), models=models)
    await engine.start(in_background=False)
    try:
        yield engine
    finally:
        await engine.close()


def run(work: Callable[[], Awaitable[None]]) -> None:
    """Run a test's coroutine, bounded in time."""

    async def bounded() -> None:
        async with asyncio.timeout(LONGEST_S):
            await work()

    asyncio.run(bounded())


async def ask(engine: Engine, folder: Path, request: str = "Put the pictures away") -> TurnRecord:
    """A request in a new chat on `folder`, and the turn when it is no longer at work."""
    chat = await engine.new_chat([Folder(path=str(folder))])
    turn = await engine.send(chat.chat_id, request)
    return await engine.wait(turn.turn_id)
