"""Builds pydantic-ai's model for a provider: client, address, key, timeouts and nothing else.

Every client is given its key, address and HTTP client outright, so that no environment variable
has a say in where a request goes or with which key. Redirects are not followed: a key is for one
host. Owns the HTTP clients and closes them. Thread: the engine's loop.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx
import httpx2
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from models.errors import ModelError
from models.providers import COMPATIBLE, Provider, RemoteModelId

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from pydantic_ai.profiles import ModelProfile

_NO_KEY = "no-key-is-set"
"""What a server that needs no key is sent; the client library insists on one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Seconds. `read_s`: the longest silence in the middle of a reply, or before its beginning."""

    connect_s: float = 10.0
    read_s: float = 180.0
    write_s: float = 60.0


class RedirectedError(Exception):
    """A server sent a request on to another address; it is not followed."""

    def __init__(self, status_code: int) -> None:
        super().__init__(f"redirected ({status_code})")
        self.status_code = status_code


async def _stay(response: httpx.Response | httpx2.Response) -> None:
    """End a request that is sent elsewhere: some client libraries take it for a reply."""
    if 300 <= response.status_code < 400:
        raise RedirectedError(response.status_code)


class Connections:
    """The HTTP clients of remote models; one of each kind, kept for the connections they hold.

    `transport`: what requests go through instead of the network, for previews.
    """

    def __init__(
        self,
        timeouts: Timeouts | None = None,
        *,
        transport: httpx2.AsyncBaseTransport | None = None,
        old_transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.timeouts = timeouts or Timeouts()
        self._transport = transport
        self._old_transport = old_transport
        self._client: httpx2.AsyncClient | None = None
        self._old_client: httpx.AsyncClient | None = None

    @property
    def client(self) -> httpx2.AsyncClient:
        """For all providers but one."""
        if self._client is None:
            from pydantic_ai.models import create_async_httpx2_client

            times = self.timeouts
            self._client = create_async_httpx2_client(
                timeout=httpx2.Timeout(
                    times.read_s, connect=times.connect_s, write=times.write_s, pool=times.connect_s
                ),
                transport=self._transport,
            )
            self._client.event_hooks["response"].append(_stay)
        return self._client

    @property
    def old_client(self) -> httpx.AsyncClient:
        """For Groq's library, which is made for the former httpx."""
        if self._old_client is None:
            times = self.timeouts
            self._old_client = httpx.AsyncClient(
                timeout=httpx.Timeout(
                    times.read_s, connect=times.connect_s, write=times.write_s, pool=times.connect_s
                ),
                transport=self._old_transport,
                event_hooks={"response": [_stay]},
            )
        return self._old_client

    async def close(self) -> None:
        """Close all connections."""
        for client in (self._client, self._old_client):
            if client is not None:
                await client.aclose()
        self._client = self._old_client = None


def build_model(model: RemoteModelId, key: str | None, connections: Connections) -> Model[Any]:
    """pydantic-ai's model of `model`. Raises: `ModelError` when a key is needed and missing."""
    provider = model.provider
    if not key and not provider.id.startswith(f"{COMPATIBLE}:"):
        raise ModelError(
            f"There is no key for {provider.label}.",
            hint=f"Set one in the settings, under Remote models. Keys: {provider.key_page}",
            setting=f"remote.{provider.key_name}",
        )
    match provider.dialect:
        case "anthropic":
            return _anthropic(model, key or _NO_KEY, connections)
        case "openai-responses" | "openai-chat" | "openrouter":
            return _openai(model, key or _NO_KEY, connections)
        case "google":
            return _google(model, key or _NO_KEY, connections)
        case "mistral":
            from mistralai.client import Mistral
            from pydantic_ai.models.mistral import MistralModel
            from pydantic_ai.providers.mistral import MistralProvider

            mistral = Mistral(
                api_key=key, async_client=connections.client, server_url=provider.base_url
            )
            return MistralModel(model.name, provider=MistralProvider(mistral_client=mistral))
        case "groq":
            from groq import AsyncGroq
            from pydantic_ai.models.groq import GroqModel
            from pydantic_ai.providers.groq import GroqProvider

            groq = AsyncGroq(
                api_key=key,
                base_url=provider.base_url,
                http_client=connections.old_client,
                max_retries=0,
            )
            return GroqModel(model.name, provider=GroqProvider(groq_client=groq))


def _anthropic(model: RemoteModelId, key: str, connections: Connections) -> Model[Any]:
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    client = AsyncAnthropic(
        api_key=key,
        base_url=model.provider.base_url,
        http_client=connections.client,
        max_retries=0,
    )
    client.auth_token = None
    return AnthropicModel(model.name, provider=AnthropicProvider(anthropic_client=client))


def _openai(model: RemoteModelId, key: str, connections: Connections) -> Model[Any]:
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.models.openrouter import OpenRouterModel
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openrouter import OpenRouterProvider

    provider = model.provider
    client = AsyncOpenAI(
        api_key=key,
        base_url=provider.base_url,
        http_client=connections.client,
        max_retries=0,
    )
    client.organization = None
    client.project = None
    match provider.dialect:
        case "openai-responses":
            return OpenAIResponsesModel(model.name, provider=OpenAIProvider(openai_client=client))
        case "openrouter":
            return OpenRouterModel(
                model.name,
                provider=OpenRouterProvider(openai_client=client),
                profile=_whole_profile(),
            )
        case _ if provider.id.startswith(f"{COMPATIBLE}:"):
            return _compatible(model, provider, client)
        case _:
            return OpenAIChatModel(
                model.name, provider=OpenAIProvider(openai_client=client), profile=_whole_profile()
            )


def _whole_profile() -> ModelProfile:
    """A stream that ends without saying why has broken, and is not taken for a reply."""
    from pydantic_ai.profiles.openai import OpenAIModelProfile

    return OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True)


def _compatible(model: RemoteModelId, provider: Provider, client: AsyncOpenAI) -> Model[Any]:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    return OpenAIChatModel(
        model.name,
        provider=OpenAICompatibleProvider(provider.id, openai_client=client),
        profile=_whole_profile(),
    )


def _google(model: RemoteModelId, key: str, connections: Connections) -> Model[Any]:
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    provider = GoogleProvider(
        api_key=key, base_url=model.provider.base_url, http_client=connections.client
    )
    return GoogleModel(model.name, provider=provider)


def request_settings(model: RemoteModelId, timeouts: Timeouts, *, max_tokens: int) -> ModelSettings:
    """What every request of a turn is sent with.

    Caching of the unchanging beginning is asked for where the provider has it; nothing is kept at
    the provider to be read again; there are no retries below ours.
    """
    settings = ModelSettings(max_tokens=max_tokens, timeout=timeouts.read_s, cache=True)
    if model.provider.dialect == "openai-responses":
        from pydantic_ai.models.openai import OpenAIResponsesModelSettings

        responses = OpenAIResponsesModelSettings(openai_store=False)
        return ModelSettings(**settings, **responses)  # pyright: ignore[reportCallIssue]  # a provider's own setting
    return settings
