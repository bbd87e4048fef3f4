"""Everything that can go wrong with a remote request: told apart, retried where it may pass."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import httpx2
import pytest
from pydantic_ai import ModelRetry
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    TextPart,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters

from models.errors import ModelError
from models.faults import FaultCode, RemoteError
from models.remote_client import Connections, Timeouts
from tests.models.remote_talk import (
    KEY,
    QUICK,
    Talk,
    loopback_connections,
    remote_model,
    talk,
)
from tests.models.test_remote import ANSWERS, ASKS, every_format
from tests.wire.dialects import FORMATS, WireFormat
from tests.wire.reply import Call, Reply
from tests.wire.server import Answer, broken, failure, serving, stream

ANTHROPIC = FORMATS[0]
ANY_BYTE = [wire for wire in FORMATS if wire.name not in {"groq", "openrouter", "openai-chat"}]
"""Groq's client has another library below it, and the other two are like `compatible`."""


def failed(work: Any) -> RemoteError:
    """The error that a piece of work ends with."""
    with pytest.raises(RemoteError) as caught:
        asyncio.run(work)
    error = caught.value
    assert error.message
    assert error.hint
    assert KEY not in error.message + error.hint
    return error


async def asked(wire: WireFormat, *answers: Answer, done: Talk | None = None) -> Talk:
    """One exchange with a server that answers so; every request must be in order."""
    async with serving(*answers) as server:
        server.check = wire.check
        return await talk(wire, server.address, talk=done)


@every_format
@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [
        (401, "authentication_error", "bad_key"),
        (403, "permission_error", "forbidden"),
        (404, "not_found_error", "no_such_model"),
        (413, "request_too_large", "too_large"),
        (400, "other", "rejected"),
        (422, "other", "rejected"),
    ],
)
def test_a_definite_error_is_told_at_once(
    wire: WireFormat, status: int, kind: str, code: FaultCode
) -> None:
    done = Talk()
    answer = wire.fault(status, kind, f"No: {KEY}.")
    error = failed(asked(wire, answer, done=done))
    assert error.code == code
    assert "No: [key]." in error.message
    assert not done.waits
    assert done.accounts.used == [None]


@every_format
@pytest.mark.parametrize(
    ("status", "code"),
    [
        (408, "timed_out"),
        (429, "rate_limited"),
        (500, "server_failed"),
        (502, "server_failed"),
        (503, "busy"),
        (504, "server_failed"),
        (520, "server_failed"),
        (529, "busy"),
    ],
)
def test_what_may_pass_is_tried_again(wire: WireFormat, status: int, code: FaultCode) -> None:
    done = Talk()
    passing = wire.fault(status, "x", "Wait.")
    asyncio.run(asked(wire, passing, passing, stream(wire.sse(ANSWERS)), done=done))
    assert done.answer == ANSWERS.text
    assert [wait.error.code for wait in done.waits] == [code, code]
    assert len(done.accounts.asked) == QUICK.attempts


@every_format
def test_tries_are_bounded(wire: WireFormat) -> None:
    done = Talk()
    answers = [wire.fault(500, "x", "Broken.")] * QUICK.attempts
    assert failed(asked(wire, *answers, done=done)).code == "server_failed"
    assert len(done.accounts.asked) == QUICK.attempts


@every_format
def test_the_wait_that_a_provider_asks_for_is_kept(wire: WireFormat) -> None:
    done = Talk()
    busy = wire.fault(429, "x", "Slow down.", retry_after="2")
    asyncio.run(asked(wire, busy, stream(wire.sse(ANSWERS)), done=done))
    assert 2.0 <= done.waits[0].wait_s <= 3.0


@every_format
def test_a_provider_that_asks_for_too_long_is_not_waited_for(wire: WireFormat) -> None:
    done = Talk()
    error = failed(asked(wire, wire.fault(429, "x", "Later.", retry_after="3600"), done=done))
    assert error.code == "rate_limited"
    assert "3600 s" in error.message
    assert not done.waits


@every_format
def test_a_full_context_is_said(wire: WireFormat) -> None:
    assert failed(asked(wire, wire.fault(*wire.context_fault))).code == "context_full"


