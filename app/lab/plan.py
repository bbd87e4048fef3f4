"""What a lab run is to do, and how far it has come. Pure data and arithmetic; any thread."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from itertools import product
from typing import Any

from app.lab.suite import Suite, Task
from app.store.trials import Mode, TrialRecord

ORACLE, NOTHING = "oracle", "nothing"
"""Stand-ins for a model: the task's own solution, and no program at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Where a run stops before the next trial; None: without bound. Tokens in and out together."""

    tokens: int | None = None
    money: Decimal | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LabPlan:
    """A run: these tasks, each `trials` times on each model. `suite`: its name or path.

    Trial number t of a task has the seed `seed` + t, the same for every model and every way of
    working (`modes`).
    """

    suite: str
    models: tuple[str, ...]
    tasks: tuple[str, ...] = ()
    modes: tuple[Mode, ...] = ("code",)
    trials: int = 3
    seed: int = 1
    budget: Budget = Budget()

    def to_json(self) -> dict[str, Any]:
        """For the store."""
        data = asdict(self)
        money = self.budget.money
        data["budget"]["money"] = None if money is None else str(money)
        return data


def plan_from(data: Mapping[str, Any]) -> LabPlan:
    """A plan out of the store."""
    budget = dict(data["budget"])
    money = budget.pop("money")
    return LabPlan(
        suite=data["suite"],
        models=tuple(data["models"]),
        tasks=tuple(data["tasks"]),
        modes=tuple(data.get("modes") or [data["mode"]]),
        trials=data["trials"],
        seed=data["seed"],
        budget=Budget(**budget, money=None if money is None else Decimal(money)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A trial that is to be done."""

    task: Task
    model_id: str
    mode: Mode
    seed: int

    @property
    def key(self) -> tuple[str, str, str, int]:
        """As `TrialRecord.key`."""
        return (self.model_id, self.mode, self.task.name, self.seed)


def slots(plan: LabPlan, suite: Suite, done: Collection[tuple[str, str, str, int]]) -> list[Slot]:
    """The trials that are left, one model after the other, so that models are not switched."""
    return [slot for slot in _all(plan, suite) if slot.key not in done]


def _all(plan: LabPlan, suite: Suite) -> Iterator[Slot]:
    for model_id, mode in product(plan.models, plan.modes):
        for number in range(plan.trials):
            for task in suite.tasks:
                yield Slot(task=task, model_id=model_id, mode=mode, seed=plan.seed + number)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a run has cost so far. `money` None: at least one part of it is unknown."""

    tokens: int
    money: Decimal | None
    seconds: float


def spent(trials: Sequence[TrialRecord]) -> Spent:
    """Add up."""
    sums = [Decimal(trial.money) for trial in trials if trial.money is not None]
    known = all(trial.money is not None for trial in trials if trial.output_tokens)
    return Spent(
        tokens=sum(trial.input_tokens + trial.output_tokens for trial in trials),
        money=sum(sums, Decimal(0)) if known else None,
        seconds=sum(trial.seconds for trial in trials),
    )


def exhausted(budget: Budget, so_far: Spent) -> str:
    """Which budget is used up, in words; empty when none is.

    With a budget of money, a cost that is unknown counts as used up: nobody could say.
    """
    if budget.tokens is not None and so_far.tokens >= budget.tokens:
        return f"the budget of {budget.tokens:,} tokens is used up"
    if budget.seconds is not None and so_far.seconds >= budget.seconds:
        return f"the budget of {budget.seconds:g} s is used up"
    if budget.money is not None:
        if so_far.money is None:
            return "the price of a model is unknown, so the budget of money cannot be kept"
        if so_far.money >= budget.money:
            return f"the budget of {budget.money} USD is used up"
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a run is. `seconds_left` None while no trial has been done to judge by."""

    done: int
    total: int
    passed: int
    seconds_left: float | None
    latest: TrialRecord | None = None


def progress(
    trials: Sequence[TrialRecord], left: Sequence[Slot], latest: TrialRecord | None
) -> Progress:
    """From what is done and what is left; each model's trials take as long as its own did."""
    return Progress(
        done=len(trials),
        total=len(trials) + len(left),
        passed=sum(trial.passed for trial in trials),
        seconds_left=_seconds_left(trials, left),
        latest=latest,
    )


def _seconds_left(trials: Sequence[TrialRecord], left: Sequence[Slot]) -> float | None:
    if not trials:
        return None
    overall = sum(trial.seconds for trial in trials) / len(trials)
    own: dict[tuple[str, Mode], list[float]] = {}
    for trial in trials:
        own.setdefault((trial.model_id, trial.mode), []).append(trial.seconds)
    means = {who: sum(times) / len(times) for who, times in own.items()}
    return sum(means.get((slot.model_id, slot.mode), overall) for slot in left)
