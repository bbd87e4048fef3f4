"""A remote model as the engine sees it: any provider's, with faults in words and bounded retries.

Owns what happens around a request: the meter is asked before each one, a reply that breaks in the
middle is begun anew, and whatever stays wrong is a `RemoteError`. Tools run only after a reply has
arrived whole, so beginning anew repeats no effect. What a request is made of is pydantic-ai's.
Thread: the engine's event loop.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import tenacity
from pydantic_ai import RunContext
from pydantic_ai.messages import (
    BinaryContent,
    FinalResultEvent,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ModelResponseStreamEvent,
    TextPart,
    ThinkingPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage
from tenacity.wait import wait_base

from models.faults import RemoteError, Wording
from models.metering import Asked, Meter, NoMeter, Used
from models.providers import RemoteModelId
from models.whole_reply import whole_reply

_log = logging.getLogger(__name__)

_CHARS_PER_TOKEN = 3
"""On the high side for every tokenizer: an estimate must not be below what is charged."""

_IMAGE_TOKENS = 1_600
_TOOL_TOKENS = 300

EMPTY_WORDS = "(nothing)"
"""Stands for a reply without words after a tool has answered: the tool's answer is the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How often and how long. `longest_wait_s`: a provider that asks for more is not waited for."""

    attempts: int = 4
    first_wait_s: float = 1.0
    longest_wait_s: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A request is tried again in `wait_s` seconds, since `error` may pass."""

    error: RemoteError
    wait_s: float
    attempt: int


class RemoteModel(WrapperModel):
    """A provider's model. `model_name` is the provider's name for it; see `id` for ours.

    Raises `RemoteError`, and whatever `ModelError` the meter forbids a request with.
    """

    def __init__(
        self,
        wrapped: Model[Any],
        model: RemoteModelId,
        *,
        wording: Wording,
        meter: Meter | None = None,
        patience: Patience | None = None,
        on_wait: Callable[[Waiting], None] = lambda _: None,
        sleep: Callable[[float], Awaitable[None]] | None = None,
    ) -> None:
        super().__init__(wrapped)
        self.id = model
        self._wording = wording
        self._meter = meter or NoMeter()
        self._patience = patience or Patience()
        self._on_wait = on_wait
        self._sleep = sleep

    @property
    def wording(self) -> Wording:
        """Puts this model's faults into words."""
        return self._wording

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """One whole reply, streamed like every other so that it can be stopped."""
        return await whole_reply(self, messages, model_settings, model_request_parameters)

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        """A reply as it arrives. A reply that begins anew starts its part 0 again."""

        def open_stream() -> AbstractAsyncContextManager[StreamedResponse]:
            return self.wrapped.request_stream(
                messages, model_settings, model_request_parameters, run_context
            )

        asked = Asked(
            model_id=self.id.text,
            input_tokens=estimate_tokens(messages, model_request_parameters),
            output_tokens=int((model_settings or {}).get("max_tokens", 0)),
        )
        response = RemoteStreamedResponse(
            model_request_parameters=model_request_parameters,
            _remote=self,
            _open=open_stream,
            _asked=asked,
            _after_tool=_ends_with_tool(messages),
        )
        try:
            yield response
        finally:
            await response.end()

    async def count_tokens(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> RequestUsage:
        """An estimate, made here: counting at the provider would send everything to it."""
        return RequestUsage(input_tokens=estimate_tokens(messages, model_request_parameters))

    def retrying(self) -> tenacity.AsyncRetrying:
        """The schedule of one request: jittered waits, and the provider's own where it says."""
        options: dict[str, Any] = {} if self._sleep is None else {"sleep": self._sleep}
        return tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception(self._may_pass),
            stop=tenacity.stop_after_attempt(self._patience.attempts),
            wait=_WaitAsTold(
                otherwise=tenacity.wait_random_exponential(
                    multiplier=self._patience.first_wait_s, max=self._patience.longest_wait_s / 3
                )
            ),
            before_sleep=self._tell,
            reraise=True,
            **options,
        )

    def _may_pass(self, error: BaseException) -> bool:
        return (
            isinstance(error, RemoteError)
            and error.passing
            and (error.wait_s or 0.0) <= self._patience.longest_wait_s
        )

    def _tell(self, state: tenacity.RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome is not None else None
        wait_s = state.next_action.sleep if state.next_action is not None else 0.0
        if isinstance(error, RemoteError):
            _log.info("%s: %s, attempt %d", self.id.provider.id, error.code, state.attempt_number)
            self._on_wait(Waiting(error=error, wait_s=wait_s, attempt=state.attempt_number))

    @property
    def meter(self) -> Meter:
        """Who keeps the accounts."""
        return self._meter


class _WaitAsTold(wait_base):
    """As long as the provider asked, with a little jitter on top, else `otherwise`."""

    def __init__(self, *, otherwise: wait_base) -> None:
        self._otherwise = otherwise
        self._jitter = tenacity.wait_random(0, 1)

    def __call__(self, retry_state: tenacity.RetryCallState) -> float:
        error = retry_state.outcome.exception() if retry_state.outcome is not None else None
        if isinstance(error, RemoteError) and error.wait_s is not None:
            return error.wait_s + self._jitter(retry_state) * min(1.0, error.wait_s)
        return self._otherwise(retry_state)


@dataclass
class RemoteStreamedResponse(StreamedResponse):
    """The events of one reply, over as many attempts as it takes."""

    _remote: RemoteModel
    _open: Callable[[], AbstractAsyncContextManager[StreamedResponse]]
    _asked: Asked
    _after_tool: bool
    _inner: StreamedResponse | None = None
    _running: AsyncGenerator[ModelResponseStreamEvent] | None = None
    _started: datetime = field(default_factory=lambda: datetime.now(UTC))

    def __aiter__(self) -> AsyncIterator[ModelResponseStreamEvent]:
        """All events, the ones that pydantic-ai's streams add of themselves included."""
        if self._event_iterator is None:
            self._running = self._attempts()
            self._event_iterator = self._running
        return self._event_iterator

    async def _get_event_iterator(self) -> AsyncIterator[ModelResponseStreamEvent]:
        async for event in self:
            yield event

    async def end(self) -> None:
        """Close what is open."""
        if self._running is not None:
            await self._running.aclose()

    async def _attempts(self) -> AsyncGenerator[ModelResponseStreamEvent]:
        """Attempts until one is whole. Only faults that may pass are tenacity's business."""
        async for attempt in self._remote.retrying():
            try:
                async with aclosing(self._attempt()) as events:
                    async for event in events:
                        yield event
            except RemoteError as error:
                fault = error
            else:
                self._finished = not self._cancelled
                return
            if self._cancelled:
                return
            with attempt:
                raise fault

    async def _attempt(self) -> AsyncGenerator[ModelResponseStreamEvent]:
        """One request. Raises `RemoteError` for whatever kept it from being whole."""
        meter = self._remote.meter
        ticket = meter.begin(self._asked)
        began = time.monotonic()
        self._inner = None
        self.final_result_event = None
        refused = False
        try:
            async with self._open() as inner:
                self._inner = inner
                async for event in inner:
                    if isinstance(event, FinalResultEvent):
                        self.final_result_event = event
                    yield event
                self._check(inner.get())
        except RemoteError:
            raise
        except Exception as error:
            fault = self._remote.wording.of(error)
            refused = self._inner is None and fault.code not in {"broken", "timed_out"}
            raise fault from error
        finally:
            if refused:
                meter.refused(ticket)
            else:
                meter.end(ticket, _used(self._inner, time.monotonic() - began))

    def _check(self, response: ModelResponse) -> None:
        """Raise `RemoteError` unless the reply is whole and says something."""
        wording = self._remote.wording
        if self._cancelled:
            return
        if response.finish_reason == "content_filter":
            raise wording.filtered()
        if response.finish_reason is None or response.finish_reason == "error":
            raise wording.broken()
        if _says_nothing(response):
            if response.finish_reason == "length":
                raise wording.cut_off()
            if not self._after_tool:
                raise wording.empty()

    def get(self) -> ModelResponse:
        """The reply so far. Silence after a tool's answer is said in words, to end the turn."""
        if self._inner is None:
            return super().get()
        response = self._inner.get()
        if self._finished and self._after_tool and _says_nothing(response):
            response.parts = [*response.parts, TextPart(content=EMPTY_WORDS)]
        return response

    @property
    def usage(self) -> RequestUsage:
        """What the last attempt took."""
        return RequestUsage() if self._inner is None else self._inner.usage

    async def close_stream(self) -> None:
        """Stop receiving."""
        if self._inner is not None:
            await self._inner.cancel()

    @property
    def model_name(self) -> str:
        """The provider's name for the model."""
        return self._remote.model_name if self._inner is None else self._inner.model_name

    @property
    def provider_name(self) -> str | None:
        """The provider."""
        return self._remote.system if self._inner is None else self._inner.provider_name

    @property
    def provider_url(self) -> str | None:
        """Where it was asked."""
        return self._remote.base_url if self._inner is None else self._inner.provider_url

    @property
    def timestamp(self) -> datetime:
        """When the reply began."""
        return self._started if self._inner is None else self._inner.timestamp


def estimate_tokens(messages: list[ModelMessage], parameters: ModelRequestParameters) -> int:
    """About how many tokens a request has, on the high side."""
    chars = sum(len(part.content) for part in parameters.instruction_parts or [])
    images = 0
    for message in messages:
        for part in message.parts:
            match part:
                case UserPromptPart(content=list() | tuple() as items):
                    images += sum(isinstance(item, BinaryContent) for item in items)
                    chars += sum(len(item) for item in items if isinstance(item, str))
                case _:
                    chars += len(str(getattr(part, "content", "") or getattr(part, "args", "")))
        if isinstance(message, ModelRequest) and parameters.instruction_parts is None:
            chars += len(message.instructions or "")
    tools = sum(
        len(str(tool.parameters_json_schema)) + len(tool.description or "")
        for tool in parameters.function_tools
    )
    return chars // _CHARS_PER_TOKEN + images * _IMAGE_TOKENS + tools // 2 + _TOOL_TOKENS


def _ends_with_tool(messages: list[ModelMessage]) -> bool:
    last = messages[-1] if messages else None
    return isinstance(last, ModelRequest) and any(
        isinstance(part, ToolReturnPart) and part.outcome == "success" for part in last.parts
    )


def _says_nothing(response: ModelResponse) -> bool:
    return all(
        isinstance(part, ThinkingPart) or (isinstance(part, TextPart) and not part.content.strip())
        for part in response.parts
    )


def _used(inner: StreamedResponse | None, seconds: float) -> Used | None:
    """What a provider reported of a request, whole or broken off; None: nothing."""
    usage = None if inner is None else inner.usage
    if usage is None or not (usage.input_tokens or usage.output_tokens):
        return None
    thinking = max(
        usage.details.get("reasoning_tokens", 0), usage.details.get("thoughts_tokens", 0)
    )
    return Used(
        input_tokens=usage.input_tokens,
        cached_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        output_tokens=usage.output_tokens,
        thinking_tokens=thinking,
        seconds=seconds,
    )
