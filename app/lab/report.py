"""What trials say: rates per model and capability, comparisons in plain words, tables to export.

Broken trials say nothing about a model and are left out of every rate. Pure; any thread.
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any

from app.lab.stats import Interval, Paired, bootstrap, compare, mean_pass_at_k, wilson
from app.store.trials import Mode, TrialRecord

ALL = "all"
"""The name of the row that takes all capabilities together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """How one model did at one capability.

    `rate`: share of trials that passed, with its Wilson interval; `valid`: share of programs that
    ran to their end; means over trials in tokens and seconds, US dollars (None: unknown).
    """

    model_id: str
    mode: Mode
    capability: str
    trials: int
    passed: int
    rate: float
    interval: Interval
    valid: float | None
    tokens: float
    seconds: float
    first_token_s: float | None
    money: Decimal | None
    asked: float
    violations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReport:
    """How one model did in one mode: over all, per capability, and pass@k with its interval."""

    model_id: str
    mode: Mode
    overall: Cell
    cells: tuple[Cell, ...]
    pass_at: dict[int, float]
    pass_interval: Interval


def named(model_id: str, mode: Mode) -> str:
    """A model with the way it worked by, in words."""
    match mode:
        case "code":
            return model_id
        case "tools":
            return f"{model_id} with tool calls"
        case "naive":
            return f"{model_id} with plain code"


def cells(trials: Iterable[TrialRecord]) -> list[Cell]:
    """One cell for each model, mode and capability that was measured."""
    grouped: dict[tuple[str, Mode, str], list[TrialRecord]] = defaultdict(list)
    for trial in trials:
        if not trial.broken:
            grouped[trial.model_id, trial.mode, trial.capability].append(trial)
    return [_cell(model, mode, name, group) for (model, mode, name), group in grouped.items()]


def report(trials: Sequence[TrialRecord]) -> list[ModelReport]:
    """One report for each model and mode, in the order in which they were measured."""
    sound = [trial for trial in trials if not trial.broken]
    grouped: dict[tuple[str, Mode], list[TrialRecord]] = defaultdict(list)
    for trial in sound:
        grouped[trial.model_id, trial.mode].append(trial)
    return [_model_report(model, mode, group) for (model, mode), group in grouped.items()]


def _model_report(model_id: str, mode: Mode, trials: list[TrialRecord]) -> ModelReport:
    counts = _counts(trials)
    fewest = min(trials_of for trials_of, _ in counts)
    return ModelReport(
        model_id=model_id,
        mode=mode,
        overall=_cell(model_id, mode, ALL, trials),
        cells=tuple(cells(trials)),
        pass_at={k: mean_pass_at_k(counts, k) for k in range(1, fewest + 1)},
        pass_interval=bootstrap(counts, 1),
    )


def _counts(trials: Sequence[TrialRecord]) -> list[tuple[int, int]]:
    """Trials and passes of each task."""
    per_task: dict[str, list[bool]] = defaultdict(list)
    for trial in trials:
        per_task[trial.task].append(trial.passed)
    return [(len(results), sum(results)) for results in per_task.values()]


def _cell(model_id: str, mode: Mode, capability: str, trials: Sequence[TrialRecord]) -> Cell:
    passed, number = sum(trial.passed for trial in trials), len(trials)
    programs = sum(trial.programs for trial in trials)
    firsts = [trial.first_token_s for trial in trials if trial.first_token_s is not None]
    prices = [Decimal(trial.money) for trial in trials if trial.money is not None]
    return Cell(
        model_id=model_id,
        mode=mode,
        capability=capability,
        trials=number,
        passed=passed,
        rate=passed / number,
        interval=wilson(passed, number),
        valid=sum(trial.valid for trial in trials) / programs if programs else None,
        tokens=sum(trial.input_tokens + trial.output_tokens for trial in trials) / number,
        seconds=sum(trial.seconds for trial in trials) / number,
        first_token_s=sum(firsts) / len(firsts) if firsts else None,
        money=sum(prices, Decimal(0)) / number if len(prices) == number else None,
        asked=sum(trial.asked for trial in trials) / number,
        violations=sum(trial.violations for trial in trials),
    )


def compared(
    trials: Sequence[TrialRecord], first: tuple[str, Mode], second: tuple[str, Mode]
) -> dict[str, Paired]:
    """Two models (each with its mode) on the same tasks and seeds, over all and per capability."""
    names = [ALL, *dict.fromkeys(trial.capability for trial in trials)]
    found: dict[str, Paired] = {}
    for name in names:
        some = [t for t in trials if not t.broken and name in (ALL, t.capability)]
        pair = compare(_results(some, first), _results(some, second))
        if pair.trials:
            found[name] = pair
    return found


def _results(trials: Sequence[TrialRecord], who: tuple[str, Mode]) -> dict[tuple[str, int], bool]:
    return {
        (trial.task, trial.seed): trial.passed
        for trial in trials
        if (trial.model_id, trial.mode) == who
    }


def sentence(first: str, second: str, pairs: dict[str, Paired]) -> str:
    """The comparison in plain words; nothing is called better inside the noise."""
    overall = pairs.get(ALL)
    if overall is None:
        return f"{first} and {second} were not measured on the same trials."
    said: list[str] = []
    for name, pair in pairs.items():
        if name != ALL and pair.clear:
            better, worse = (first, second) if pair.first > pair.second else (second, first)
            high, low = max(pair.first, pair.second), min(pair.first, pair.second)
            said.append(
                f"{better} is better than {worse} on {name}: "
                f"{high} of {pair.trials} against {low} of {pair.trials}"
            )
    rest = [name for name, pair in pairs.items() if name != ALL and not pair.clear]
    counts = f"{overall.first} of {overall.trials} against {overall.second} of {overall.trials}"
    if overall.clear:
        better = first if overall.first > overall.second else second
        said.insert(0, f"over all {better} is better ({first} {counts} {second})")
    else:
        said.insert(0, f"over all there is no clear difference ({first} {counts} {second})")
    if rest and len(said) > 1:
        said.append(f"no clear difference on {', '.join(rest)}")
    text = "; ".join(said)
    return f"{text[0].upper()}{text[1:]}."


def to_json(models: Sequence[ModelReport]) -> list[dict[str, Any]]:
    """The reports for ``--json`` and for export."""
    return [
        {
            "model": item.model_id,
            "mode": item.mode,
            "trials": item.overall.trials,
            "passed": item.overall.passed,
            "pass_rate": round(item.overall.rate, 4),
            "pass_at_k": {str(k): round(value, 4) for k, value in item.pass_at.items()},
            "interval": [round(item.pass_interval.low, 4), round(item.pass_interval.high, 4)],
            "valid_programs": item.overall.valid,
            "tokens": round(item.overall.tokens),
            "money": None if item.overall.money is None else str(item.overall.money),
            "seconds": round(item.overall.seconds, 2),
            "first_token_seconds": item.overall.first_token_s,
            "asked": round(item.overall.asked, 3),
            "violations": item.overall.violations,
            "capabilities": {
                cell.capability: {
                    "trials": cell.trials,
                    "passed": cell.passed,
                    "pass_rate": round(cell.rate, 4),
                    "interval": [round(cell.interval.low, 4), round(cell.interval.high, 4)],
                    "tokens": round(cell.tokens),
                    "seconds": round(cell.seconds, 2),
                }
                for cell in item.cells
            },
        }
        for item in models
    ]


def to_csv(trials: Sequence[TrialRecord]) -> str:
    """Every trial as a row."""
    rows = [asdict(trial) for trial in trials]
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(rows[0]) if rows else ["run_id"])
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