def test_no_credit_is_no_reason_to_wait() -> None:
    for wire in FORMATS[1:3]:
        done = Talk()
        answer = wire.fault(429, "insufficient_quota", "You exceeded your current quota.")
        assert failed(asked(wire, answer, done=done)).code == "no_credit"
        assert not done.waits


@every_format
def test_a_redirect_is_not_followed(wire: WireFormat) -> None:
    answer = failure(307, {}, location="https://elsewhere.invalid/")
    assert failed(asked(wire, answer)).code == "moved"


@every_format
def test_an_answer_that_is_no_model_server_is_said(wire: WireFormat) -> None:
    page = Answer(body=b"<html>Welcome to your router</html>", content_type="text/html")
    error = failed(asked(wire, *[page] * QUICK.attempts))
    assert error.code in {"not_understood", "broken", "empty"}


@every_format
def test_a_filtered_reply_is_said_and_not_repeated(wire: WireFormat) -> None:
    done = Talk()
    body = wire.sse(Reply(text="I ", finish="content_filter"))
    if wire.name == "mistral":
        pytest.skip("Mistral names no filter in its streams")
    assert failed(asked(wire, stream(body), done=done)).code == "filtered"
    assert not done.waits


@every_format
def test_an_empty_reply_is_asked_for_again_and_then_said(wire: WireFormat) -> None:
    done = Talk()
    empty = stream(wire.sse(Reply()))
    asyncio.run(asked(wire, empty, stream(wire.sse(ANSWERS)), done=done))
    assert done.answer == ANSWERS.text
    assert failed(asked(wire, *[empty] * QUICK.attempts)).code == "empty"


@every_format
def test_silence_after_a_program_ends_the_turn(wire: WireFormat) -> None:
    done = Talk()
    asyncio.run(asked(wire, stream(wire.sse(ASKS)), stream(wire.sse(Reply())), done=done))
    assert len(done.ran) == 1
    assert not done.waits


@every_format
def test_arguments_that_are_no_json_are_told_to_the_model(wire: WireFormat) -> None:
    done = Talk()
    wrong = Reply(calls=(Call(raw='{"source": "print(1)'),))
    answers = [stream(wire.sse(one)) for one in (wrong, ASKS, ANSWERS)]
    asyncio.run(asked(wire, *answers, done=done))
    assert done.answer == ANSWERS.text
    assert len(done.ran) == 1


@every_format
def test_a_program_that_failed_is_told_to_the_model(wire: WireFormat) -> None:
    async def work() -> None:
        again = Reply(calls=(Call(args={"source": "print(2)"}),))
        async with serving(*(stream(wire.sse(one)) for one in (ASKS, again, ANSWERS))) as server:
            server.check = wire.check
            done = await talk(
                wire,
                server.address,
                result=lambda source: "fine" if "2" in source else ModelRetry("It failed: ZERO."),
            )
            assert done.answer == ANSWERS.text
            assert b"It failed: ZERO." in server.received[1].raw

    asyncio.run(work())


