"""OpenAI's responses API.

Source: https://platform.openai.com/docs/api-reference/responses-streaming.
"""

from __future__ import annotations

import json
from typing import Any

from tests.wire.openai_chat import fault
from tests.wire.reply import Reply, event, pieces
from tests.wire.server import Answer, Received, stream

__all__ = ["answer", "check", "error_event", "fault", "sse"]


class _Stream:
    def __init__(self) -> None:
        self.out = b""
        self._number = 0

    def add(self, kind: str, **fields: Any) -> None:
        """One event with its running number."""
        data = {"type": kind, "sequence_number": self._number, **fields}
        self.out += event(data, kind)
        self._number += 1


def sse(reply: Reply) -> bytes:
    """The reply as the responses API streams it."""
    made = _Stream()
    made.add("response.created", response=_response("in_progress", [], None))
    items: list[dict[str, Any]] = []
    if reply.thinking:
        items.append(_think(made, reply.thinking, len(items)))
    if reply.text:
        items.append(_speak(made, reply.text, len(items)))
    for call in reply.calls:
        items.append(_call(made, call.name, call.text, len(items)))
    usage = {
        "input_tokens": reply.input_tokens,
        "input_tokens_details": {"cached_tokens": reply.cached_tokens},
        "output_tokens": reply.output_tokens,
        "output_tokens_details": {"reasoning_tokens": reply.thinking_tokens},
        "total_tokens": reply.input_tokens + reply.output_tokens,
    }
    if reply.finish:
        reason = {"length": "max_output_tokens"}.get(reply.finish, reply.finish)
        response = _response("incomplete", items, usage) | {
            "incomplete_details": {"reason": reason}
        }
        made.add("response.incomplete", response=response)
    else:
        made.add("response.completed", response=_response("completed", items, usage))
    return made.out


def _response(status: str, items: list[dict[str, Any]], usage: object) -> dict[str, Any]:
    return {
        "id": "resp_1", "object": "response", "created_at": 1_760_000_000, "status": status,
        "model": "gpt-5", "output": items, "parallel_tool_calls": True, "tool_choice": "auto",
        "tools": [], "usage": usage, "error": None, "incomplete_details": None,
        "instructions": None, "metadata": {}, "temperature": 1.0, "top_p": 1.0,
    }  # fmt: skip


def _think(made: _Stream, text: str, index: int) -> dict[str, Any]:
    item: dict[str, Any] = {"id": f"rs_{index}", "type": "reasoning", "summary": []}
    made.add("response.output_item.added", output_index=index, item=item)
    where = {"item_id": item["id"], "output_index": index, "summary_index": 0}
    part = {"type": "summary_text", "text": ""}
    made.add("response.reasoning_summary_part.added", **where, part=part)
    for one in pieces(text):
        made.add("response.reasoning_summary_text.delta", **where, delta=one)
    made.add("response.reasoning_summary_text.done", **where, text=text)
    done = item | {
        "summary": [{"type": "summary_text", "text": text}],
        "encrypted_content": "b3BlbmFpIQ==",
    }
    made.add("response.output_item.done", output_index=index, item=done)
    return done


def _speak(made: _Stream, text: str, index: int) -> dict[str, Any]:
    item: dict[str, Any] = {
        "id": f"msg_{index}", "type": "message", "role": "assistant", "status": "in_progress",
        "content": [],
    }  # fmt: skip
    made.add("response.output_item.added", output_index=index, item=item)
    where = {"item_id": item["id"], "output_index": index, "content_index": 0}
    empty = {"type": "output_text", "text": "", "annotations": []}
    made.add("response.content_part.added", **where, part=empty)
    for one in pieces(text):
        made.add("response.output_text.delta", **where, delta=one, logprobs=[])
    made.add("response.output_text.done", **where, text=text, logprobs=[])
    done = item | {"status": "completed", "content": [empty | {"text": text}]}
    made.add("response.output_item.done", output_index=index, item=done)
    return done


def _call(made: _Stream, name: str, arguments: str, index: int) -> dict[str, Any]:
    item = {
        "id": f"fc_{index}", "type": "function_call", "call_id": f"call_{index}", "name": name,
        "arguments": "", "status": "in_progress",
    }  # fmt: skip
    made.add("response.output_item.added", output_index=index, item=item)
    where = {"item_id": item["id"], "output_index": index}
    for one in pieces(arguments):
        made.add("response.function_call_arguments.delta", **where, delta=one)
    made.add("response.function_call_arguments.done", **where, arguments=arguments, name=name)
    done = item | {"status": "completed", "arguments": arguments}
    made.add("response.output_item.done", output_index=index, item=done)
    return done


def answer(reply: Reply, **values: Any) -> Answer:
    """The reply as an answer."""
    return stream(sse(reply), **values)


def error_event(kind: str, message: str) -> bytes:
    """An error in the middle of a stream."""
    data = {"type": "error", "code": kind, "message": message, "param": None, "sequence_number": 1}
    return event(data, "error")


def check(received: Received) -> None:
    """Assert what the responses API insists on, and that nothing is kept there."""
    assert received.path.split("?")[0].endswith("/responses")
    assert received.headers["authorization"].startswith("Bearer ")
    body = received.body
    assert body["store"] is False
    assert not body.get("previous_response_id")
    open_calls: set[str] = set()
    for item in body["input"]:
        match item.get("type", "message"):
            case "function_call":
                json.loads(item["arguments"])
                open_calls.add(item["call_id"])
            case "function_call_output":
                assert item["call_id"] in open_calls
                open_calls.discard(item["call_id"])
            case "reasoning":
                assert item["encrypted_content"] == "b3BlbmFpIQ==", "a reasoning of another maker"
            case "message":
                assert not open_calls
                assert item["content"]
            case other:
                raise AssertionError(f"the responses API knows no item {other}")
    assert not open_calls
