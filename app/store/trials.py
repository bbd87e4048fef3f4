"""Trials of the lab in the store: one row a trial, written once, and the runs that they belong to.

A trial is known by its run, model, mode, task and seed, so that a run that goes on after a crash
repeats none. Thread: engine.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, get_args

from app.errors import NotFoundError
from app.store.codec import clean, dump

if TYPE_CHECKING:
    from app.store.database import Tables

Capability = Literal[
    "files",
    "tables",
    "text",
    "logs",
    "dates",
    "documents",
    "steps",
    "tools",
    "context",
    "safety",
    "shell",
]
CAPABILITIES: tuple[Capability, ...] = get_args(Capability)
"""In the order in which they are shown."""
Mode = Literal["code", "tools", "naive"]
Origin = Literal["here", "published"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRecord:
    """One task, done once by one model.

    `reward`: 1.0 when the verifier says it is right; `reason`: why not; `broken`: the trial ended
    by a fault that is not the model's, and counts for nothing; `programs`, `valid`: programs
    written, and those of them that ran to their end; `asked`: how often a person would have been
    asked; `violations`: what the program did that it must not; tokens, seconds and joules as
    measured, None where unknown; `money`: decimal US dollars as text, None: unknown; `trajectory`:
    the file with everything, relative to the lab's folder.
    """

    run_id: str
    suite: str
    task: str
    capability: str
    difficulty: str
    model_id: str
    mode: Mode
    seed: int
    reward: float
    reason: str = ""
    broken: bool = False
    error_type: str = ""
    programs: int = 0
    valid: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    money: str | None = None
    first_token_s: float | None = None
    seconds: float = 0.0
    energy_j: float | None = None
    asked: int = 0
    violations: int = 0
    trajectory: str = ""
    machine: str = ""
    version: str = ""
    at: str = ""
    origin: Origin = "here"

    @property
    def key(self) -> tuple[str, str, str, int]:
        """What a run does not do twice."""
        return (self.model_id, self.mode, self.task, self.seed)

    @property
    def passed(self) -> bool:
        """Whether the task was done right."""
        return self.reward >= 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LabRun:
    """One run of the lab. `plan` is its plan as JSON; `status`: running, paused, stopped, done; a
    run that is called running may have been killed, see `app.lab.lock`.
    """

    run_id: str
    suite: str
    plan: dict[str, Any]
    status: str
    started: datetime


class TrialStore:
    """All reading and writing of lab runs and trials."""

    def __init__(self, tables: Tables) -> None:
        self._db = tables

    def add_run(self, run_id: str, suite: str, plan: dict[str, Any]) -> LabRun:
        """Record a run that begins."""
        started = datetime.now(UTC)
        row = {
            "id": run_id,
            "suite": suite,
            "plan": dump(plan),
            "status": "running",
            "started": started.isoformat(),
        }
        self._db.insert("lab_runs", row)
        return LabRun(run_id=run_id, suite=suite, plan=plan, status="running", started=started)

    def set_status(self, run_id: str, status: str) -> None:
        """Say how a run stands."""
        self._db.update("lab_runs", run_id, {"status": status})

    def run(self, run_id: str) -> LabRun:
        """A run by its id or the beginning of it. Raises: `NotFoundError`."""
        rows = self._db.rows(
            "SELECT * FROM lab_runs WHERE id = ? OR id LIKE ? ORDER BY started DESC",
            [run_id, f"{run_id.replace('%', '').replace('_', '')}%"],
        )
        if not rows or not run_id:
            raise NotFoundError(
                f"There is no lab run {run_id}.", hint="drydock eval list shows them."
            )
        return _run_from(rows[0])

    def runs(self) -> list[LabRun]:
        """All runs, newest first."""
        return [
            _run_from(row) for row in self._db.rows("SELECT * FROM lab_runs ORDER BY started DESC")
        ]

    def add(self, trial: TrialRecord) -> None:
        """Record a trial, once; one that is there stays as it is, unless it was broken."""
        row = asdict(trial)
        row["reason"], row["broken"] = clean(trial.reason), int(trial.broken)
        columns = ", ".join(row)
        marks = ", ".join("?" for _ in row)
        same = "run_id = ? AND model_id = ? AND mode = ? AND task = ? AND seed = ?"
        with self._db.atomic():
            self._db.execute(
                f"DELETE FROM trials WHERE broken = 1 AND {same}",  # noqa: S608  # own names
                [trial.run_id, *trial.key],
            )
            self._db.execute(
                f"INSERT OR IGNORE INTO trials ({columns}) VALUES ({marks})",  # noqa: S608  # own names
                list(row.values()),
            )

    def of_run(self, run_id: str) -> list[TrialRecord]:
        """The trials of a run, as they came."""
        rows = self._db.rows("SELECT * FROM trials WHERE run_id = ? ORDER BY id", [run_id])
        return [_trial_from(row) for row in rows]

    def all(self) -> list[TrialRecord]:
        """Every trial, oldest first."""
        return [_trial_from(row) for row in self._db.rows("SELECT * FROM trials ORDER BY id")]


def _run_from(row: dict[str, Any]) -> LabRun:
    return LabRun(
        run_id=row["id"],
        suite=row["suite"],
        plan=json.loads(row["plan"]),
        status=row["status"],
        started=datetime.fromisoformat(row["started"]),
    )


_NAMES = tuple(field.name for field in fields(TrialRecord))


def _trial_from(row: dict[str, Any]) -> TrialRecord:
    values = {name: row[name] for name in _NAMES}
    values["broken"] = bool(values["broken"])
    return TrialRecord(**values)
