"""Anthropic's messages API: streams, errors, and what a request must look like.

Source: https://docs.anthropic.com/en/api/messages-streaming and /en/api/errors.
"""

from __future__ import annotations

import json
from typing import Any

from tests.wire.reply import Reply, event, pieces
from tests.wire.server import Answer, Received, failure, stream

PATH = "/v1/messages"


def sse(reply: Reply) -> bytes:
    """The reply as Anthropic streams it."""
    usage = {
        "input_tokens": reply.input_tokens - reply.cached_tokens,
        "cache_read_input_tokens": reply.cached_tokens,
        "cache_creation_input_tokens": 0,
        "output_tokens": 1,
    }
    message = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-6",
        "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage,
    }  # fmt: skip
    out = event({"type": "message_start", "message": message}, "message_start")
    out += event({"type": "ping"}, "ping")
    for index, (block, deltas) in enumerate(_blocks(reply)):
        start = {"type": "content_block_start", "index": index, "content_block": block}
        out += event(start, "content_block_start")
        for delta in deltas:
            part = {"type": "content_block_delta", "index": index, "delta": delta}
            out += event(part, "content_block_delta")
        out += event({"type": "content_block_stop", "index": index}, "content_block_stop")
    stop = {"length": "max_tokens", "content_filter": "refusal"}.get(
        reply.finish, "tool_use" if reply.calls else "end_turn"
    )
    out += event(
        {
            "type": "message_delta",
            "delta": {"stop_reason": stop, "stop_sequence": None},
            "usage": {"output_tokens": reply.output_tokens},
        },
        "message_delta",
    )
    return out + event({"type": "message_stop"}, "message_stop")


def _blocks(reply: Reply) -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    if reply.thinking:
        deltas = [{"type": "thinking_delta", "thinking": one} for one in pieces(reply.thinking)]
        deltas.append({"type": "signature_delta", "signature": "c2lnbmVk"})
        blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, deltas))
    if reply.text:
        deltas = [{"type": "text_delta", "text": one} for one in pieces(reply.text)]
        blocks.append(({"type": "text", "text": ""}, deltas))
    for number, call in enumerate(reply.calls):
        deltas = [{"type": "input_json_delta", "partial_json": one} for one in pieces(call.text)]
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": call.name, "input": {}}
        blocks.append((block, deltas))
    return blocks


def answer(reply: Reply, **values: Any) -> Answer:
    """The reply as an answer."""
    return stream(sse(reply), **values)


def fault(status: int, kind: str, message: str, **headers: str) -> Answer:
    """An error as Anthropic sends it."""
    body = {"type": "error", "error": {"type": kind, "message": message}}
    return failure(status, body, **headers)


def error_event(kind: str, message: str) -> bytes:
    """An error in the middle of a stream."""
    return event({"type": "error", "error": {"type": kind, "message": message}}, "error")


def check(received: Received) -> None:
    """Assert what Anthropic insists on."""
    assert received.path.split("?")[0] == PATH
    assert received.headers.get("x-api-key") or received.headers["authorization"]
    assert received.headers["anthropic-version"]
    body = received.body
    assert body["max_tokens"] > 0
    roles = [message["role"] for message in body["messages"]]
    assert roles[0] == "user"
    assert set(roles) <= {"user", "assistant"}
    open_calls: set[str] = set()
    for message in body["messages"]:
        content = message["content"]
        if isinstance(content, str):
            assert content.strip()
            assert not open_calls
            continue
        assert content
        answered = {block["tool_use_id"] for block in content if block["type"] == "tool_result"}
        assert answered == open_calls, (answered, open_calls)
        open_calls = {block["id"] for block in content if block["type"] == "tool_use"}
        for block in content:
            _check_block(block)
    assert not open_calls


def _check_block(block: dict[str, Any]) -> None:
    match block["type"]:
        case "text":
            assert block["text"].strip()
        case "thinking":
            assert block["signature"] == "c2lnbmVk", "a signature that Anthropic did not make"
        case "tool_use":
            assert isinstance(block["input"], dict)
        case "image":
            assert block["source"]["type"] == "base64"
            assert block["source"]["data"]
        case "tool_result":
            json.dumps(block["content"])
        case other:
            raise AssertionError(f"Anthropic knows no block {other}")
