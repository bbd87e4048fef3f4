"""OpenAI's chat completions, and what Mistral, Groq, OpenRouter and the rest have of it.

Source: https://platform.openai.com/docs/api-reference/chat-streaming.
"""

from __future__ import annotations

import json
from typing import Any

from tests.wire.reply import Reply, event, pieces
from tests.wire.server import Answer, Received, failure, stream


def sse(reply: Reply) -> bytes:
    """The reply as chat completions stream it."""
    out = _chunk({"role": "assistant", "content": ""})
    for one in pieces(reply.thinking):
        out += _chunk({"reasoning_content": one})
    for one in pieces(reply.text):
        out += _chunk({"content": one})
    for number, call in enumerate(reply.calls):
        head = {"index": number, "id": f"call0000{number}", "type": "function",
                "function": {"name": call.name, "arguments": ""}}  # fmt: skip
        out += _chunk({"tool_calls": [head]})
        for one in pieces(call.text):
            part = {"index": number, "function": {"arguments": one}}
            out += _chunk({"tool_calls": [part]})
    finish = reply.finish or ("tool_calls" if reply.calls else "stop")
    out += _chunk({}, finish)
    usage = {
        "prompt_tokens": reply.input_tokens,
        "completion_tokens": reply.output_tokens,
        "total_tokens": reply.input_tokens + reply.output_tokens,
        "prompt_tokens_details": {"cached_tokens": reply.cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": reply.thinking_tokens},
    }
    out += event(_envelope() | {"choices": [], "usage": usage})
    return out + event("[DONE]")


def _envelope() -> dict[str, Any]:
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1_760_000_000, "model": "m"}


def _chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return event(_envelope() | {"choices": [choice]})


def groq_sse(reply: Reply) -> bytes:
    """The reply as Groq streams it: usage comes in a field of its own."""
    usage = {
        "prompt_tokens": reply.input_tokens,
        "completion_tokens": reply.output_tokens,
        "total_tokens": reply.input_tokens + reply.output_tokens,
        "queue_time": 0.1,
        "prompt_time": 0.1,
        "completion_time": 0.1,
        "total_time": 0.2,
    }
    last = event(_envelope() | {"choices": [], "x_groq": {"id": "r1", "usage": usage}})
    return sse(reply).replace(event("[DONE]"), last + event("[DONE]"))


def mistral_sse(reply: Reply) -> bytes:
    """The reply as Mistral streams it: calls come whole, usage with the last piece."""
    out = _chunk({"role": "assistant", "content": ""})
    for one in pieces(reply.text):
        out += _chunk({"content": one})
    calls = [
        {"index": number, "id": f"call0000{number}",
         "function": {"name": call.name, "arguments": call.text}}
        for number, call in enumerate(reply.calls)
    ]  # fmt: skip
    delta: dict[str, Any] = {"content": ""} | ({"tool_calls": calls} if calls else {})
    finish = {"": "tool_calls" if calls else "stop", "content_filter": "error"}.get(
        reply.finish, reply.finish
    )
    usage = {
        "prompt_tokens": reply.input_tokens,
        "completion_tokens": reply.output_tokens,
        "total_tokens": reply.input_tokens + reply.output_tokens,
    }
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return out + event(_envelope() | {"choices": [choice], "usage": usage}) + event("[DONE]")


def answer(reply: Reply, **values: Any) -> Answer:
    """The reply as an answer."""
    return stream(sse(reply), **values)


def fault(status: int, kind: str, message: str, **headers: str) -> Answer:
    """An error as OpenAI sends it; `kind` is its code."""
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": kind}
    return failure(status, {"error": error}, **headers)


def error_event(kind: str, message: str) -> bytes:
    """An error in the middle of a stream."""
    return event({"error": {"message": message, "type": kind, "code": kind}})


def check(received: Received) -> None:
    """Assert what chat completions insist on."""
    assert received.path.split("?")[0].endswith("/chat/completions")
    assert received.headers["authorization"].startswith("Bearer ")
    open_calls: set[str] = set()
    for message in received.body["messages"]:
        match message["role"]:
            case "assistant":
                assert not open_calls
                calls = message.get("tool_calls") or []
                assert calls or message.get("content"), message
                open_calls = {call["id"] for call in calls}
                for call in calls:
                    json.loads(call["function"]["arguments"])
            case "tool":
                assert message["tool_call_id"] in open_calls
                open_calls -= {message["tool_call_id"]}
                assert isinstance(message["content"], str | list)
            case "user" | "system" | "developer":
                assert not open_calls
                assert message["content"]
            case other:
                raise AssertionError(f"chat completions know no role {other}")
    assert not open_calls


def check_mistral(received: Received) -> None:
    """What Mistral insists on besides: ids of nine letters and digits."""
    check(received)
    for message in received.body["messages"]:
        for call in message.get("tool_calls") or []:
            assert len(call["id"]) == 9, call["id"]
            assert call["id"].isalnum(), call["id"]
