"""What a local model has been sent in each chat, as it was sent.

A model keeps the evaluation of all that a request shares with the one before it. So an earlier turn
is sent again with the very bytes it had, its examples and listing included, and only what is new is
evaluated. That lasts while there is room; then the oldest turns are told in short, and later not at
all, several at once, so that it happens rarely. Kept in memory: after a restart nothing is
evaluated yet, and earlier turns are told in short. Thread: the engine's.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

type Row = tuple[Literal["user", "assistant"], str]
"""Who says what: a message of a chat template."""

Form = Literal["whole", "short", "none"]

_CHATS = 32
_MOST_TURNS = 8
_AFTER_CUT = 0.6
"""So much of the room is filled when something had to be cut."""


@dataclass(slots=True)
class Conversation:
    """One chat with one model. `said`: by turn, from its examples to its reply."""

    said: dict[str, tuple[Row, ...]] = field(default_factory=dict[str, "tuple[Row, ...]"])
    _untold: set[str] = field(default_factory=set[str])

    def keep(self, turn_id: str, rows: Sequence[Row]) -> None:
        """Keep what a turn's last request and its reply were."""
        self.said[turn_id] = tuple(rows)

    def forms(self, costs: Sequence[tuple[str, int, int]], room: int) -> dict[str, Form]:
        """How each earlier turn is told in a request with `room` for them.

        `costs`: turn id, and its size whole and in short, the oldest first. What was cut once stays
        cut: a beginning that changes is evaluated anew.
        """
        forms: dict[str, Form] = {
            turn_id: "whole" if turn_id in self.said else "short" for turn_id, _, _ in costs
        }
        forms |= {turn_id: "none" for turn_id in self._untold if turn_id in forms}
        sizes = {turn_id: {"whole": whole, "short": short} for turn_id, whole, short in costs}

        def total() -> int:
            return sum(sizes[key][form] for key, form in forms.items() if form != "none")

        told = [turn_id for turn_id, form in forms.items() if form != "none"]
        if total() <= room and len(told) <= _MOST_TURNS:
            return forms
        aim = int(room * _AFTER_CUT)
        for turn_id in told:
            if total() <= aim:
                break
            if self.said.pop(turn_id, None) is not None:
                forms[turn_id] = "short"
        for number, turn_id in enumerate(told):
            if total() <= aim and len(told) - number <= int(_MOST_TURNS * _AFTER_CUT):
                break
            self._untold.add(turn_id)
            forms[turn_id] = "none"
        return forms


class Conversations:
    """The chats of this process that a local model answered, the latest ones."""

    def __init__(self) -> None:
        self._chats: OrderedDict[str, Conversation] = OrderedDict()

    def of(self, chat_id: str, model_id: str) -> Conversation:
        """The conversation of a chat with a model; a new one begins empty."""
        key = f"{chat_id}\0{model_id}"
        found = self._chats.setdefault(key, Conversation())
        self._chats.move_to_end(key)
        while len(self._chats) > _CHATS:
            self._chats.popitem(last=False)
        return found
