"""The engine's way out: events gathered and handed over at most once per frame.

Owns the batching, and that no known secret value goes out; knows no Qt. `post` may be called on any
thread; `on_ready` is called on the engine's loop when a batch is due, and the listener takes it
with `drain` on a thread of its own.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import replace

from app.engine.events import (
    CallsProgress,
    Event,
    FetchProgressed,
    ReplyDelta,
    ThinkingDelta,
    TurnChanged,
)
from app.vault.redact import Redactor, Stream

FRAME_S = 0.033


class Mailbox:
    """Collects events; text deltas of one turn are joined, superseded progress is dropped."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._events: list[Event] = []
        self._due = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._on_ready: Callable[[], None] | None = None
        self._redactor: Redactor | None = None
        self._streams: dict[tuple[str, type[Event]], Stream] = {}

    def redact(self, redactor: Redactor) -> None:
        """Take what `redactor` knows out of every event; a reply's text even across its pieces."""
        self._redactor = redactor

    def clean[T](self, value: T) -> T:
        """A record as it may be shown."""
        return value if self._redactor is None else self._redactor.value(value)

    def bind(self, loop: asyncio.AbstractEventLoop, on_ready: Callable[[], None] | None) -> None:
        """Say where batches go. Without `on_ready` events are kept until drained."""
        with self._lock:
            self._loop = loop
            self._on_ready = on_ready
            waiting = bool(self._events)
            self._due = waiting
        if waiting:
            loop.call_soon_threadsafe(self._flush)

    def post(self, event: Event) -> None:
        """Add an event. Never blocks for longer than the lock."""
        with self._lock:
            for clean in self._cleaned(event):
                if not self._merged(clean):
                    self._events.append(clean)
            if self._due or self._loop is None or self._on_ready is None:
                return
            self._due = True
            loop = self._loop
        if not loop.is_closed():
            loop.call_soon_threadsafe(loop.call_later, FRAME_S, self._flush)

    def drain(self) -> list[Event]:
        """Take all events that are waiting, oldest first."""
        with self._lock:
            events, self._events = self._events, []
            return events

    def _flush(self) -> None:
        with self._lock:
            self._due = False
            on_ready = self._on_ready
        if on_ready is not None:
            on_ready()

    def _cleaned(self, event: Event) -> list[Event]:
        """`event` without known values; what streams held back comes before what ends them."""
        redactor = self._redactor
        if redactor is None:
            return [event]
        if isinstance(event, ReplyDelta | ThinkingDelta):
            kind = type(event)
            stream = self._streams.setdefault((event.turn_id, kind), redactor.stream())
            text = stream.feed(event.text)
            return [replace(event, text=text)] if text else []
        found: list[Event] = []
        if isinstance(event, TurnChanged):
            turn = event.turn
            for kind in (ThinkingDelta, ReplyDelta):
                held = self._streams.pop((turn.turn_id, kind), None)
                if held is not None and (rest := held.end()):
                    found.append(kind(chat_id=turn.chat_id, turn_id=turn.turn_id, text=rest))
        return [*found, redactor.value(event)]

    def _merged(self, event: Event) -> bool:
        if not self._events:
            return False
        last = self._events[-1]
        match event, last:
            case ReplyDelta(), ReplyDelta() if event.turn_id == last.turn_id:
                self._events[-1] = ReplyDelta(
                    chat_id=event.chat_id, turn_id=event.turn_id, text=last.text + event.text
                )
                return True
            case ThinkingDelta(), ThinkingDelta() if event.turn_id == last.turn_id:
                self._events[-1] = ThinkingDelta(
                    chat_id=event.chat_id, turn_id=event.turn_id, text=last.text + event.text
                )
                return True
            case CallsProgress(), CallsProgress() if event.program_id == last.program_id:
                self._events[-1] = event
                return True
            case FetchProgressed(), FetchProgressed() if event.model_id == last.model_id:
                self._events[-1] = event
                return True
            case _:
                return False
