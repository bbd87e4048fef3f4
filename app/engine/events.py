"""What the engine tells its listeners. Typed, frozen, self-contained; posted through the mailbox.

A listener can always rebuild its view from `TurnChanged`; the deltas only make it live.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from app.store.records import CallGroup, TurnRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatsChanged:
    """The list of chats changed: titles, order, folders or statuses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnChanged:
    """A turn reached a new state; `turn` is the whole record."""

    turn: TurnRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyDelta:
    """Text that the model streamed, to be appended to the turn's reply."""

    chat_id: str
    turn_id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingDelta:
    """What the model thinks aloud, to be appended to the turn's thinking."""

    chat_id: str
    turn_id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallsProgress:
    """Calls of the running program so far, grouped; replaces the former groups."""

    chat_id: str
    turn_id: str
    program_id: str
    calls: tuple[CallGroup, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelActivity:
    """A model's state. `detail`: words for a status line, may be empty."""

    model_id: str
    state: Literal["loading", "ready", "unloaded", "failed", "waiting"]
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchProgressed:
    """A model file is on its way. Bytes; `bytes_per_s` and `seconds_left` None while unknown;
    `verifying`: it is here and its checksum is computed."""

    model_id: str
    done_bytes: int
    total_bytes: int | None
    bytes_per_s: float | None
    seconds_left: float | None
    source: str
    verifying: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchesChanged:
    """The queue of models to be fetched changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchEnded:
    """A fetch ended. No `problem`: the model is there, verified. `cancelled`: by the person."""

    model_id: str
    cancelled: bool = False
    problem: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Something the person should know that belongs to no turn."""

    severity: Literal["info", "caution", "danger"]
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabProgressed:
    """A measurement went on. Counts of trials; `seconds_left` None while unknown."""

    model_id: str
    done: int
    total: int
    passed: int
    seconds_left: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LabEnded:
    """A measurement ended: `problem` says why it could not be done, or is empty."""

    model_id: str
    problem: str = ""


Event = (
    ChatsChanged
    | TurnChanged
    | ReplyDelta
    | ThinkingDelta
    | CallsProgress
    | ModelActivity
    | FetchProgressed
    | FetchEnded
    | FetchesChanged
    | LabProgressed
    | LabEnded
    | Notice
)
