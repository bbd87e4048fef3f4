"""Chooses the cheapest model that is good enough, local first, and says why in one line.

Good enough is what the lab measured here for the kind of task; without trials enough, a declared
class. A remote model is never chosen without the person: it is offered, on evidence, with its price
and with exactly what would leave. A refusal is no evidence, and neither a chat that is local only
nor a request that was refused is ever taken elsewhere. Pure; what it needs is handed in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

Kind = Literal[
    "tables", "text", "files", "dates", "logs", "documents", "steps", "context", "safety"
]
"""Kinds of tasks, in the lab's words for its capabilities."""

Evidence = Literal["failed_tries", "low_agreement", "loop"]
"""Why a bigger model may be offered."""

_WORDS: tuple[tuple[Kind, str], ...] = (
    ("documents", r"pdf|docx?|xlsx?|word document|excel|spreadsheet|invoices?"),
    ("logs", r"logs?|errors? in|stack ?traces?|latency|requests? per"),
    ("tables", r"csv|tsv|tables?|columns?|rows?|json|sqlite|records?|merge|totals?|sum of"),
    ("dates", r"dates?|days?|months?|years?|oldest|newest|older|newer|taken|calendar|last week"),
    ("text", r"texts?|lines?|words?|replace|headings?|markdown|spelling|paragraphs?"),
    ("files", r"files?|folders?|rename|move|sort|duplicates?|empty|type|copy|zip|archive|backup"),
)
_KINDS: tuple[tuple[Kind, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(rf"\b({words})\b", re.IGNORECASE)) for kind, words in _WORDS
)
_STEPS = re.compile(r"\b(then|after that|finally|next,|and also|afterwards)\b", re.IGNORECASE)

_LEAST_TRIALS = 4
"""Fewer say nothing about a kind; then all kinds together are looked at."""

