"""The bridge: order, threads, errors and an end that is safe in every state."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent, QObject
from pytestqt.qtbot import QtBot

from app.bridge import Bridge, EventBatch, problem_of
from app.engine.events import ChatsChanged, Notice, ReplyDelta
from app.engine.mailbox import Mailbox
from app.errors import AppError
from app.store.records import Problem


class Engine:
    """Just enough of an engine."""

    def __init__(self, mailbox: Mailbox) -> None:
        self.mailbox = mailbox
        self.thread = threading.current_thread()
        self.closed = threading.Event()
        self.cancelled = threading.Event()

    async def start(self) -> None:
        """Nothing to recover."""

    async def close(self) -> None:
        """Remember it."""
        self.closed.set()

    async def answer(self) -> int:
        """An answer."""
        return 41

    async def refuse(self) -> None:
        """What the person can fix."""
        raise AppError("The folder is gone.", hint="Choose another.")

    async def fail(self) -> None:
        """Our bug."""
        raise ZeroDivisionError

    async def post_then_answer(self) -> int:
        """Tell something, then answer."""
        self.mailbox.post(Notice(severity="info", message="first"))
        return 1

    async def wait_for_ever(self) -> None:
        """Ends by being cancelled."""
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise

    async def stream(self, pieces: int) -> None:
        """A reply in pieces, faster than frames."""
        for _ in range(pieces):
            self.mailbox.post(ReplyDelta(chat_id="c", turn_id="t", text="x"))
            await asyncio.sleep(0.001)


class Receiver(QObject):
    """An object with a callback that can be destroyed."""

    def __init__(self) -> None:
        super().__init__()
        self.got: list[Any] = []

    def take(self, value: Any) -> None:
        """Remember a value."""
        self.got.append(value)


type Made = tuple[Bridge, list[Engine]]


@pytest.fixture
def made(qapp: QCoreApplication) -> Iterator[Made]:
    """A bridge that is not started, and the engines it makes."""
    engines: list[Engine] = []

    def make(mailbox: Mailbox) -> Any:
        engines.append(Engine(mailbox))
        return engines[0]

    bridge = Bridge(make)
    yield bridge, engines
    bridge.close()


def call(bridge: Bridge, make: Callable[[Any], Any], *rest: Any, **named: Any) -> None:
    """`Bridge.call` with a stand-in for the engine."""
    bridge.call(make, *rest, **named)


def test_a_call_runs_on_the_engine_thread_and_answers_on_this_one(made: Made, qtbot: QtBot) -> None:
    bridge, engines = made
    seen: list[tuple[int, threading.Thread]] = []
    bridge.start()
    call(bridge, lambda e: e.answer(), lambda v: seen.append((v, threading.current_thread())))
    qtbot.waitUntil(lambda: bool(seen))
    assert seen == [(41, threading.main_thread())]
    assert engines[0].thread.name == "engine"


def test_a_call_made_before_the_start_is_answered_after_it(made: Made, qtbot: QtBot) -> None:
    bridge, _ = made
    receiver = Receiver()
    call(bridge, lambda e: e.answer(), receiver.take)
    bridge.start()
    qtbot.waitUntil(lambda: receiver.got == [41])


def test_an_error_the_person_can_fix_keeps_its_words(made: Made, qtbot: QtBot) -> None:
    bridge, _ = made
    receiver = Receiver()
    bridge.start()
    call(bridge, lambda e: e.refuse(), None, receiver.take)
    qtbot.waitUntil(lambda: bool(receiver.got))
    assert receiver.got == [Problem(message="The folder is gone.", hint="Choose another.")]


def test_an_error_of_ours_that_nobody_takes_is_told_with_its_trace(
    made: Made, qtbot: QtBot
) -> None:
    bridge, _ = made
    bridge.start()
    with qtbot.waitSignal(bridge.failed) as told:
        call(bridge, lambda e: e.fail())
    problem = told.args[0]
    assert "ZeroDivisionError" in problem.message
    assert "in fail" in problem.details


def test_an_engine_that_cannot_be_made_fails_every_call(qtbot: QtBot) -> None:
    def make(_mailbox: Mailbox) -> Any:
        raise AppError("The store is locked.", hint="Close the other Drydock.")

    bridge = Bridge(make)
    receiver = Receiver()
    bridge.start()
    call(bridge, lambda e: e.answer(), None, receiver.take)
    qtbot.waitUntil(lambda: bool(receiver.got))
    bridge.close()
    assert receiver.got[0].message == "The store is locked."


def test_a_callback_of_a_destroyed_object_is_dropped(made: Made, qtbot: QtBot) -> None:
    bridge, _ = made
    gone, owner, witness = Receiver(), QObject(), Receiver()
    calls: list[int] = []
    call(bridge, lambda e: e.answer(), gone.take)
    call(bridge, lambda e: e.answer(), calls.append, owner=owner)
    call(bridge, lambda e: e.answer(), witness.take)
    for one in (gone, owner):
        one.deleteLater()
    QCoreApplication.sendPostedEvents(None, int(QEvent.Type.DeferredDelete.value))
    assert not shiboken6.isValid(gone)
    bridge.start()
    qtbot.waitUntil(lambda: witness.got == [41])
    assert calls == []


def test_what_was_posted_before_an_answer_arrives_before_it(made: Made, qtbot: QtBot) -> None:
    bridge, _ = made
    order: list[object] = []
    bridge.arrived.connect(lambda batch: order.append(batch))
    bridge.start()
    call(bridge, lambda e: e.post_then_answer(), order.append)
    qtbot.waitUntil(lambda: 1 in order)
    expected = EventBatch(events=(Notice(severity="info", message="first"),))
    assert order == [expected, 1]


def test_events_come_in_batches_not_one_by_one(made: Made, qtbot: QtBot) -> None:
    bridge, _ = made
    batches: list[EventBatch] = []
    done: list[object] = []
    bridge.arrived.connect(batches.append)
    bridge.start()
    call(bridge, lambda e: e.stream(100), done.append)
    qtbot.waitUntil(lambda: bool(done))
    text = "".join(event.text for batch in batches for event in batch.events)  # type: ignore[union-attr]
    assert text == "x" * 100
    assert len(batches) < 50


def test_closing_cancels_what_runs_and_closes_the_engine(made: Made, qtbot: QtBot) -> None:
    bridge, engines = made
    receiver = Receiver()
    bridge.start()
    call(bridge, lambda e: e.answer(), receiver.take)
    call(bridge, lambda e: e.wait_for_ever(), receiver.take, receiver.take)
    qtbot.waitUntil(lambda: receiver.got == [41])
    bridge.close()
    assert engines[0].closed.is_set()
    assert engines[0].cancelled.is_set()
    assert not engines[0].thread.is_alive()
    assert receiver.got == [41]


def test_closing_twice_or_before_the_start_is_harmless(qapp: QCoreApplication) -> None:
    bridge = Bridge(lambda _mailbox: None)  # type: ignore[arg-type, return-value]
    bridge.close()
    bridge.close()
    bridge.start()
    call(bridge, lambda e: e.answer())


def test_an_event_after_the_close_is_not_delivered(made: Made, qtbot: QtBot) -> None:
    bridge, engines = made
    receiver = Receiver()
    bridge.arrived.connect(receiver.take)
    bridge.start()
    call(bridge, lambda e: e.answer(), lambda _v: bridge.close())
    qtbot.waitUntil(lambda: bool(engines) and engines[0].closed.is_set())
    engines[0].mailbox.post(ChatsChanged())
    QCoreApplication.sendPostedEvents()
    assert receiver.got == []


def test_a_problem_never_shows_more_than_an_errors_own_words() -> None:
    assert problem_of(AppError("What.", hint="Do.")).details == ""
