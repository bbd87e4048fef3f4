"""Remote models, ready to be asked, and the test of one; keys come from a `KeySource`.

Whether a chat may use them at all is not decided here but in `ready.py`, the one place that calls
this. Thread: engine; the vault has read its values before a turn begins.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from app.engine.accounts import RemoteTab
from app.engine.events import ModelActivity
from app.engine.mailbox import Mailbox
from app.engine.offline import refuse_offline
from app.settings import Settings
from models.errors import ModelError
from models.keys import RunKeys
from models.metering import Meter
from models.prices import known_names, listed
from models.prompt import load_prompt
from models.providers import PROVIDERS, RemoteModelId, parse_model_id

if TYPE_CHECKING:
    from pydantic_ai.settings import ModelSettings

    from app.engine.warm import ReadyModel
    from models.remote import RemoteModel, Waiting
    from models.remote_client import Connections

_TEST_TOKENS = 64
_MOST_TOKENS = 400_000
_ROOM_SHARE = 0.8
"""Of a model's context; the rest is for the reply and what estimates miss."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestResult:
    """What a test of a model found, in words. `code`: what went wrong; empty when nothing did."""

    __test__ = False  # no test of pytest's

    ok: bool
    message: str
    hint: str = ""
    code: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderStatus:
    """A provider as the settings show it. `key`: whether there is one; `names`: known models."""

    provider_id: str
    label: str
    host: str
    key_name: str
    key_page: str
    key: bool
    names: tuple[str, ...]


class RemoteModels:
    """Makes remote models ready."""

    def __init__(
        self,
        *,
        keys: RunKeys,
        settings: Callable[[], Settings],
        mailbox: Mailbox,
        connect: Callable[[], Connections] | None = None,
    ) -> None:
        """`connect`: makes the connections; the network's when not given."""
        self.keys = keys
        self._settings = settings
        self._mailbox = mailbox
        self._connect = connect
        self._connections: Connections | None = None

    def parse(self, model_id: str) -> RemoteModelId:
        """An id with the servers of the settings. Raises: `ModelError`."""
        return parse_model_id(
            model_id, [server.server() for server in self._settings().remote.servers]
        )

    async def ready(self, model: RemoteModelId, tab: RemoteTab) -> ReadyModel:
        """The model, with everything that a turn needs of it. Raises: `ModelError`."""
        from app.engine.warm import ReadyModel, import_heavy

        await asyncio.to_thread(import_heavy)
        remote = await self._model(model, tab)
        return ReadyModel(
            model=remote,
            prompt=load_prompt("remote"),
            context_tokens=await self.context_tokens(model),
            one_program=False,
            sees=bool(remote.profile.get("supports_image_input", True)),
            settings=self.request_settings(model),
            tab=tab,
            explain=remote.wording.of,
        )

    async def context_tokens(self, model: RemoteModelId) -> int:
        """How much of a request fits into a model, as far as the price list knows."""
        known = await asyncio.to_thread(listed, model)
        found = known.context_tokens if known is not None else None
        return int(min(found or self._settings().remote.context_tokens, _MOST_TOKENS) * _ROOM_SHARE)

    def request_settings(self, model: RemoteModelId) -> ModelSettings:
        """What requests of a turn are sent with."""
        from models.remote_client import request_settings

        chosen = self._settings().remote
        made = request_settings(model, self.connections.timeouts, max_tokens=chosen.reply_tokens)
        if chosen.thinking != "default":
            made["thinking"] = False if chosen.thinking == "off" else chosen.thinking
        return made

    async def test(self, model_id: str, meter: Meter) -> TestResult:
        """Ask a model for one word, and say in words what came of it.

        Raises: `ModelError` only for an id that names no model.
        """
        from app.engine.warm import import_heavy

        await asyncio.to_thread(import_heavy)
        from pydantic_ai.messages import ModelRequest, UserPromptPart
        from pydantic_ai.models import ModelRequestParameters

        from models.faults import RemoteError
        from models.remote import Patience

        model = self.parse(model_id)
        try:
            remote = await self._model(model, meter, Patience(attempts=1))
            settings: Any = self.request_settings(model) | {"max_tokens": _TEST_TOKENS}
            messages: list[Any] = [ModelRequest(parts=[UserPromptPart(content="Say: ok")])]
            response = await remote.request(messages, settings, ModelRequestParameters())
        except RemoteError as error:
            # A reply that was cut off or is empty is a reply: address, key and name are right.
            if error.code not in {"cut_off", "empty"}:
                return TestResult(ok=False, message=error.message, hint=error.hint, code=error.code)
            said = "it thought longer than the test lets it"
        except ModelError as error:
            return TestResult(ok=False, message=error.message, hint=error.hint, code="setting")
        else:
            said = " ".join((response.text or "").split())[:40] or "nothing"
        return TestResult(ok=True, message=f"{model.place} answers: {said}")

    async def providers(self) -> list[ProviderStatus]:
        """All providers and the person's servers, with whether there is a key for each."""
        found = [*PROVIDERS]
        for server in self._settings().remote.servers:
            try:
                found.append(self.parse(f"compatible:{server.name}/x").provider)
            except ModelError:
                continue  # an address that cannot be used is shown where it is edited
        statuses: list[ProviderStatus] = []
        for provider in found:
            names = await asyncio.to_thread(known_names, provider.prices)
            statuses.append(
                ProviderStatus(
                    provider_id=provider.id,
                    label=provider.label,
                    host=provider.host,
                    key_name=provider.key_name,
                    key_page=provider.key_page,
                    key=self.has_key(provider.key_name),
                    names=tuple(names),
                )
            )
        return statuses

    def has_key(self, name: str) -> bool:
        """Whether a key is there and can be had."""
        try:
            return bool(self.keys.key(name))
        except ModelError:
            return False

    @property
    def connections(self) -> Connections:
        """The connections, made when they are first needed."""
        if self._connections is None:
            from models.remote_client import Connections

            self._connections = self._connect() if self._connect else Connections()
        return self._connections

    async def _model(self, model: RemoteModelId, meter: Meter, patience: Any = None) -> RemoteModel:
        from models.faults import Wording
        from models.remote import RemoteModel
        from models.remote_client import build_model

        refuse_offline(self._settings(), f"nothing was sent to {model.provider.label}")
        key = self.keys.key(model.provider.key_name)
        return RemoteModel(
            build_model(model, key, self.connections),
            model,
            wording=Wording(model=model, key=key or ""),
            meter=meter,
            patience=patience,
            on_wait=lambda waiting: self._tell(model, waiting),
        )

    def _tell(self, model: RemoteModelId, waiting: Waiting) -> None:
        self._mailbox.post(
            ModelActivity(
                model_id=model.text,
                state="waiting",
                detail=f"{waiting.error.message} Trying again in {waiting.wait_s:.0f} s.",
            )
        )

    async def close(self) -> None:
        """Close all connections."""
        if self._connections is not None:
            await self._connections.close()
            self._connections = None
