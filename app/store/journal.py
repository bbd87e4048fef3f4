"""The append-only record of a turn: one row a step, never changed.

Thread: engine. It is what `runs show` and a resumed turn read back.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from app.store.codec import dump
from app.store.database import Tables

Step = Literal[
    "started",
    "replied",
    "program-started",
    "program-ended",
    "asked",
    "answered",
    "review",
    "granted",
    "decided",
    "committed",
    "undone",
    "redone",
    "undo-dropped",
    "stopped",
    "failed",
    "interrupted",
    "resumed",
    "secret-used",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One step of a turn. `at` in UTC; `data` is small and holds ids and counts, no contents."""

    at: datetime
    step: Step
    data: dict[str, Any]


class TurnJournal:
    """Appends and reads the steps of turns."""

    def __init__(self, tables: Tables) -> None:
        self._db = tables

    def add(self, turn_id: str, step: Step, **data: str | int | float | bool | None) -> None:
        """Append a step."""
        self._db.insert(
            "journal",
            {
                "turn_id": turn_id,
                "at": datetime.now(UTC).isoformat(),
                "step": step,
                "data": dump(data),
            },
        )

    def entries(self, turn_id: str) -> list[Entry]:
        """All steps of a turn, in order."""
        rows = self._db.rows("SELECT * FROM journal WHERE turn_id = ? ORDER BY id", [turn_id])
        return [
            Entry(
                at=datetime.fromisoformat(row["at"]), step=row["step"], data=json.loads(row["data"])
            )
            for row in rows
        ]
