"""Turns of a real engine with remote models at a loopback server, for tests."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from app.engine.engine import Engine
from app.engine.mailbox import Mailbox
from app.paths import Paths
from app.settings import BudgetSettings, PriceSettings, RemoteSettings, ServerSettings
from app.store.records import ChatRecord, Folder
from app.vault.keepers import Keeper
from models.remote_client import Timeouts
from tests.fakes import ScriptedModels
from tests.models.remote_talk import loopback_connections
from tests.wire.server import Answer, WireServer, serving

MODEL = "compatible:here/qwen3-coder"


@asynccontextmanager
async def remote_engine(
    home: Path,
    *answers: Answer,
    budget: BudgetSettings | None = None,
    prices: tuple[PriceSettings, ...] = (),
    local: ScriptedModels | None = None,
    keyring: Keeper | None = None,
) -> AsyncGenerator[tuple[Engine, WireServer]]:
    """An engine whose server "here" answers so."""
    async with serving(*answers) as server:
        engine = Engine(
            Paths(home=home),
            Mailbox(),
            models=local or ScriptedModels(),
            keyring=keyring,
            connect=lambda: loopback_connections(Timeouts(connect_s=2, read_s=2, write_s=2)),
        )
        await engine.start(in_background=False)
        here = ServerSettings(name="here", address=f"{server.address}/v1")
        settings = (await engine.settings()).model_copy(
            update={
                "remote": RemoteSettings(models=(MODEL,), servers=(here,), prices=prices),
                "budget": budget or BudgetSettings(),
            }
        )
        await engine.change_settings(settings)
        try:
            yield engine, server
        finally:
            await engine.close()


async def remote_chat(engine: Engine, folder: Path) -> ChatRecord:
    """A chat on `folder` with the model at the server."""
    return await engine.new_chat([Folder(path=str(folder))], MODEL)
