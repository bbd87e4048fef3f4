"""Events leave the engine in order, joined, and at most once a frame."""

from __future__ import annotations

import asyncio
import threading

from app.engine.events import CallsProgress, ChatsChanged, FetchProgressed, ReplyDelta
from app.engine.mailbox import FRAME_S, Mailbox
from app.engine.thread import EngineThread


def delta(text: str, turn_id: str = "t") -> ReplyDelta:
    return ReplyDelta(chat_id="c", turn_id=turn_id, text=text)


def test_deltas_of_one_turn_are_joined_and_order_is_kept() -> None:
    mailbox = Mailbox()
    for event in (delta("a"), delta("b"), ChatsChanged(), delta("c"), delta("d", "u")):
        mailbox.post(event)
    assert mailbox.drain() == [delta("ab"), ChatsChanged(), delta("c"), delta("d", "u")]
    assert mailbox.drain() == []


def test_progress_that_was_overtaken_is_dropped() -> None:
    mailbox = Mailbox()
    for done in (1, 2, 3):
        mailbox.post(
            FetchProgressed(
                model_id="m",
                done_bytes=done,
                total_bytes=3,
                bytes_per_s=None,
                seconds_left=None,
                source="s",
            )
        )
        mailbox.post(CallsProgress(chat_id="c", turn_id="t", program_id="p", calls=()))
    kinds = [type(event).__name__ for event in mailbox.drain()]
    assert kinds == ["FetchProgressed", "CallsProgress"] * 3
    mailbox.post(CallsProgress(chat_id="c", turn_id="t", program_id="p", calls=()))
    mailbox.post(CallsProgress(chat_id="c", turn_id="t", program_id="p", calls=()))
    assert len(mailbox.drain()) == 1


def test_a_thousand_events_make_few_batches() -> None:
    async def work() -> tuple[int, str]:
        mailbox = Mailbox()
        batches = 0
        text = ""

        def ready() -> None:
            nonlocal batches, text
            batches += 1
            text += "".join(
                event.text for event in mailbox.drain() if isinstance(event, ReplyDelta)
            )

        mailbox.bind(asyncio.get_running_loop(), ready)
        for number in range(1000):
            mailbox.post(delta(f"{number},"))
            if number % 100 == 0:
                await asyncio.sleep(0)
        await asyncio.sleep(3 * FRAME_S)
        return batches, text

    batches, text = asyncio.run(work())
    assert text == "".join(f"{number}," for number in range(1000))
    assert 1 <= batches <= 3


def test_the_engine_thread_hands_its_start_error_to_every_caller_and_still_ends() -> None:
    def fail(mailbox: Mailbox):
        raise ValueError("no store")

    async def never(engine) -> None:
        raise AssertionError("must not run")

    thread = EngineThread(fail, lambda: None)
    thread.start()
    for _ in range(2):
        error = thread.submit(never).exception(timeout=5)
        assert isinstance(error, ValueError)
    thread.stop()
    assert "engine" not in [item.name for item in threading.enumerate()]
