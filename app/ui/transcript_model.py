"""The turns of the open chat as data, and the split of a streamed reply into prose and code.

Owns which turns there are and which the window shows. It must not make widgets. Thread: UI.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from app.store.records import LIVE, TurnRecord

PAGE_TURNS = 20

type SegmentKind = Literal["prose", "code"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A piece of a reply that follows what came before."""

    kind: SegmentKind
    text: str


class FenceSplitter:
    """Splits a reply that arrives in pieces at its fences.

    Joining the pieces of all `feed` calls gives the reply without its fence lines. A beginning of
    a line that could become a fence is held back until the line says which it is.
    """

    def __init__(self) -> None:
        self._inside = False
        self._held = ""

    def feed(self, text: str) -> list[Segment]:
        """Take the next piece; returns what can be shown now, in order."""
        found: list[Segment] = []
        lines = (self._held + text).split("\n")
        self._held = ""
        for number, line in enumerate(lines):
            last = number == len(lines) - 1
            if line.lstrip().startswith("```"):
                if last:
                    self._held = line
                else:
                    self._inside = not self._inside
            elif last and line and "```".startswith(line.strip()):
                self._held = line
            elif not (last and not line):
                self._add(found, line if last else line + "\n")
        return found

    def _add(self, found: list[Segment], text: str) -> None:
        kind: SegmentKind = "code" if self._inside else "prose"
        if found and found[-1].kind == kind:
            text = found.pop().text + text
        found.append(Segment(kind=kind, text=text))


class TranscriptModel:
    """The turns of one chat, oldest first, of which the newest are shown."""

    def __init__(self, turns: Iterable[TurnRecord] = ()) -> None:
        self._turns: dict[str, TurnRecord] = {turn.turn_id: turn for turn in turns}
        self._shown = min(PAGE_TURNS, len(self._turns))

    def __len__(self) -> int:
        return len(self._turns)

    def shown(self) -> list[TurnRecord]:
        """The turns on the screen."""
        return list(self._turns.values())[len(self._turns) - self._shown :]

    @property
    def earlier(self) -> int:
        """How many older turns are not on the screen yet."""
        return len(self._turns) - self._shown

    def show_earlier(self) -> list[TurnRecord]:
        """Take one more page of older turns onto the screen; returns them, oldest first."""
        before = self.earlier
        self._shown = min(len(self._turns), self._shown + PAGE_TURNS)
        return list(self._turns.values())[self.earlier : before]

    def put(self, turn: TurnRecord) -> bool:
        """Take a turn's new state; true if it is a new turn."""
        new = turn.turn_id not in self._turns
        self._turns[turn.turn_id] = turn
        self._shown += new
        return new

    def get(self, turn_id: str) -> TurnRecord | None:
        """The turn, or None."""
        return self._turns.get(turn_id)

    @property
    def last(self) -> TurnRecord | None:
        """The newest turn, or None."""
        return next(reversed(self._turns.values()), None)

    @property
    def live(self) -> TurnRecord | None:
        """The turn that is at work, or None."""
        return next((t for t in reversed(self._turns.values()) if t.status in LIVE), None)