@every_format
def test_an_error_in_the_middle_of_a_reply_is_tried_again(wire: WireFormat) -> None:
    done = Talk()
    kinds = {"anthropic": "overloaded_error", "google": "UNAVAILABLE"}
    half = wire.sse(ANSWERS)[: len(wire.sse(ANSWERS)) // 2]
    half = half[: half.rindex(b"\n\n") + 2]
    fault = wire.error_event(kinds.get(wire.name, "server_error"), "Overloaded")
    asyncio.run(asked(wire, stream(half + fault), stream(wire.sse(ANSWERS)), done=done))
    assert done.answer == ANSWERS.text
    assert len(done.waits) == 1


@every_format
@pytest.mark.parametrize("ending", ["closed", "reset", "whole"])
def test_a_connection_that_breaks_is_tried_again(wire: WireFormat, ending: Any) -> None:
    body = wire.sse(ASKS)
    done = Talk()
    cut = broken(body, len(body) // 2, ending)
    answers = [cut, stream(body), stream(wire.sse(ANSWERS))]
    asyncio.run(asked(wire, *answers, done=done))
    assert done.answer == ANSWERS.text
    assert len(done.ran) == 1
    assert [wait.error.code in {"broken", "not_understood"} for wait in done.waits] == [True]


class _Cut(httpx2.AsyncByteStream):
    def __init__(self, body: bytes, fault: Exception | None) -> None:
        self._body, self._fault = body, fault

    async def __aiter__(self) -> Any:
        yield self._body
        if self._fault is not None:
            raise self._fault

    async def aclose(self) -> None:
        """There is nothing to close."""


@pytest.mark.parametrize("wire", ANY_BYTE, ids=lambda wire: wire.name)
@pytest.mark.parametrize("silent", [False, True], ids=["reset", "closed"])
def test_a_reply_that_breaks_at_any_byte_calls_its_program_once(
    wire: WireFormat, silent: bool
) -> None:
    """Without sockets, since there are many bytes: the client gets so many, then a fault."""
    source = "print(1)"
    body = wire.sse(Reply(text="I.", calls=(Call(args={"source": source}),)))
    fault = None if silent else httpx2.ReadError("reset")
    streams: list[_Cut] = []

    def answer(_request: httpx2.Request) -> httpx2.Response:
        kind = {"content-type": "text/event-stream"}
        return httpx2.Response(200, headers=kind, stream=streams.pop(0))

    async def work() -> None:
        connections = Connections(transport=httpx2.MockTransport(answer))
        model = remote_model(wire.model_at("http://127.0.0.1:9"), connections)
        messages: list[ModelMessage] = [ModelRequest(parts=[UserPromptPart(content="Count.")])]
        for cut in range(0, len(body), 5):
            streams[:] = [_Cut(body[:cut], fault), _Cut(body, None)]
            reply = await model.request(messages, None, ModelRequestParameters())
            calls = [part for part in reply.parts if isinstance(part, ToolCallPart)]
            assert [call.args_as_dict() for call in calls] == [{"source": source}], cut
            assert [part.content for part in reply.parts if isinstance(part, TextPart)] == ["I."]

    asyncio.run(work())


async def _nowhere(fault: Exception) -> None:
    def answer(_request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("All connection attempts failed") from fault

    connections = Connections(transport=httpx2.MockTransport(answer))
    await talk(ANTHROPIC, "http://127.0.0.1:9", connections=connections)


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), "no_such_host"),
        (socket.gaierror(socket.EAI_AGAIN, "Temporary failure"), "no_network"),
        (OSError(101, "Network is unreachable"), "no_network"),
        (ConnectionRefusedError(111, "refused"), "refused_connection"),
    ],
)
def test_a_host_that_is_not_reached_says_why(fault: Exception, code: FaultCode) -> None:
    assert failed(_nowhere(fault)).code == code


@every_format
def test_nothing_at_the_address_is_said(wire: WireFormat) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
        error = failed(talk(wire, address))
    assert error.code == "refused_connection"


@every_format
def test_a_server_without_encryption_is_not_trusted_with_it(wire: WireFormat) -> None:
    async def work() -> None:
        async with serving() as server:
            await talk(wire, server.address.replace("http://", "https://"))

    assert failed(work()).code == "untrusted"


@every_format
def test_a_server_that_falls_silent_is_given_up(wire: WireFormat) -> None:
    async def work() -> None:
        hold = asyncio.Event()
        body = wire.sse(ANSWERS)
        answers = [stream(body, piece_bytes=len(body) // 2, hold=hold)] * QUICK.attempts
        async with serving(*answers) as server:
            connections = loopback_connections(Timeouts(connect_s=2, read_s=0.05, write_s=2))
            try:
                await talk(wire, server.address, connections=connections,
                           settings={"timeout": 0.05})  # fmt: skip
            finally:
                hold.set()
                await connections.close()

    assert failed(work()).code == "timed_out"


def test_a_missing_key_is_said_before_anything_is_sent() -> None:
    from models.remote_client import build_model

    for wire in FORMATS:
        if wire.name != "compatible":
            with pytest.raises(ModelError, match="no key"):
                build_model(wire.model_at("http://127.0.0.1:9"), None, Connections())


def test_a_request_that_is_forbidden_is_not_sent() -> None:
    async def work() -> None:
        async with serving(stream(ANTHROPIC.sse(ANSWERS))) as server:
            done = Talk()

            def forbid(_asked: object) -> None:
                raise ModelError("Over the budget.")

            done.accounts.forbid = forbid
            with pytest.raises(ModelError, match="budget"):
                await talk(ANTHROPIC, server.address, talk=done)
            assert not server.received

    asyncio.run(work())
