"""How fast each local model was measured to be on this machine; the latest probe counts.

Thread: engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.store.database import Tables


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeRecord:
    """A measurement: seconds, and tokens a second of generation. `machine`: which one it was."""

    model_id: str
    tokens_per_s: float
    first_token_s: float
    load_s: float
    threads: int
    machine: str
    at: datetime


class ProbeStore:
    """Reads and writes measurements."""

    def __init__(self, tables: Tables) -> None:
        self._db = tables

    def of_machine(self, machine: str) -> dict[str, ProbeRecord]:
        """The latest measurement of each model on `machine`, by the model's id."""
        rows = self._db.rows("SELECT * FROM probes WHERE machine = ?", [machine])
        return {
            row["id"]: ProbeRecord(
                model_id=row["id"],
                tokens_per_s=row["tokens_per_s"],
                first_token_s=row["first_token_s"],
                load_s=row["load_s"],
                threads=row["threads"],
                machine=row["machine"],
                at=datetime.fromisoformat(row["at"]),
            )
            for row in rows
        }

    def put(
        self,
        model_id: str,
        *,
        tokens_per_s: float,
        first_token_s: float,
        load_s: float,
        threads: int,
        machine: str,
    ) -> None:
        """Keep a measurement instead of the former one."""
        self._db.upsert(
            "probes",
            {
                "id": model_id,
                "tokens_per_s": tokens_per_s,
                "first_token_s": first_token_s,
                "load_s": load_s,
                "threads": threads,
                "machine": machine,
                "at": datetime.now(UTC).isoformat(),
            },
        )

    def remove(self, model_id: str) -> None:
        """Forget a model's measurement."""
        self._db.delete("probes", model_id)
