"""The model changes in the middle of a chat: what one provider said is usable for every other."""

from __future__ import annotations

import asyncio
import itertools

import pytest
from pydantic_ai import BinaryContent
from pydantic_ai.messages import ModelMessage

from tests.models.remote_talk import talk
from tests.wire.dialects import FORMATS, WireFormat
from tests.wire.reply import PIXEL, Call, Reply
from tests.wire.server import serving, stream

ASKS = Reply(
    thinking="I look at it.", text="Let me see.", calls=(Call(args={"source": "print(1)"}),)
)
TWICE = Reply(
    calls=(Call(args={"source": "print(2)"}), Call(args={"source": "print(3)"})), thinking="Both."
)
ANSWERS = Reply(thinking="So it is.", text="It is one pixel.")
PAIRS = list(itertools.product(FORMATS, FORMATS))


async def _history(wire: WireFormat) -> list[ModelMessage]:
    """A turn with a picture, thinking, one call, two calls at once, and an answer."""
    replies = [stream(wire.sse(reply)) for reply in (ASKS, TWICE, ANSWERS)]
    async with serving(*replies) as server:
        server.check = wire.check
        picture = BinaryContent(data=PIXEL, media_type="image/png")
        done = await talk(wire, server.address, ["What is it?", picture])
        assert len(done.ran) == 3
        return done.messages


@pytest.fixture(scope="module")
def histories() -> dict[str, list[ModelMessage]]:
    """What each provider leaves behind."""
    return {wire.name: asyncio.run(_history(wire)) for wire in FORMATS}


@pytest.mark.parametrize(
    ("first", "second"), PAIRS, ids=[f"{one.name}-to-{two.name}" for one, two in PAIRS]
)
def test_the_history_of_one_is_taken_by_the_other(
    first: WireFormat, second: WireFormat, histories: dict[str, list[ModelMessage]]
) -> None:
    async def work() -> None:
        replies = [stream(second.sse(reply)) for reply in (ASKS, ANSWERS)]
        async with serving(*replies) as server:
            server.check = second.check
            done = await talk(second, server.address, "And now?", history=histories[first.name])
            assert done.answer == ANSWERS.text
            assert not done.waits
            sent = server.received[0].raw
            for said in (b"print(1)", b"print(2)", b"print(3)", b"3 files", b"one pixel"):
                assert said in sent

    asyncio.run(work())
