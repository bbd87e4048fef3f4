"""A remote model at a loopback server, and one exchange with it, for tests."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import httpx
import httpx2
from pydantic_ai import Agent, ModelRetry
from pydantic_ai.messages import ModelMessage, UserContent

from models.faults import Wording
from models.metering import Asked, Meter, Used
from models.providers import RemoteModelId
from models.remote import Patience, RemoteModel, Waiting
from models.remote_client import Connections, Timeouts, build_model, request_settings
from tests.wire.dialects import WireFormat

KEY = "sk-canary-0123456789abcdef"
QUICK = Patience(attempts=3, first_wait_s=0.0, longest_wait_s=5.0)


@dataclass
class Accounts:
    """A meter that remembers."""

    asked: list[Asked] = field(default_factory=list)
    used: list[Used | None] = field(default_factory=list)
    forbid: Callable[[Asked], None] = lambda _: None

    def begin(self, asked: Asked) -> str:
        """Note it."""
        self.forbid(asked)
        self.asked.append(asked)
        return str(len(self.asked))

    def end(self, ticket: str, used: Used | None) -> None:
        """Note it."""
        self.used.append(used)

    def refused(self, ticket: str) -> None:
        """Note it."""
        self.used.append(None)


@dataclass
class Talk:
    """What came of an exchange. `ran`: sources that `run_code` was called with."""

    answer: str = ""
    ran: list[str] = field(default_factory=list)
    messages: list[ModelMessage] = field(default_factory=list)
    waits: list[Waiting] = field(default_factory=list)
    accounts: Accounts = field(default_factory=Accounts)


@cache
def _certificates() -> ssl.SSLContext:
    """Read once: that takes longer than the rest of a test."""
    return ssl.create_default_context()


def loopback_connections(timeouts: Timeouts) -> Connections:
    """Real connections, without reading the certificates again for each test."""
    return Connections(
        timeouts,
        transport=httpx2.AsyncHTTPTransport(verify=_certificates()),
        old_transport=httpx.AsyncHTTPTransport(verify=_certificates()),
    )


def remote_model(
    model: RemoteModelId,
    connections: Connections,
    *,
    key: str | None = KEY,
    meter: Meter | None = None,
    patience: Patience = QUICK,
    on_wait: Callable[[Waiting], None] = lambda _: None,
) -> RemoteModel:
    """The model as the engine makes it, without its waits."""

    async def no_sleep(_seconds: float) -> None:
        return

    return RemoteModel(
        build_model(model, key, connections),
        model,
        wording=Wording(model=model, key=key or ""),
        meter=meter,
        patience=patience,
        on_wait=on_wait,
        sleep=no_sleep,
    )


async def talk(
    wire: WireFormat,
    address: str,
    prompt: str | Sequence[UserContent] = "Count the files.",
    *,
    history: Sequence[ModelMessage] = (),
    talk: Talk | None = None,
    connections: Connections | None = None,
    settings: dict[str, Any] | None = None,
    result: Callable[[str], Any] = lambda _source: "3 files",
) -> Talk:
    """One turn: the prompt, calls of `run_code` as often as the model wants, the answer."""
    talk = talk or Talk()
    own = connections or loopback_connections(Timeouts(connect_s=2, read_s=2, write_s=2))
    model = remote_model(
        wire.model_at(address), own, meter=talk.accounts, on_wait=talk.waits.append
    )
    agent: Agent[None, str] = Agent(model, instructions="Write programs.", retries=2)

    @agent.tool_plain
    async def run_code(source: str) -> Any:
        """Run a program.

        Args:
            source: All of it.
        """
        talk.ran.append(source)
        found = result(source)
        if isinstance(found, ModelRetry):
            raise found
        return found

    made: Any = request_settings(model.id, own.timeouts, max_tokens=500)
    try:
        async with agent.iter(
            prompt, message_history=list(history), model_settings={**made, **(settings or {})}
        ) as run:
            async for node in run:
                if Agent.is_model_request_node(node):
                    async with node.stream(run.ctx) as events:
                        async for _ in events:
                            pass
            assert run.result is not None
            talk.answer = run.result.output
            talk.messages = run.all_messages()
    finally:
        if connections is None:
            await own.close()
    return talk