_SMALL, _MIDDLE = 3_000_000_000, 20_000_000_000
_AGREED = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """What the lab measured of a model for a kind: `passed` of `trials`."""

    model_id: str
    kind: str
    passed: int
    trials: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A model that can be had. `price`: of a usual request, None: unknown; local ones cost none.

    `parameters` 0: unknown, as with most remote models.
    """

    model_id: str
    local: bool
    price: Decimal | None = None
    parameters: int = 0
    default: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What was decided. `line`: why, for people; `measured`: by the lab, else by class."""

    model_id: str
    line: str
    measured: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StepUp:
    """A bigger model to offer. `price` None: unknown. Nothing happens without the person."""

    model_id: str
    evidence: Evidence
    line: str
    price: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a turn with a model went. `agreement`: of several programs' effects, None: one alone.

    `refused`: the model, its provider, the gate or the person said no.
    """

    model_id: str
    succeeded: bool
    tries: int
    most_tries: int
    looped: bool = False
    agreement: float | None = None
    refused: bool = False


def kind_of(request: str) -> Kind:
    """The kind of task that a request most likely is."""
    if _STEPS.search(request):
        return "steps"
    counts: list[tuple[int, Kind]] = [
        (len(pattern.findall(request)), kind) for kind, pattern in _KINDS
    ]
    most, kind = max(counts, key=lambda one: one[0])
    return kind if most else "files"


def choose(
    request: str,
    candidates: Sequence[Candidate],
    rates: Iterable[Rate],
    *,
    good_enough: float,
) -> Choice | None:
    """The local model to begin with; None: there is none on this machine.

    The smallest that was measured to be good enough for this kind of task, else the best measured,
    else the default one.
    """
    local = [one for one in candidates if one.local]
    if not local:
        return None
    kind = kind_of(request)
    known = list(rates)
    measured = {one.model_id: _share(known, one.model_id, kind) for one in local}
    fit = [one for one in local if (measured[one.model_id] or 0.0) >= good_enough]
    if fit:
        best = min(fit, key=lambda one: (one.parameters, one.model_id))
        share = measured[best.model_id] or 0.0
        line = f"the smallest that did enough of {kind} here: {share:.0%}"
        return Choice(model_id=best.model_id, line=line, measured=True)
    tried = [one for one in local if measured[one.model_id] is not None]
    if tried:
        best = max(tried, key=lambda one: measured[one.model_id] or 0.0)
        share = measured[best.model_id] or 0.0
        line = f"none did enough of {kind} here; this one did most: {share:.0%}"
        return Choice(model_id=best.model_id, line=line, measured=True)
    best = max(local, key=lambda one: (one.default, one.parameters))
    line = f"not measured here yet for {kind}; {class_of(best)} model on this machine"
    return Choice(model_id=best.model_id, line=line, measured=False)


def offer(
    outcome: Outcome,
    request: str,
    candidates: Sequence[Candidate],
    rates: Iterable[Rate],
    *,
    good_enough: float,
    local_only: bool,
) -> StepUp | None:
    """A bigger model to offer after a turn, or None.

    None over a refusal; only local ones where the chat is local only. The cheapest that is good
    enough; of those that nobody measured, the cheapest of a larger class. A model of unknown price
    comes last.
    """
    evidence = evidence_of(outcome)
    if evidence is None:
        return None
    kind = kind_of(request)
    known = list(rates)
    now = next((one for one in candidates if one.model_id == outcome.model_id), None)
    bar = _share(known, outcome.model_id, kind) or 0.0
    better = [
        one
        for one in candidates
        if one.model_id != outcome.model_id
        and (one.local or not local_only)
        and _is_better(one, now, _share(known, one.model_id, kind), max(bar, good_enough))
    ]
    if not better:
        return None
    best = min(better, key=_dearness)
    share = _share(known, best.model_id, kind)
    if share is not None:
        why = f"it did {share:.0%} of {kind} here"
    else:
        why = f"it is {class_of(best)} model, not measured here"
    line = f"{_WHY[evidence]}; {why}"
    price = Decimal(0) if best.local else best.price
    return StepUp(model_id=best.model_id, evidence=evidence, line=line, price=price)


_WHY: dict[Evidence, str] = {
    "failed_tries": "All tries failed",
    "low_agreement": "Several programs did not agree",
    "loop": "The reply went round in circles",
}


def evidence_of(outcome: Outcome) -> Evidence | None:
    """What speaks for a bigger model; a refusal speaks for none."""
    if outcome.refused:
        return None
    if outcome.looped:
        return "loop"
    if not outcome.succeeded and outcome.tries >= outcome.most_tries:
        return "failed_tries"
    if outcome.agreement is not None and outcome.agreement < _AGREED:
        return "low_agreement"
    return None


def class_of(candidate: Candidate) -> str:
    """The declared class of a model, in words."""
    if not candidate.local and not candidate.parameters:
        return "a large"
    if candidate.parameters < _SMALL:
        return "a small"
    return "a middling" if candidate.parameters < _MIDDLE else "a large"


def _rank(candidate: Candidate) -> int:
    return {"a small": 0, "a middling": 1, "a large": 2}[class_of(candidate)]


def _is_better(
    candidate: Candidate, now: Candidate | None, share: float | None, bar: float
) -> bool:
    if share is not None:
        return share >= bar
    return now is None or _rank(candidate) > _rank(now) or candidate.parameters > now.parameters > 0


def _dearness(candidate: Candidate) -> tuple[bool, Decimal, int, str]:
    """Local first, then by price; unknown prices last."""
    price = Decimal(0) if candidate.local else candidate.price
    known = Decimal("Infinity") if price is None else price
    return (not candidate.local, known, candidate.parameters, candidate.model_id)


def _share(rates: Sequence[Rate], model_id: str, kind: str) -> float | None:
    """The measured share for a kind, or over all kinds where too few are of this one."""
    own = [rate for rate in rates if rate.model_id == model_id]
    for found in ([rate for rate in own if rate.kind == kind], own):
        trials = sum(rate.trials for rate in found)
        if trials >= _LEAST_TRIALS:
            return sum(rate.passed for rate in found) / trials
    return None
