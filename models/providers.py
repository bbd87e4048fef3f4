"""Remote model ids and the providers behind them: names, addresses, what each needs.

Owns the table of providers and the form of an id: ``PROVIDER:NAME``, or
``compatible:SERVER/NAME`` for a server that the person named. Opens no connection. Thread: any.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from models.errors import ModelError

Dialect = Literal[
    "anthropic", "openai-responses", "openai-chat", "google", "mistral", "groq", "openrouter"
]
"""The wire format that a provider speaks."""

AUTO = "auto"
"""The id that leaves the choice to the router."""

COMPATIBLE = "compatible"
"""The prefix of models at a server of the person's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One provider. `key_name`: whose key it takes; `prices`: its id in genai-prices."""

    id: str
    label: str
    dialect: Dialect
    base_url: str
    key_name: str
    key_page: str
    prices: str

    @property
    def host(self) -> str:
        """The host that requests go to."""
        return urlsplit(self.base_url).hostname or self.base_url


PROVIDERS: tuple[Provider, ...] = (
    Provider(
        id="anthropic",
        label="Anthropic",
        dialect="anthropic",
        base_url="https://api.anthropic.com",
        key_name="anthropic",
        key_page="console.anthropic.com",
        prices="anthropic",
    ),
    Provider(
        id="openai",
        label="OpenAI",
        dialect="openai-responses",
        base_url="https://api.openai.com/v1",
        key_name="openai",
        key_page="platform.openai.com",
        prices="openai",
    ),
    Provider(
        id="openai-chat",
        label="OpenAI, chat completions",
        dialect="openai-chat",
        base_url="https://api.openai.com/v1",
        key_name="openai",
        key_page="platform.openai.com",
        prices="openai",
    ),
    Provider(
        id="google",
        label="Google",
        dialect="google",
        base_url="https://generativelanguage.googleapis.com",
        key_name="google",
        key_page="aistudio.google.com",
        prices="google",
    ),
    Provider(
        id="mistral",
        label="Mistral",
        dialect="mistral",
        base_url="https://api.mistral.ai",
        key_name="mistral",
        key_page="console.mistral.ai",
        prices="mistral",
    ),
    Provider(
        id="groq",
        label="Groq",
        dialect="groq",
        base_url="https://api.groq.com",
        key_name="groq",
        key_page="console.groq.com",
        prices="groq",
    ),
    Provider(
        id="openrouter",
        label="OpenRouter",
        dialect="openrouter",
        base_url="https://openrouter.ai/api/v1",
        key_name="openrouter",
        key_page="openrouter.ai/keys",
        prices="openrouter",
    ),
)
_BY_ID = {provider.id: provider for provider in PROVIDERS}
_PREFIXES = frozenset((*_BY_ID, COMPATIBLE))


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """An OpenAI-compatible server of the person's own, such as Ollama, LM Studio or vLLM."""

    name: str
    base_url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteModelId:
    """A remote model: which provider, under which name there."""

    provider: Provider
    name: str

    @property
    def text(self) -> str:
        """The id as it is written."""
        separator = "/" if self.provider.id.startswith(f"{COMPATIBLE}:") else ":"
        return f"{self.provider.id}{separator}{self.name}"

    @property
    def place(self) -> str:
        """Where requests go, for people."""
        return f"{self.provider.label} ({self.provider.host})"


def is_remote(model_id: str) -> bool:
    """Whether an id names a remote model, known or not."""
    return model_id.partition(":")[0] in _PREFIXES


def parse_model_id(model_id: str, servers: Sequence[Server] = ()) -> RemoteModelId:
    """Take an id apart. Raises: `ModelError` for a provider or server that is not known."""
    prefix, _, name = model_id.partition(":")
    if prefix == COMPATIBLE:
        server_name, _, name = name.partition("/")
        provider = _server_provider(server_name, servers)
    elif prefix in _BY_ID:
        provider = _BY_ID[prefix]
    else:
        known = ", ".join(f"{known}:NAME" for known in _BY_ID)
        raise ModelError(
            f"There is no provider named {prefix}.",
            hint=f"Choose one of: {known}, {COMPATIBLE}:SERVER/NAME, local:NAME.",
        )
    if not name.strip():
        raise ModelError(
            f"{model_id} does not say which model.",
            hint=f"Write the model's name at {provider.label} behind it.",
        )
    return RemoteModelId(provider=provider, name=name.strip())


def _server_provider(name: str, servers: Sequence[Server]) -> Provider:
    for server in servers:
        if server.name == name:
            return Provider(
                id=f"{COMPATIBLE}:{server.name}",
                label=server.name,
                dialect="openai-chat",
                base_url=checked_address(server.base_url),
                key_name=f"{COMPATIBLE}:{server.name}",
                key_page="",
                prices="",
            )
    known = ", ".join(server.name for server in servers) or "none yet"
    raise ModelError(
        f"There is no server named {name or '(nothing)'}.",
        hint=f"Add it in the settings, under Remote models. Known: {known}.",
        setting="remote.servers",
    )


def checked_address(address: str) -> str:
    """A server's address without a slash at its end.

    Plain HTTP is taken only on this machine and in private networks: over the internet the key and
    everything else could be read on the way. Raises: `ModelError`.
    """
    parts = urlsplit(address.strip())
    host = parts.hostname
    if parts.scheme not in {"http", "https"} or not host:
        raise ModelError(
            f"{address!r} is no address of a server.",
            hint="Write it like http://127.0.0.1:11434/v1 or https://models.example.org/v1.",
        )
    if parts.username or parts.password:
        raise ModelError(
            "The address holds a name or a password.",
            hint="Leave it out of the address, and set the key for this server instead.",
        )
    if parts.scheme == "http" and not is_near(host):
        raise ModelError(
            f"{host} would be spoken to without encryption.",
            hint="Use https://, or an address on this machine or in your own network.",
        )
    return address.strip().rstrip("/")


def is_near(host: str) -> bool:
    """Whether a host is this machine or in a private network, by its name or number alone."""
    if host == "localhost" or host.endswith((".localhost", ".local", ".lan", ".internal")):
        return True
    try:
        number = ipaddress.ip_address(host)
    except ValueError:
        return "." not in host
    return number.is_loopback or number.is_private


def is_this_machine(host: str) -> bool:
    """Whether a host is this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
