"""Every wire format under one roof, so that a test can be the same for all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from models.providers import PROVIDERS, Provider, RemoteModelId, Server, parse_model_id
from tests.wire import anthropic, google, openai_chat, openai_responses
from tests.wire.reply import Reply
from tests.wire.server import Answer, Received


@dataclass(frozen=True, slots=True, kw_only=True)
class WireFormat:
    """A provider and its format. `thinks`: whether the format carries thinking."""

    name: str
    model: str
    sse: Callable[[Reply], bytes]
    fault: Callable[..., Answer]
    error_event: Callable[[str, str], bytes]
    check: Callable[[Received], None]
    context_fault: tuple[int, str, str]
    thinks: bool = True

    def model_at(self, address: str) -> RemoteModelId:
        """The format's model at a loopback server."""
        if self.name == "compatible":
            server = Server(name="here", base_url=f"{address}/v1")
            return parse_model_id(f"compatible:here/{self.model}", [server])
        provider = next(one for one in PROVIDERS if one.id == self.name)
        tail = provider.base_url.removeprefix(f"https://{provider.host}")
        moved: Provider = replace(provider, base_url=f"{address}{tail}")
        return RemoteModelId(provider=moved, name=self.model)


_TOO_LONG = (400, "context_length_exceeded", "This model's maximum context length is 8 tokens.")

FORMATS: tuple[WireFormat, ...] = (
    WireFormat(
        name="anthropic",
        model="claude-sonnet-4-6",
        sse=anthropic.sse,
        fault=anthropic.fault,
        error_event=anthropic.error_event,
        check=anthropic.check,
        context_fault=(400, "invalid_request_error", "prompt is too long: 9 tokens > 8 maximum"),
    ),
    WireFormat(
        name="openai",
        model="gpt-5",
        sse=openai_responses.sse,
        fault=openai_responses.fault,
        error_event=openai_responses.error_event,
        check=openai_responses.check,
        context_fault=_TOO_LONG,
    ),
    WireFormat(
        name="openai-chat",
        model="gpt-4.1",
        sse=openai_chat.sse,
        fault=openai_chat.fault,
        error_event=openai_chat.error_event,
        check=openai_chat.check,
        context_fault=_TOO_LONG,
        thinks=False,
    ),
    WireFormat(
        name="google",
        model="gemini-2.5-flash",
        sse=google.sse,
        fault=google.fault,
        error_event=google.error_event,
        check=google.check,
        context_fault=(
            400,
            "INVALID_ARGUMENT",
            "The input token count (9) exceeds the maximum number of tokens allowed (8).",
        ),
    ),
    WireFormat(
        name="mistral",
        model="mistral-large-latest",
        sse=openai_chat.mistral_sse,
        fault=openai_chat.fault,
        error_event=openai_chat.error_event,
        check=openai_chat.check_mistral,
        context_fault=_TOO_LONG,
        thinks=False,
    ),
    WireFormat(
        name="groq",
        model="llama-3.3-70b-versatile",
        sse=openai_chat.groq_sse,
        fault=openai_chat.fault,
        error_event=openai_chat.error_event,
        check=openai_chat.check,
        context_fault=_TOO_LONG,
        thinks=False,
    ),
    WireFormat(
        name="openrouter",
        model="meta-llama/llama-3.3-70b-instruct",
        sse=openai_chat.sse,
        fault=openai_chat.fault,
        error_event=openai_chat.error_event,
        check=openai_chat.check,
        context_fault=_TOO_LONG,
        thinks=False,
    ),
    WireFormat(
        name="compatible",
        model="qwen3-coder",
        sse=openai_chat.sse,
        fault=openai_chat.fault,
        error_event=openai_chat.error_event,
        check=openai_chat.check,
        context_fault=_TOO_LONG,
    ),
)
"""All of them, in the order of the settings."""
