"""What would be sent, to the byte: the real request of the real client, caught before it goes.

Owns the catching. Nothing here can reach the network: the client's transport keeps the request and
ends there, and it holds no key. Thread: engine; the folders are read on a worker thread.
"""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from app.engine.accounts import Left
from app.engine.asking import build_agent
from app.engine.context import build_context
from app.engine.folders import open_grants
from app.engine.listing import list_folders
from app.errors import AppError
from app.paths import Paths
from app.store.records import ChatRecord, TurnRecord
from models.metering import Used
from models.prices import Money
from models.prompt import load_prompt
from models.providers import RemoteModelId
from sandbox.blobs import BlobStore
from sandbox.stage import Stage

if TYPE_CHECKING:
    from pydantic_ai.models import Model
    from pydantic_ai.settings import ModelSettings

LISTING_SHARE = 0.2
LISTING_TOKENS = 640
_PLACEHOLDER = "the-key-is-added-when-it-is-sent"
_CHARS_PER_TOKEN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """One request as it would be sent. `body`: the exact bytes; `least`, `most`: what it may take.

    `held`: why it may not be sent: "chat" or a folder; empty: it may.
    """

    model_id: str
    place: str
    url: str
    body: bytes
    system: str
    messages: tuple[tuple[str, str], ...]
    tools: tuple[str, ...]
    least: Used
    most: Used
    least_money: Money | None = None
    most_money: Money | None = None
    held: str = ""
    budgets: tuple[Left, ...] = ()


class _CaughtError(Exception):
    """Ends a request that was caught."""


async def capture(
    model: RemoteModelId,
    *,
    paths: Paths,
    chat: ChatRecord,
    request: str,
    earlier: Sequence[TurnRecord],
    settings: ModelSettings,
    tries: int,
    context_tokens: int,
    clean: Callable[[Model], Model] = lambda model: model,
) -> Outgoing:
    """The first request of a turn, behind `clean` as it would be.

    Raises: `AppError` when a folder cannot be read.
    """
    import httpx
    import httpx2

    from models.remote_client import Connections, build_model

    caught: list[tuple[str, bytes]] = []

    def keep(sent: httpx.Request | httpx2.Request) -> Any:
        caught.append((str(sent.url), sent.content))
        raise _CaughtError

    connections = Connections(
        transport=httpx2.MockTransport(keep), old_transport=httpx.MockTransport(keep)
    )
    from app.engine.warm import ReadyModel

    ready = ReadyModel(
        model=clean(build_model(model, _PLACEHOLDER, connections)),
        prompt=load_prompt("remote"),
        context_tokens=context_tokens,
        one_program=False,
    )
    listing = await asyncio.to_thread(_listing, paths, chat, request, context_tokens)
    context = build_context(
        ready.prompt,
        request=request,
        listing=listing,
        earlier=earlier,
        context_tokens=context_tokens,
        now=datetime.now().astimezone(),
        calls=True,
    )
    agent = build_agent(ready, context.instructions, tries=tries, run_code=_never)
    try:
        async with agent.iter(
            context.prompt, message_history=context.history, model_settings=settings
        ) as run:
            async for node in run:
                if agent.is_model_request_node(node):
                    async with node.stream(run.ctx) as events:
                        async for _ in events:
                            pass
    except Exception as error:
        # The client puts its own words around what ended it; that it was caught is what counts.
        if not caught:
            raise AppError(f"The request cannot be made: {error}.") from error
    finally:
        await connections.close()
    url, body = caught[0]
    return _outgoing(model, url, body, int(settings.get("max_tokens", 0)))


async def _never(_source: str) -> str:
    raise _CaughtError


def _listing(paths: Paths, chat: ChatRecord, request: str, context_tokens: int) -> str:
    folder = paths.blobs / f"look-{chat.chat_id}"
    try:
        stage = Stage(open_grants(chat.folders, paths), BlobStore(folder))
        budget = min(LISTING_TOKENS, int(context_tokens * LISTING_SHARE))
        return list_folders(stage, request, budget_tokens=budget)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _outgoing(model: RemoteModelId, url: str, body: bytes, max_tokens: int) -> Outgoing:
    data = cast("dict[str, Any]", json.loads(body))
    system, messages = _conversation(data)
    sent = Used(input_tokens=len(body.decode()) // _CHARS_PER_TOKEN)
    return Outgoing(
        model_id=model.text,
        place=model.place,
        url=url,
        body=body,
        system=system,
        messages=messages,
        tools=tuple(_tool_names(data)),
        least=sent,
        most=Used(input_tokens=sent.input_tokens, output_tokens=max_tokens),
    )


def _conversation(data: dict[str, Any]) -> tuple[str, tuple[tuple[str, str], ...]]:
    """System text and messages out of any provider's body, for reading."""
    system = _text(
        data.get("system") or data.get("instructions") or data.get("systemInstruction") or ""
    )
    rows: list[tuple[str, str]] = []
    items: Any = data.get("messages") or data.get("input") or data.get("contents") or []
    for item in cast("list[dict[str, Any]]", items):
        role = str(item.get("role") or item.get("type") or "")
        text = _text(item)
        if role in {"system", "developer"}:
            system = f"{system}\n{text}".strip()
        else:
            rows.append(("assistant" if role == "model" else role, text))
    return system, tuple(rows)


_SKIPPED = frozenset({"role", "type", "id", "cache_control", "tool_call_id", "call_id", "status"})


def _text(value: object) -> str:
    """All text in a part of a body, in order."""
    match value:
        case str():
            return value
        case list():
            texts = [_text(item) for item in cast("list[object]", value)]
        case dict():
            fields = cast("dict[str, object]", value)
            texts = [_text(item) for name, item in fields.items() if name not in _SKIPPED]
        case _:
            return ""
    return "\n".join(text for text in texts if text)


def _tool_names(data: dict[str, Any]) -> list[str]:
    names: list[str] = []
    for tool in cast("list[dict[str, Any]]", data.get("tools") or []):
        found: Any = tool.get("functionDeclarations") or [tool.get("function") or tool]
        names += [str(one.get("name", "")) for one in cast("list[dict[str, Any]]", found)]
    return names
