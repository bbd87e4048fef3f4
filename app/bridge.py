"""The only place where Qt and asyncio meet.

Owns the engine's thread and both directions between it and the window: events come out as
batches, at most one per frame; calls go in as coroutines and come back as callbacks on the UI
thread. It must not know any widget and must not run engine code on the UI thread.
Thread: made, called and destroyed on the UI thread; the `_due` and `_settled` signals are the
only things touched from the engine's thread, and both are delivered through Qt's queue.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import traceback
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import shiboken6
from PySide6.QtCore import QObject, Qt, Signal

from app.engine.events import Event
from app.engine.thread import EngineThread
from app.errors import AppError
from app.store.records import Problem
from models.errors import ModelError
from sandbox.errors import SandboxError

if TYPE_CHECKING:
    from app.engine.engine import Engine
    from app.engine.mailbox import Mailbox

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class EventBatch:
    """What the engine told since the last batch, oldest first. Never empty."""

    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    call_id: int
    value: Any = None
    error: BaseException | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    on_done: Callable[[Any], object] | None
    on_error: Callable[[Problem], object] | None
    owner: QObject | None


class Bridge(QObject):
    """Carries events out of the engine and calls into it.

    `arrived` carries an `EventBatch`; `failed` carries the `Problem` of a call that named no
    `on_error`. Everything that was posted before a call settled arrives before its callback.
    """

    arrived = Signal(object)
    failed = Signal(object)
    _due = Signal()
    _settled = Signal(object)

    def __init__(
        self, make_engine: Callable[[Mailbox], Engine], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._ids = itertools.count(1)
        self._calls: dict[int, _Call] = {}
        self._early: list[Callable[[], None]] = []
        self._state = "new"
        self._due.connect(self._deliver, Qt.ConnectionType.QueuedConnection)
        self._settled.connect(self._settle, Qt.ConnectionType.QueuedConnection)
        self._thread = EngineThread(make_engine, self._due.emit)

    def start(self) -> None:
        """Start the engine's thread; calls made before wait for it."""
        if self._state != "new":
            return
        self._state = "open"
        self._thread.start()
        early, self._early = self._early, []
        self.call(lambda engine: engine.start())
        for submit in early:
            submit()

    def call[T](
        self,
        make: Callable[[Engine], Coroutine[Any, Any, T]],
        on_done: Callable[[T], object] | None = None,
        on_error: Callable[[Problem], object] | None = None,
        *,
        owner: QObject | None = None,
    ) -> None:
        """Run `make(engine)` on the engine's loop; exactly one callback follows on this thread.

        `owner`: a callback is dropped if this object is gone by then; the object of a bound
        method is always looked at. After `close` calls are dropped.
        """
        if self._state == "closed":
            return
        call_id = next(self._ids)
        self._calls[call_id] = _Call(on_done=on_done, on_error=on_error, owner=owner)

        def submit() -> None:
            try:
                future: Future[T] = self._thread.submit(make)
            except RuntimeError as error:
                self._settled.emit(_Outcome(call_id=call_id, error=error))
            else:
                future.add_done_callback(lambda done: self._report(call_id, done))

        if self._state == "new":
            self._early.append(submit)
        else:
            submit()

    def close(self, timeout_s: float = 5.0) -> None:
        """Stop the engine in order; waits at most `timeout_s` seconds. May be called twice."""
        was, self._state = self._state, "closed"
        self._calls.clear()
        self._early.clear()
        if was == "open":
            self._thread.stop(timeout_s)

    def _report(self, call_id: int, done: Future[Any]) -> None:
        """Take a result over from the engine's thread."""
        try:
            outcome = _Outcome(call_id=call_id, value=done.result())
        except (Exception, CancelledError, asyncio.CancelledError) as error:
            outcome = _Outcome(call_id=call_id, error=error)
        if self._state == "open" and shiboken6.isValid(self):
            self._settled.emit(outcome)

    def _deliver(self) -> None:
        if self._state != "open":
            return
        if events := self._thread.mailbox.drain():
            self.arrived.emit(EventBatch(events=tuple(events)))

    def _settle(self, outcome: _Outcome) -> None:
        self._deliver()
        call = self._calls.pop(outcome.call_id, None)
        if call is None or not _alive(call.owner):
            return
        if outcome.error is None:
            if call.on_done is not None and _receives(call.on_done):
                call.on_done(outcome.value)
            return
        if isinstance(outcome.error, CancelledError | asyncio.CancelledError):
            return
        problem = self._thread.mailbox.clean(problem_of(outcome.error))
        if call.on_error is None:
            self.failed.emit(problem)
        elif _receives(call.on_error):
            call.on_error(problem)


def problem_of(error: BaseException) -> Problem:
    """Put an error into words for a person; an error of our own is logged with its trace."""
    if isinstance(error, AppError | SandboxError | ModelError):
        return Problem(message=error.message, hint=error.hint)
    _log.error("a call into the engine failed", exc_info=error)
    return Problem(
        message=f"Drydock made a mistake of its own: {type(error).__name__}.",
        hint="Your files are unchanged by this. Try again; if it stays, report the details.",
        details="".join(traceback.format_exception(error)),
    )


def _alive(owner: QObject | None) -> bool:
    return owner is None or shiboken6.isValid(owner)


def _receives(callback: Callable[..., object]) -> bool:
    owner = getattr(callback, "__self__", None)
    return not isinstance(owner, QObject) or shiboken6.isValid(owner)
