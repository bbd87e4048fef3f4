"""A local model as pydantic-ai sees it: `LocalModel` over a `WorkerClient`.

Owns the mapping between pydantic-ai's messages and plain chat messages, and the one trick that
makes local and remote models a single path: a reply that holds a program ends with a call of
`run_code`, as if the model had made it. Knows nothing of what the call does. Thread: the engine's
event loop.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic_ai import RunContext
from pydantic_ai.messages import (
    InstructionPart,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponseStreamEvent,
    RetryFeedbackPart,
    SystemPromptPart,
    TextContent,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage

from models.client import GenerateRequest, WorkerClient
from models.errors import ModelError
from models.extract import extract_program
from models.protocol import ChatMessage, Delta, Done, Evaluating, Finish
from models.repetition import RepetitionWatch
from models.whole_reply import whole_reply

RUN_CODE = "run_code"
"""The tool that a program in a reply becomes a call of."""

REPEATED = "repeated"
"""In a response's `provider_details`: it went round in circles and was ended."""

_DEFAULT_MAX_TOKENS = 1024
_DEFAULT_TEMPERATURE = 0.2
_RETRY_TEMPERATURES = (0.7, 1.0)
"""At least these after one and more failed tries: the same words would give the same fault."""

type _Row = tuple[Literal["user", "assistant"], str]
type _Reply = AsyncGenerator[Evaluating | Delta | Done]


