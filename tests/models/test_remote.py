"""Remote models against servers that speak the real formats: whole replies, in any pieces."""

from __future__ import annotations

import asyncio
import base64
import itertools

import pytest
from pydantic_ai import BinaryContent

from tests.models.remote_talk import KEY, talk
from tests.wire.dialects import FORMATS, WireFormat
from tests.wire.reply import PIXEL, Call, Reply
from tests.wire.server import serving, stream

SOURCE = 'print("größe: 3 📁")\n'
ASKS = Reply(text="I count. ", calls=(Call(args={"source": SOURCE}),))
ANSWERS = Reply(text="There are 3 files: größe 📁.", output_tokens=12)
every_format = pytest.mark.parametrize("wire", FORMATS, ids=lambda wire: wire.name)


@every_format
@pytest.mark.parametrize("piece_bytes", [0, 1])
def test_a_turn_with_a_program_goes_through(wire: WireFormat, piece_bytes: int) -> None:
    async def work() -> None:
        async with serving(
            stream(wire.sse(ASKS), piece_bytes=piece_bytes),
            stream(wire.sse(ANSWERS), piece_bytes=piece_bytes),
        ) as server:
            server.check = wire.check
            done = await talk(wire, server.address)
            assert done.ran == [SOURCE]
            assert done.answer == ANSWERS.text
            assert len(server.received) == 2
            assert not done.waits

    asyncio.run(work())


@every_format
def test_what_was_used_is_reported(wire: WireFormat) -> None:
    async def work() -> None:
        async with serving(stream(wire.sse(ANSWERS))) as server:
            done = await talk(wire, server.address)
            (used,) = done.accounts.used
            assert used is not None
            assert (used.input_tokens, used.output_tokens) == (1200, 12)
            if wire.name not in {"mistral", "groq"}:
                assert used.cached_tokens == 800
            (asked,) = done.accounts.asked
            assert asked.model_id == wire.model_at(server.address).text
            assert asked.output_tokens == 500

    asyncio.run(work())


@every_format
def test_the_key_is_sent_as_a_header_and_nowhere_else(wire: WireFormat) -> None:
    async def work() -> None:
        async with serving(stream(wire.sse(ANSWERS))) as server:
            await talk(wire, server.address)
            (received,) = server.received
            assert KEY.encode() not in received.raw
            assert KEY not in received.path
            assert sum(KEY in value for value in received.headers.values()) == 1

    asyncio.run(work())


@every_format
def test_environment_variables_have_no_say(
    wire: WireFormat, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANTHROPIC", "OPENAI", "GOOGLE", "GEMINI", "MISTRAL", "GROQ", "OPENROUTER"):
        for what in ("API_KEY", "AUTH_TOKEN", "BASE_URL", "ORG_ID", "PROJECT_ID"):
            monkeypatch.setenv(f"{name}_{what}", "https://environment.invalid")

    async def work() -> None:
        async with serving(stream(wire.sse(ANSWERS))) as server:
            await talk(wire, server.address)
            (received,) = server.received
            assert not any("environment.invalid" in value for value in received.headers.values())

    asyncio.run(work())


@every_format
def test_a_picture_reaches_a_model(wire: WireFormat) -> None:
    async def work() -> None:
        async with serving(stream(wire.sse(ANSWERS))) as server:
            server.check = wire.check
            picture = BinaryContent(data=PIXEL, media_type="image/png")
            await talk(wire, server.address, ["What is this?", picture])
            assert base64.b64encode(PIXEL) in server.received[0].raw

    asyncio.run(work())


def _without_messages(body: dict[str, object]) -> dict[str, object]:
    return {k: v for k, v in body.items() if k not in {"messages", "input", "contents"}}


@every_format
def test_a_request_begins_with_the_bytes_of_the_one_before(wire: WireFormat) -> None:
    """What precedes the new messages is the same, so that it is read from the provider's cache."""

    async def work() -> None:
        again = Reply(calls=(Call(args={"source": "print(2)"}),))
        async with serving(*(stream(wire.sse(one)) for one in (ASKS, again, ANSWERS))) as server:
            await talk(wire, server.address)
            bodies = [received.body for received in server.received]
            name = next(key for key in ("messages", "input", "contents") if key in bodies[0])
            for one, two in itertools.pairwise(bodies):
                assert _plain(two[name])[: len(one[name])] == _plain(one[name])
                assert _without_messages(one) == _without_messages(two)

    asyncio.run(work())


def _plain(messages: list[dict[str, object]]) -> list[object]:
    """Messages without the marks that say where the cached part ends; those move on."""

    def bare(value: object) -> object:
        match value:
            case dict():
                return {k: bare(v) for k, v in value.items() if k != "cache_control"}
            case list():
                return [bare(item) for item in value]
            case _:
                return value

    return [bare(message) for message in messages]


def test_anthropic_is_told_what_to_cache() -> None:
    wire = FORMATS[0]

    async def work() -> None:
        async with serving(stream(wire.sse(ANSWERS))) as server:
            await talk(wire, server.address)
            raw = server.received[0].raw
            assert raw.count(b'"cache_control"') >= 2

    asyncio.run(work())
