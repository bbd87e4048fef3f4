"""Where requests go: what the window and the command line can ask about remote models.

Owns the marks "local only" as an action, the list of remote models that are offered, what a request
would cost, and the preview of exactly what would be sent. Thread: engine.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from app.engine.accounts import Accounts, Left
from app.engine.events import ChatsChanged
from app.engine.mailbox import Mailbox
from app.engine.outgoing import Outgoing, capture
from app.engine.ready import ReadyRoom
from app.engine.remotes import ProviderStatus, RemoteModels, TestResult
from app.errors import AppError
from app.paths import Paths
from app.settings import Settings
from app.store.chats import ChatStore
from app.store.costs import CostRow, DayTotal, Total, day_start, month_start
from app.store.local_only import LocalOnlyStore, touched
from app.store.records import ChatRecord, Folder
from models.catalog import Catalog
from models.errors import ModelError
from models.prices import Listed, listed
from models.providers import AUTO, is_remote, is_this_machine

PlaceKind = Literal["local", "server_here", "remote", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a chat's requests go. `held`: why they may not go anywhere: "chat" or a folder."""

    kind: PlaceKind
    label: str
    host: str
    held: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteChoice:
    """A remote model that is offered. `price` None: not known."""

    model_id: str
    name: str
    place: str
    price: Listed | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CostView:
    """Everything that the overview shows."""

    days: tuple[DayTotal, ...]
    today: Total
    month: Total
    budgets: tuple[Left, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """Where requests to a model go. `key_name`: whose key it takes; `optional`: or none."""

    label: str
    host: str
    key_name: str
    has_key: bool
    optional: bool


_DRAFT = "draft"


def _draft(folders: Sequence[Folder], model_id: str) -> ChatRecord:
    now = datetime.now(UTC)
    return ChatRecord(
        chat_id=_DRAFT,
        title="",
        folders=tuple(folders),
        model_id=model_id,
        created=now,
        updated=now,
    )


class Places:
    """Answers about remote models for one engine."""

    def __init__(
        self,
        *,
        paths: Paths,
        catalog: Callable[[], Catalog],
        store: ChatStore,
        settings: Callable[[], Settings],
        remote: RemoteModels,
        ready: ReadyRoom,
        accounts: Accounts,
        local_only: LocalOnlyStore,
        mailbox: Mailbox,
    ) -> None:
        self._paths = paths
        self._catalog = catalog
        self._store = store
        self._settings = settings
        self._remote = remote
        self._ready = ready
        self._accounts = accounts
        self._local_only = local_only
        self._mailbox = mailbox

    def check_id(self, model_id: str) -> None:
        """Raise `ModelError` unless an id names a model that there can be."""
        if is_remote(model_id):
            self._remote.parse(model_id)
        elif model_id != AUTO:
            self._catalog().get(model_id)

    # where requests go

    async def place(self, chat_id: str, model_id: str = "") -> Place:
        """Where requests of a chat go, with its model or with `model_id`."""
        chat = self._store.chat(chat_id)
        held = self._local_only.reason(chat_id)
        chosen = model_id or chat.model_id
        if not is_remote(chosen):
            return Place(kind="local", label="", host="", held=held)
        try:
            provider = self._remote.parse(chosen).provider
        except ModelError:
            return Place(kind="unknown", label=chosen, host="", held=held)
        kind: PlaceKind = "server_here" if is_this_machine(provider.host) else "remote"
        return Place(kind=kind, label=provider.label, host=provider.host, held=held)

    async def place_of(self, model_id: str) -> Destination:
        """Where requests to a remote model go. Raises: `ModelError`."""
        provider = self._remote.parse(model_id).provider
        return Destination(
            label=provider.label,
            host=provider.host,
            key_name=provider.key_name,
            has_key=self._remote.has_key(provider.key_name),
            optional=not provider.key_page,
        )

    async def mark_chat(self, chat_id: str, local_only: bool) -> ChatRecord:
        """Set or take away a chat's mark; it holds from the next request on."""
        chat = self._store.save_chat(replace(self._store.chat(chat_id), local_only=local_only))
        self._mailbox.post(ChatsChanged())
        return chat

    async def mark_folder(self, path: str, local_only: bool) -> None:
        """Set or take away a folder's mark, for all chats."""
        real = await asyncio.to_thread(lambda: str(Path(path).expanduser().resolve()))
        self._local_only.mark_folder(real, local_only)
        self._mailbox.post(ChatsChanged())

    async def marked_folders(self) -> tuple[str, ...]:
        """All folders that are local only."""
        return tuple(sorted(self._local_only.folders()))

    async def choices(self) -> list[RemoteChoice]:
        """The remote models of the settings; ids that cannot be used are left out."""
        found: list[RemoteChoice] = []
        for model_id in self._settings().remote.models:
            try:
                model = self._remote.parse(model_id)
            except ModelError:
                continue
            price = await asyncio.to_thread(listed, model)
            name = price.name if price is not None else model.name
            found.append(
                RemoteChoice(model_id=model_id, name=name, place=model.provider.label, price=price)
            )
        return found

    async def providers(self) -> list[ProviderStatus]:
        """Providers and servers, with whether there is a key for each."""
        return await self._remote.providers()

    async def set_key(self, key_name: str, key: str) -> None:
        """Take a key for this run; empty: forget it."""
        self._remote.keys.put(key_name, key)

    async def test(self, model_id: str) -> TestResult:
        """Ask a model for a word; it counts as a request of its own, under the budgets."""
        try:
            model = self._remote.parse(model_id)
        except ModelError as error:
            return TestResult(ok=False, message=error.message, hint=error.hint, code="setting")
        from app.engine.accounts import RemoteTab

        tab = RemoteTab(self._accounts, model, turn_id="test", chat_id="", guard=lambda: None)
        return await self._remote.test(model_id, tab)

    # before sending

    async def preview(
        self, chat_id: str, request: str, model_id: str = "", folders: Sequence[Folder] = ()
    ) -> Outgoing:
        """Exactly what the first request of a turn would be; nothing is sent.

        `chat_id` empty: a chat on `folders` that is not there yet. Raises: `ModelError`,
        `AppError`.
        """
        chat = self._store.chat(chat_id) if chat_id else _draft(folders, model_id)
        chosen = model_id or chat.model_id
        if not is_remote(chosen):
            raise AppError("A local model sends nothing.", hint="Choose a remote model to look.")
        if not request.strip():
            raise AppError("There is nothing to send yet.", hint="Write a request first.")
        model = self._remote.parse(chosen)
        made = await capture(
            model,
            paths=self._paths,
            chat=chat,
            request=request.strip(),
            earlier=self._store.view(chat_id).turns if chat_id else (),
            settings=self._remote.request_settings(model),
            tries=self._settings().model.tries,
            context_tokens=await self._remote.context_tokens(model),
            clean=self._ready.clean,
        )
        most = self._accounts.price(model, made.most)
        least = self._accounts.price(model, made.least)
        return replace(
            made,
            least_money=least,
            most_money=most,
            held=self._held(chat),
            budgets=self._accounts.left(),
        )

    def _held(self, chat: ChatRecord) -> str:
        if chat.chat_id != _DRAFT:
            return self._local_only.reason(chat.chat_id)
        return touched((folder.path for folder in chat.folders), self._local_only.folders())

    # what it took

    async def chat_total(self, chat_id: str) -> Total:
        """All that a chat took."""
        return self._accounts.store.of_chat(chat_id)

    async def costs(self, start: datetime | None = None) -> CostView:
        """The overview since `start`, or since ever."""
        now = datetime.now(UTC)
        store = self._accounts.store
        return CostView(
            days=tuple(store.days(start)),
            today=store.since(day_start(now)),
            month=store.since(month_start(now)),
            budgets=self._accounts.left(),
        )

    async def cost_rows(self, start: datetime | None = None) -> list[CostRow]:
        """Single requests, oldest first, for the export."""
        return self._accounts.store.rows(start)

    async def price_of(self, model_id: str) -> Listed | None:
        """What the price list says of a model."""
        try:
            return await asyncio.to_thread(listed, self._remote.parse(model_id))
        except ModelError:
            return None
