"""Classic tool calls for models that only write text: schemas in the prompt, JSON in the reply.

The format is that of Qwen2.5's own chat template (Hermes): schemas between ``<tools>``, a call
between ``<tool_call>``, a result between ``<tool_response>``. Calls are read leniently: fenced or
bare JSON, and the other common names of the two keys. Owns that mapping alone, as a wrapper around
any model. Thread: the engine's.

Source: the chat template of Qwen/Qwen2.5-Coder-1.5B-Instruct, tokenizer_config.json.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, cast

from pydantic_ai import RunContext
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    RetryFeedbackPart,
    SystemPromptPart,
    TextPart,
    TextPartDelta,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters, StreamedResponse
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

from models.whole_reply import whole_reply

_TOOLS = """

# Tools

You may call one or more functions to assist with the user query.

You are provided with function signatures within <tools></tools> XML tags:
<tools>
{schemas}
</tools>

For each function call, return a json object with function name and arguments within \
<tool_call></tool_call> XML tags:
<tool_call>
{{"name": <function-name>, "arguments": <args-json-object>}}
</tool_call>"""
_NAME_KEYS = ("name", "function", "tool", "tool_name", "function_name", "action")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "action_input", "kwargs")
_MOST_CALLS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call that a reply asks for."""

    name: str
    arguments: dict[str, Any]


def find_calls(text: str) -> list[Call]:
    """The calls in a reply, in order; none when it only talks."""
    found: list[Call] = []
    for value in _objects(text):
        items: list[object] = cast("list[object]", value) if isinstance(value, list) else [value]
        for item in items:
            call = _call_of(item)
            if call is not None and call not in found:
                found.append(call)
    return found[:_MOST_CALLS]


def _objects(text: str) -> Iterator[object]:
    """Every outermost JSON value with a brace in a text, lenient on raw line breaks in strings."""
    decoder = json.JSONDecoder(strict=False)
    at = 0
    while (start := _next_start(text, at)) >= 0:
        try:
            value, at = decoder.raw_decode(text, start)
            yield value
        except ValueError:
            at = start + 1


def _next_start(text: str, at: int) -> int:
    places = [place for mark in "{[" if (place := text.find(mark, at)) >= 0]
    return min(places, default=-1)


def _call_of(value: object) -> Call | None:
    if not isinstance(value, dict):
        return None
    data = cast("dict[str, object]", value)
    inner = data.get("function")
    if isinstance(inner, dict):  # OpenAI's shape: {"type": "function", "function": {...}}
        return _call_of(cast("object", inner))
    name = next((data[key] for key in _NAME_KEYS if isinstance(data.get(key), str)), None)
    if not isinstance(name, str):
        return None
    arguments: object = next((data[key] for key in _ARGUMENT_KEYS if key in data), None)
    if arguments is None:
        arguments = dict[str, Any]()
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments, strict=False)
        except ValueError:
            return None
    if not isinstance(arguments, dict):
        return None
    return Call(name=name, arguments=cast("dict[str, Any]", arguments))


class JsonCallModel(WrapperModel):
    """A model that writes text, as one that calls tools."""

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
        """A reply as it is made; its calls come at the end."""
        schemas = "\n".join(
            json.dumps({"type": "function", "function": tool}, ensure_ascii=False)
            for tool in _schemas(model_request_parameters)
        )
        texts = _as_text(messages, _TOOLS.format(schemas=schemas) if schemas else "")
        plain = replace(model_request_parameters, function_tools=[], instruction_parts=None)
        async with super().request_stream(texts, model_settings, plain, run_context) as stream:
            yield _Calling(model_request_parameters=model_request_parameters, _inner=stream)


@dataclass
class _Calling(StreamedResponse):
    """The events of a reply, with its calls at the end."""

    _inner: StreamedResponse

    async def _get_event_iterator(self) -> AsyncIterator[ModelResponseStreamEvent]:
        texts: list[str] = []
        async for event in self._inner:
            text = _text_of(event)
            if text:
                texts.append(text)
                for made in self._parts_manager.handle_text_delta(
                    vendor_part_id="text", content=text
                ):
                    yield made
        self._usage = self._inner.usage
        self.finish_reason = self._inner.finish_reason
        self.provider_details = self._inner.provider_details
        self.state = self._inner.state
        for number, call in enumerate(find_calls("".join(texts)), 1):
            yield self._parts_manager.handle_tool_call_part(
                vendor_part_id=f"call-{number}", tool_name=call.name, args=call.arguments
            )

    async def close_stream(self) -> None:
        """Stop the reply."""
        await self._inner.close_stream()

    def get_stream_cancel_errors(self) -> tuple[type[BaseException], ...]:
        """As the wrapped one's."""
        return self._inner.get_stream_cancel_errors()

    @property
    def model_name(self) -> str:
        """The wrapped one's."""
        return self._inner.model_name

    @property
    def provider_name(self) -> str | None:
        """The wrapped one's."""
        return self._inner.provider_name

    @property
    def provider_url(self) -> str | None:
        """The wrapped one's."""
        return self._inner.provider_url

    @property
    def timestamp(self) -> datetime:
        """When the reply began."""
        return self._inner.timestamp


def _text_of(event: object) -> str:
    match event:
        case PartStartEvent(part=TextPart(content=text)):
            return text
        case PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
            return text
        case _:
            return ""


def _schemas(parameters: ModelRequestParameters) -> list[Mapping[str, Any]]:
    return [
        {
            "name": tool.name,
            "description": tool.description or "",
            "parameters": tool.parameters_json_schema,
        }
        for tool in parameters.function_tools
    ]


def _as_text(messages: list[ModelMessage], tools: str) -> list[ModelMessage]:
    """The history with calls and results as text, and the schemas after the system's words."""
    told: list[ModelMessage] = []
    instructions = next(
        (m.instructions for m in messages if isinstance(m, ModelRequest) and m.instructions), ""
    )
    for message in messages:
        if isinstance(message, ModelResponse):
            words = "\n".join(filter(None, map(_said, message.parts)))
            told.append(replace(message, parts=[TextPart(content=words)]))
        else:
            parts = [_plain_part(part) for part in message.parts]
            told.append(replace(message, parts=parts, instructions=None))
    first = told[0]
    if isinstance(first, ModelRequest):
        system = SystemPromptPart(content=f"{instructions}{tools}")
        told[0] = replace(first, parts=[system, *first.parts])
    return told


def _said(part: object) -> str:
    match part:
        case TextPart(content=text):
            return "" if find_calls(text) else text
        case ToolCallPart(tool_name=name):
            call = {"name": name, "arguments": part.args_as_dict()}
            return f"<tool_call>\n{json.dumps(call, ensure_ascii=False)}\n</tool_call>"
        case _:
            return ""


def _plain_part(part: ModelRequestPart) -> ModelRequestPart:
    match part:
        case ToolReturnPart():
            text = part.model_response_str(wrap_if_error=False)
        case RetryFeedbackPart():
            text = str(part.content)
        case _:
            return part
    return UserPromptPart(content=f"<tool_response>\n{text}\n</tool_response>")
