"""What the capability panel shows: models against capabilities, their cost, and the best choices.

Made from trials alone. Pure; any thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from app.lab.report import ALL, Cell, ModelReport, report
from app.store.trials import CAPABILITIES, Mode, Origin, TrialRecord

Axis = Literal["seconds", "tokens", "money"]
GOOD_ENOUGH = 0.8
"""A model passes a kind of task when at least this share of its trials did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One model in one mode, as measured here or published by others."""

    model_id: str
    mode: Mode
    origin: Origin
    overall: Cell
    cells: dict[str, Cell]
    machine: str
    day: str

    def cost(self, axis: Axis) -> float | None:
        """The mean cost of a task; None: unknown."""
        match axis:
            case "seconds":
                return self.overall.seconds
            case "tokens":
                return self.overall.tokens
            case "money":
                return None if self.overall.money is None else float(self.overall.money)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standings:
    """All of them, the best first; `capabilities`: those that any was measured on, in order."""

    models: tuple[Standing, ...] = ()
    capabilities: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether nothing was measured yet."""
        return not self.models


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A trial with its trajectory; None when that is not on this machine."""

    trial: TrialRecord
    trajectory: dict[str, Any] | None


def standings(trials: Sequence[TrialRecord]) -> Standings:
    """From all trials; what was measured here and what was published stay apart."""
    origins: tuple[Origin, ...] = ("here", "published")
    found = [
        _standing(item, [t for t in some if (t.model_id, t.mode) == (item.model_id, item.mode)])
        for origin in origins
        for some in [[trial for trial in trials if trial.origin == origin]]
        for item in report(some)
    ]
    found.sort(key=lambda item: -item.overall.rate)
    measured = {name for item in found for name in item.cells}
    return Standings(
        models=tuple(found),
        capabilities=tuple(name for name in CAPABILITIES if name in measured),
    )


def _standing(item: ModelReport, trials: Sequence[TrialRecord]) -> Standing:
    latest = max(trials, key=lambda trial: trial.at)
    return Standing(
        model_id=item.model_id,
        mode=item.mode,
        origin=latest.origin,
        overall=item.overall,
        cells={cell.capability: cell for cell in item.cells},
        machine=latest.machine,
        day=latest.at[:10],
    )


def frontier(models: Iterable[Standing], axis: Axis) -> list[Standing]:
    """Those that no other beats at once in cost and in rate, the cheapest first."""
    known = [(cost, item) for item in models if (cost := item.cost(axis)) is not None]
    best: list[Standing] = []
    for _, item in sorted(known, key=lambda pair: (pair[0], -pair[1].overall.rate)):
        if not best or item.overall.rate > best[-1].overall.rate:
            best.append(item)
    return best


def cheapest(table: Standings, capability: str) -> Standing | None:
    """The cheapest model that passes this kind of task here; None when none is known to.

    Money decides where it is known, then seconds: a local model costs none.
    """

    def price(item: Standing) -> tuple[Decimal, float]:
        return item.overall.money or Decimal(0), item.overall.seconds

    def passes(item: Standing) -> bool:
        cell = item.overall if capability == ALL else item.cells.get(capability)
        known = item.overall.money is not None or item.model_id.startswith("local:")
        own_way = item.origin == "here" and item.mode == "code"
        return own_way and known and cell is not None and cell.rate >= GOOD_ENOUGH

    return min(filter(passes, table.models), key=price, default=None)
