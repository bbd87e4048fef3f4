"""The queue of models that are to be fetched. A row stays until the model is here or was given up.

Thread: engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from app.store.database import Tables

DownloadState = Literal["waiting", "paused", "failed"]
"""`waiting`: for its turn, or under way; a fetch that a crash cut off is waiting again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DownloadRecord:
    """One model of the queue. `problem`, `hint`: why it failed, and what to do."""

    model_id: str
    state: DownloadState
    queued: datetime
    problem: str = ""
    hint: str = ""


class DownloadStore:
    """Reads and writes the queue."""

    def __init__(self, tables: Tables) -> None:
        self._db = tables

    def all(self) -> list[DownloadRecord]:
        """The queue, first in first."""
        return [
            DownloadRecord(
                model_id=row["id"],
                state=row["state"],
                queued=datetime.fromisoformat(row["queued"]),
                problem=row["problem"],
                hint=row["hint"],
            )
            for row in self._db.rows("SELECT * FROM downloads ORDER BY queued, rowid")
        ]

    def find(self, model_id: str) -> DownloadRecord | None:
        """The row of a model, if it is in the queue."""
        return next((one for one in self.all() if one.model_id == model_id), None)

    def put(
        self, model_id: str, state: DownloadState, *, problem: str = "", hint: str = ""
    ) -> None:
        """Put a model at the end of the queue, or change it where it is."""
        former = self.find(model_id)
        queued = datetime.now(UTC) if former is None else former.queued
        self._db.upsert(
            "downloads",
            {
                "id": model_id,
                "state": state,
                "queued": queued.isoformat(),
                "problem": problem,
                "hint": hint,
            },
        )

    def remove(self, model_id: str) -> None:
        """Take a model off the queue."""
        self._db.delete("downloads", model_id)