class LocalModel(Model[None]):
    """A model in the worker process. `model_name` is ``local:<id>``.

    Of the settings, `max_tokens`, `temperature`, `top_p`, `seed` and `stop_sequences` are used.
    Raises `ModelError` when prompt and reply do not fit the context, and `ModelCrashedError`.
    """

    def __init__(
        self,
        client: WorkerClient,
        model_id: str,
        *,
        settings: ModelSettings | None = None,
        grammar: bool = False,
    ) -> None:
        """`grammar`: programs can only be written as Python has them; one cut off calls nothing."""
        super().__init__(
            settings=settings,
            profile=ModelProfile(
                supports_tools=True,
                supports_json_schema_output=False,
                supports_json_object_output=False,
                supports_inline_system_prompts=True,
            ),
        )
        self._client = client
        self._model_id = model_id.removeprefix("local:")
        self._grammar = grammar

    @property
    def model_name(self) -> str:
        """``local:<id>``."""
        return f"local:{self._model_id}"

    @property
    def system(self) -> str:
        """The provider's name: ``local``."""
        return "local"

    @property
    def provider(self) -> None:
        """There is none: nothing leaves the machine."""
        return

    @property
    def client(self) -> WorkerClient:
        """The worker that answers."""
        return self._client

    async def count(self, text: str) -> int:
        """Tokens of `text` in this model's vocabulary. Waits while a reply is being made."""
        return await self._client.count_tokens(text)

    async def count_tokens(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> RequestUsage:
        """Tokens of the whole prompt, template included."""
        _, parameters = self.prepare_request(model_settings, model_request_parameters)
        chat = self._chat(messages, parameters)
        return RequestUsage(input_tokens=await self._client.count_tokens(messages=chat))

    def prepare_messages(
        self,
        messages: list[ModelMessage],
        model_request_parameters: ModelRequestParameters | None = None,
    ) -> list[ModelMessage]:
        """The history for `request`; what a reply is answered with stays without its framing."""
        plain = [_plain_feedback(message) for message in messages]
        return super().prepare_messages(plain, model_request_parameters)

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """One whole reply."""
        return await whole_reply(self, messages, model_settings, model_request_parameters)

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        """A reply as it is made. Leaving the context stops the generation."""
        settings, parameters = self.prepare_request(model_settings, model_request_parameters)
        chat = self._chat(messages, parameters)
        request = _generate_request(
            chat,
            settings or {},
            failed_tries=_failed_tries(messages),
            grammar=self._grammar and _has_run_code(parameters),
        )
        await self._check_room(chat, request.max_tokens)
        reply = self._client.generate(request)
        try:
            yield LocalStreamedResponse(
                model_request_parameters=parameters,
                _model_name=self.model_name,
                _reply=reply,
                _client=self._client,
                _calls_run_code=_has_run_code(parameters),
                _whole_only=self._grammar,
            )
        finally:
            await reply.aclose()

    def _chat(
        self, messages: Sequence[ModelMessage], parameters: ModelRequestParameters
    ) -> tuple[ChatMessage, ...]:
        parts = self._get_instruction_parts(messages, parameters)
        instructions = InstructionPart.join(parts) if parts else ""
        return to_chat(messages, instructions=instructions or "")

    async def _check_room(self, chat: Sequence[ChatMessage], max_tokens: int) -> None:
        """Raise `ModelError` unless prompt and reply fit the context together."""
        prompt = await self._client.count_tokens(messages=chat)
        context = self._client.context_tokens
        if prompt + max_tokens > context:
            raise ModelError(
                f"The request has {prompt:,} tokens and the reply may have {max_tokens:,}; "
                f"the model's context holds {context:,}.",
                hint="Raise model.context_tokens, grant fewer folders, or start a new chat.",
                setting="model.context_tokens",
            )


@dataclass
class LocalStreamedResponse(StreamedResponse):
    """The events of one reply: text as it comes, at the end perhaps one `run_code` call."""

    _model_name: str
    _reply: _Reply
    _client: WorkerClient
    _calls_run_code: bool
    _whole_only: bool = False
    _repeats: bool = False
    _timestamp: datetime = field(default_factory=lambda: datetime.now(UTC))

    async def _get_event_iterator(self) -> AsyncIterator[ModelResponseStreamEvent]:
        texts: list[str] = []
        watch = RepetitionWatch()
        async for item in self._reply:
            match item:
                case Delta(text=text):
                    texts.append(text)
                    if not self._repeats and watch.push(text):
                        self._repeats = True
                        await self._client.stop()
                    for event in self._parts_manager.handle_text_delta(
                        vendor_part_id="text", content=text
                    ):
                        yield event
                case Done():
                    self._settle(item)
                    for event in self._program_call("".join(texts), item.finish):
                        yield event
                case Evaluating():
                    continue

    def _settle(self, done: Done) -> None:
        """Take over usage and finish reason."""
        self._usage = RequestUsage(
            input_tokens=done.prompt_tokens,
            cache_read_tokens=done.cached_tokens,
            output_tokens=done.completion_tokens,
        )
        self.finish_reason = _finish_reason(done.finish)
        self.provider_details = {
            "finish": done.finish,
            "first_token_s": done.first_token_s,
            "total_s": done.total_s,
        }
        if self._repeats:
            self.finish_reason = "length"
            self.provider_details |= {REPEATED: True}
        elif done.finish == "stopped":
            self.state = "incomplete"

    def _program_call(self, text: str, finish: Finish) -> Sequence[ModelResponseStreamEvent]:
        """The call that the program in `text` stands for; a stopped reply calls nothing.

        A reply that repeated itself calls its program only if that is whole but for a last print.
        """
        if not self._calls_run_code or (finish == "stopped" and not self._repeats):
            return ()
        if self._whole_only and finish != "stop":
            return ()
        program = extract_program(text)
        source = _without_last_print(program.source) if self._repeats else program.source
        if not program.found or not source:
            return ()
        return (
            self._parts_manager.handle_tool_call_part(
                vendor_part_id=RUN_CODE, tool_name=RUN_CODE, args={"source": source}
            ),
        )

    async def close_stream(self) -> None:
        """Stop the generation; the reply then ends by itself."""
        await self._client.stop()

    def get_stream_cancel_errors(self) -> tuple[type[BaseException], ...]:
        """Stopping raises nothing of its own."""
        return ()

    @property
    def model_name(self) -> str:
        """``local:<id>``."""
        return self._model_name

    @property
    def provider_name(self) -> str:
        """``local``."""
        return "local"

    @property
    def provider_url(self) -> None:
        """There is none."""
        return

    @property
    def timestamp(self) -> datetime:
        """When the reply began."""
        return self._timestamp


def _without_last_print(source: str) -> str:
    """A program without the print at its end; empty when it does not end with one."""
    before, _, last = source.rstrip().rpartition("\n")
    return f"{before}\n" if last.startswith("print(") else ""


def to_chat(messages: Sequence[ModelMessage], *, instructions: str = "") -> tuple[ChatMessage, ...]:
    """The history as plain messages for a chat template.

    One system message (system prompts, then instructions) comes first; requests are the user's,
    responses the assistant's words. Calls are left out: the words hold their program. Results of
    tools and retry prompts are the user's words. Neighbours of one role are merged. A try that
    failed is left out: a small model that sees its own program writes it again, word for word.
    """
    system: list[str] = []
    rows: list[_Row] = []
    for message in messages:
        if isinstance(message, ModelRequest):
            for part in message.parts:
                if isinstance(part, SystemPromptPart):
                    system.append(part.content)
                elif content := _request_text(part):
                    if _is_retry(part):
                        _drop_reply(rows)
                    rows.append(("user", content))
        else:
            rows.extend(("assistant", words) for words in _response_words(message))
    if instructions:
        system.append(instructions)
    chat = [ChatMessage(role="system", content="\n\n".join(system))] if system else []
    for role, content in rows:
        if chat and chat[-1].role == role:
            chat[-1] = ChatMessage(role=role, content=f"{chat[-1].content}\n\n{content}")
        else:
            chat.append(ChatMessage(role=role, content=content))
    return tuple(chat)


def said_rows(messages: Sequence[ModelMessage]) -> list[_Row]:
    """The messages of one turn as the chat template got them, up to the last reply."""
    chat = to_chat([_plain_feedback(message) for message in messages])
    rows: list[_Row] = [(m.role, m.content) for m in chat if m.role != "system"]
    while rows and rows[-1][0] != "assistant":
        rows.pop()
    return rows


class _FeedbackPart(UserPromptPart):
    """What a reply that called nothing is answered with."""


def _is_retry(part: ModelRequestPart) -> bool:
    return isinstance(part, _FeedbackPart) or (
        isinstance(part, ToolReturnPart) and part.outcome == "retried"
    )


def _plain_feedback(message: ModelMessage) -> ModelMessage:
    """Feedback on a reply as the user's plain words, without pydantic-ai's framing."""
    if not isinstance(message, ModelRequest):
        return message
    parts = [
        _FeedbackPart(content=part.content)
        if isinstance(part, RetryFeedbackPart) and isinstance(part.content, str)
        else part
        for part in message.parts
    ]
    return replace(message, parts=parts)


def _drop_reply(rows: list[_Row]) -> None:
    """Take away the reply at the end, if there is one."""
    if rows and rows[-1][0] == "assistant":
        rows.pop()


def _request_text(part: ModelRequestPart) -> str:
    """The text of a part of a request; empty for what has none."""
    match part:
        case UserPromptPart(content=str(content)):
            return content
        case UserPromptPart(content=items):
            texts = (item.content if isinstance(item, TextContent) else item for item in items)
            return "\n\n".join(text for text in texts if isinstance(text, str))
        case ToolReturnPart():
            # Plain words: a small model reads an error wrapped in JSON as data.
            return part.model_response_str(wrap_if_error=False)
        case _:
            # Parts of other kinds, some of which know how they are told to a model.
            tell = getattr(part, "model_response", None)
            return str(tell()) if callable(tell) else ""


def _response_words(message: ModelResponse) -> list[str]:
    """What the model said; a call made by another model is told as the program that it ran."""
    words = [part.content for part in message.parts if isinstance(part, TextPart) and part.content]
    if words:
        return words
    return [
        f"```python\n{source.rstrip()}\n```"
        for part in message.parts
        if isinstance(part, ToolCallPart) and part.tool_name == RUN_CODE
        for source in [str(part.args_as_dict().get("source", ""))]
    ]


def _failed_tries(messages: Sequence[ModelMessage]) -> int:
    """How many tries at the last request have failed."""
    return sum(
        _is_retry(part)
        for message in messages
        if isinstance(message, ModelRequest)
        for part in message.parts
    )


def _generate_request(
    chat: tuple[ChatMessage, ...],
    settings: ModelSettings,
    *,
    failed_tries: int,
    grammar: bool = False,
) -> GenerateRequest:
    temperature = settings.get("temperature", _DEFAULT_TEMPERATURE)
    if failed_tries:
        at_least = _RETRY_TEMPERATURES[min(failed_tries, len(_RETRY_TEMPERATURES)) - 1]
        temperature = max(temperature, at_least)
    return GenerateRequest(
        messages=chat,
        max_tokens=settings.get("max_tokens", _DEFAULT_MAX_TOKENS),
        temperature=temperature,
        top_p=settings.get("top_p", 0.95),
        seed=settings.get("seed"),
        stop=tuple(settings.get("stop_sequences", ())),
        grammar=grammar,
    )


def _finish_reason(finish: Finish) -> Literal["stop", "length"] | None:
    """pydantic-ai's word for how a reply ended; it has none for a stopped one."""
    return None if finish == "stopped" else finish


def _has_run_code(parameters: ModelRequestParameters) -> bool:
    return any(tool.name == RUN_CODE for tool in parameters.function_tools)
