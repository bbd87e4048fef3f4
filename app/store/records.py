"""What the store returns and the window shows: immutable records of chats and turns.

Pure data, no behaviour beyond derived facts. Thread: any.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from sandbox.changeset import ChangeSet
from sandbox.effects import EffectKind
from sandbox.errors import Fault
from sandbox.ports import Reason
from sandbox.question import Question
from sandbox.shown import Shown
from sandbox.verify import Choice

TurnStatus = Literal[
    "writing",  # the model writes
    "checking",  # the program is bridged and checked
    "running",  # the program runs on the stage
    "asking",  # a program waits for the person at a call
    "waiting",  # a change set waits for the person
    "committing",  # approved changes are being applied
    "done",
    "failed",
    "rejected",
    "stopped",
    "interrupted",  # the app ended in the middle; can be resumed
    "undone",
]
LIVE: frozenset[TurnStatus] = frozenset({"writing", "checking", "running", "committing"})

GIVEN_PROGRAM = "program"
"""The model id of a turn whose program was given, not written by a model."""

_TITLE_CHARS = 60

ProgramStatus = Literal["running", "asking", "ok", "error", "stopped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """A granted folder. `path` is absolute; `rights` as the person gave them."""

    path: str
    rights: Literal["read", "write"] = "write"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallGroup:
    """Calls of one kind in one program: "read 41 files". `example`: one path among them."""

    kind: EffectKind
    folder: bool
    count: int
    size_bytes: int
    example: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramRecord:
    """One program of a turn. `index` counts from 1 within the turn; `wall_s` in seconds."""

    program_id: str
    turn_id: str
    index: int
    source: str
    bridged: str = ""
    notes: tuple[str, ...] = ()
    status: ProgramStatus = "running"
    fault: Fault | None = None
    printed: str = ""
    warned: str = ""
    value: str | None = None
    wall_s: float = 0.0
    calls: tuple[CallGroup, ...] = ()
    file_calls: int = 0
    shown: tuple[Shown, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """An error for a person: what happened and why, then the next step; `details` is copyable.

    `kind`: which part could not be used at all, for the exit code, or "ours" for an error inside
    Drydock; empty for everything else;
    `can_keep`: the disk refused one change, and others could be applied without it.
    """

    message: str
    kind: Literal["", "model", "sandbox", "ours"] = ""
    hint: str = ""
    details: str = ""
    can_keep: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a turn cost. Tokens; seconds of model time; money as decimal text, None: unknown.

    `candidates`: programs that voted on the outcome, 0 where none did; `agreeing`: how many of
    them came to the one that counts.
    `energy_j`: joules of the whole machine while a local model worked, None: not reported.
    """

    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    model_s: float = 0.0
    money: str | None = None
    candidates: int = 0
    agreeing: int = 0
    currency: str = "USD"
    thinking_tokens: int = 0
    energy_j: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictRecord:
    """A change that was not applied, and why, in words; `choices`: what a person can choose."""

    change_id: str
    path: str
    reason: str
    choices: tuple[Choice, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A bigger model for the same request. `line`: why; `price`: about what it would cost, as
    decimal text, None: unknown; `leaves`: whether the request would leave this machine.
    """

    model_id: str
    line: str
    price: str | None = None
    currency: str = "USD"
    leaves: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRecord:
    """One turn as the transcript shows it.

    `reply`: the model's text of the latest try, its program included; `thinking`: what it thought
    aloud before; `answer`: what the person
    reads; `changes`: the change set, None while there is none; `approved`: ids of the changes that
    were committed; `reasons`: what is unusual about them, the most unusual first; `seconds`: wall
    time so far; `question`: what a program waits for, while the status is asking;
    `routed`: why the router chose the model, empty: the person chose it; `offer`: a bigger model
    for the same request.
    """

    turn_id: str
    chat_id: str
    request: str
    model_id: str
    status: TurnStatus
    started: datetime
    reply: str = ""
    thinking: str = ""
    programs: tuple[ProgramRecord, ...] = ()
    answer: str = ""
    problem: Problem | None = None
    changes: ChangeSet | None = None
    approved: tuple[str, ...] = ()
    conflicts: tuple[ConflictRecord, ...] = ()
    reasons: tuple[Reason, ...] = ()
    committed: bool = False
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    question: Question | None = None
    routed: str = ""
    offer: Offer | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRecord:
    """A chat without its turns. `local_only`: its requests never leave this machine."""

    chat_id: str
    title: str
    folders: tuple[Folder, ...]
    model_id: str
    created: datetime
    updated: datetime
    status: TurnStatus | None = None
    local_only: bool = False

    def titled(self, request: str) -> ChatRecord:
        """The same with a title out of its first request, unless it has one."""
        if self.title:
            return self
        line = " ".join(request.split())
        title = line if len(line) <= _TITLE_CHARS else line[: _TITLE_CHARS - 1].rstrip() + "…"
        return replace(self, title=title)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatView:
    """A chat with all its turns, oldest first."""

    chat: ChatRecord
    turns: tuple[TurnRecord, ...]
