"""The record of a turn while it is live: every state is in the store before anybody hears of it.

Owns the record of one turn from its launch to its end. Thread: the engine's.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from app.engine.events import Notice, TurnChanged
from app.engine.mailbox import Mailbox
from app.store.chats import ChatStore
from app.store.journal import Step, TurnJournal
from app.store.records import ProgramRecord, TurnRecord


class LiveRecord:
    """A turn's record, written with each change. `record`: as it is now."""

    def __init__(
        self, turn: TurnRecord, *, store: ChatStore, journal: TurnJournal, mailbox: Mailbox
    ) -> None:
        self.record = turn
        self.mailbox = mailbox
        self.store = store
        self._journal = journal
        self._started = time.monotonic() - turn.seconds

    def update(self, **changes: Any) -> None:
        """Change fields of the record."""
        seconds = time.monotonic() - self._started
        self.record = replace(self.record, **changes, seconds=seconds)
        self.store.save_turn(self.record)
        self.mailbox.post(TurnChanged(turn=self.record))

    def update_program(self, program: ProgramRecord, **changes: Any) -> None:
        """Add or change a program, and fields of the record with it."""
        self.store.save_program(program)
        known = self.record.programs
        programs = (*known[: program.index - 1], program, *known[program.index :])
        self.update(programs=programs, **changes)

    def tell(self, message: str, hint: str) -> None:
        """Tell the person something beside the record."""
        self.mailbox.post(Notice(severity="caution", message=message, hint=hint))

    def step(self, step: Step, **data: str | int | None) -> None:
        """Append a step to the turn's journal."""
        self._journal.add(self.record.turn_id, step, **data)
