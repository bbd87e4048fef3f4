"""Google's Gemini API.

Source: https://ai.google.dev/api/generate-content.
"""

from __future__ import annotations

import base64
import json
from typing import Any

from tests.wire.reply import Reply, event, pieces
from tests.wire.server import Answer, Received, failure, stream

SIGNATURE = base64.b64encode(b"gemini").decode()


def sse(reply: Reply) -> bytes:
    """The reply as Gemini streams it; calls come whole."""
    out = b""
    for one in pieces(reply.thinking, 20):
        out += _chunk([{"text": one, "thought": True}])
    for one in pieces(reply.text, 20):
        out += _chunk([{"text": one}])
    for call in reply.calls:
        try:
            args = json.loads(call.text)
        except ValueError:
            args = {"wrong": call.text}
        part = {"functionCall": {"name": call.name, "args": args}, "thoughtSignature": SIGNATURE}
        out += _chunk([part])
    finish = {"length": "MAX_TOKENS", "content_filter": "SAFETY"}.get(reply.finish, "STOP")
    usage = {
        "promptTokenCount": reply.input_tokens,
        "cachedContentTokenCount": reply.cached_tokens,
        "candidatesTokenCount": reply.output_tokens - reply.thinking_tokens,
        "thoughtsTokenCount": reply.thinking_tokens,
        "totalTokenCount": reply.input_tokens + reply.output_tokens,
    }
    return out + _chunk([{"text": ""}], finishReason=finish, usage=usage)


def _chunk(parts: list[dict[str, Any]], *, usage: object = None, **candidate: Any) -> bytes:
    data: dict[str, Any] = {
        "candidates": [{"content": {"role": "model", "parts": parts}, "index": 0, **candidate}],
        "modelVersion": "gemini-2.5-flash",
        "responseId": "r1",
    }
    return event(data | ({"usageMetadata": usage} if usage else {}))


def answer(reply: Reply, **values: Any) -> Answer:
    """The reply as an answer."""
    return stream(sse(reply), **values)


def fault(status: int, kind: str, message: str, **headers: str) -> Answer:
    """An error as Google sends it; `kind` is its status."""
    return failure(
        status, {"error": {"code": status, "message": message, "status": kind}}, **headers
    )


def error_event(kind: str, message: str) -> bytes:
    """An error in the middle of a stream."""
    return event({"error": {"code": 503, "message": message, "status": kind}})


def check(received: Received) -> None:
    """Assert what Gemini insists on."""
    assert ":streamGenerateContent" in received.path
    assert received.headers["x-goog-api-key"]
    assert "key=" not in received.path, "a key in the address ends up in logs"
    contents = received.body["contents"]
    assert contents[0]["role"] == "user"
    called: list[str] = []
    for content in contents:
        assert content["role"] in {"user", "model"}
        assert content["parts"]
        answered = [
            p["functionResponse"]["name"] for p in content["parts"] if "functionResponse" in p
        ]
        assert answered == called, (answered, called)
        called = [p["functionCall"]["name"] for p in content["parts"] if "functionCall" in p]
        for part in content["parts"]:
            _check_part(part)
    assert not called


def _check_part(part: dict[str, Any]) -> None:
    known = {"text", "inlineData", "functionCall", "functionResponse", "thought",
             "thoughtSignature"}  # fmt: skip
    assert set(part) <= known, part
    if "inlineData" in part:
        data = part["inlineData"]
        assert (data.get("mimeType") or data["mime_type"]) == "image/png"
