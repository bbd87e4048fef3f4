"""The router: local first, on what was measured, offers on evidence, and where it never goes."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from app.engine.router import Candidate, Outcome, Rate, choose, evidence_of, kind_of, offer

SMALL = Candidate(model_id="local:small", local=True, parameters=500_000_000, default=True)
MIDDLE = Candidate(model_id="local:middle", local=True, parameters=7_000_000_000)
CHEAP = Candidate(model_id="openai:cheap", local=False, price=Decimal("0.002"))
DEAR = Candidate(model_id="anthropic:dear", local=False, price=Decimal("0.09"))
BLIND = Candidate(model_id="compatible:here/x", local=False)
ALL = (DEAR, SMALL, BLIND, MIDDLE, CHEAP)
CSV = "Merge the CSV files into one table"
FAILED = Outcome(model_id=SMALL.model_id, succeeded=False, tries=3, most_tries=3)


def rate(candidate: Candidate, passed: int, trials: int = 10, kind: str = "tables") -> Rate:
    return Rate(model_id=candidate.model_id, kind=kind, passed=passed, trials=trials)


@pytest.mark.parametrize(
    ("request_text", "kind"),
    [
        (CSV, "tables"),
        ("Rename these files", "files"),
        ("Which PDF invoices are from March?", "documents"),
        ("Find the most frequent errors in the log", "logs"),
        ("Sort the photos by the date taken, then make a list", "steps"),
        ("Tidy up", "files"),
    ],
)
def test_the_kind_of_a_task_is_told_by_its_words(request_text: str, kind: str) -> None:
    assert kind_of(request_text) == kind


def test_it_begins_on_this_machine_even_if_others_are_better() -> None:
    rates = [rate(SMALL, 1), rate(CHEAP, 10), rate(DEAR, 10)]
    choice = choose(CSV, ALL, rates, good_enough=0.7)
    assert choice is not None
    assert choice.model_id == SMALL.model_id
    assert choose(CSV, (CHEAP, DEAR), rates, good_enough=0.7) is None


def test_the_smallest_that_is_good_enough_is_chosen_and_explained() -> None:
    choice = choose(CSV, ALL, [rate(SMALL, 8), rate(MIDDLE, 10)], good_enough=0.7)
    assert choice is not None
    assert (choice.model_id, choice.measured) == (SMALL.model_id, True)
    assert choice.line == "the smallest that did enough of tables here: 80%"
    choice = choose(CSV, ALL, [rate(SMALL, 3), rate(MIDDLE, 9)], good_enough=0.7)
    assert choice is not None
    assert choice.model_id == MIDDLE.model_id


def test_without_measurements_the_default_one_is_chosen_by_its_class() -> None:
    choice = choose(CSV, ALL, [rate(SMALL, 1, trials=2)], good_enough=0.7)
    assert choice is not None
    assert (choice.model_id, choice.measured) == (SMALL.model_id, False)
    assert "not measured" in choice.line


@pytest.mark.parametrize(
    ("outcome", "evidence"),
    [
        (FAILED, "failed_tries"),
        (replace(FAILED, tries=1), None),
        (replace(FAILED, succeeded=True), None),
        (replace(FAILED, succeeded=True, agreement=0.3), "low_agreement"),
        (replace(FAILED, succeeded=True, agreement=0.8), None),
        (replace(FAILED, tries=1, looped=True), "loop"),
        (replace(FAILED, looped=True, refused=True), None),
    ],
)
def test_what_counts_as_evidence(outcome: Outcome, evidence: str | None) -> None:
    assert evidence_of(outcome) == evidence


def offered(outcome: Outcome = FAILED, *rates: Rate, local_only: bool = False,
            among: tuple[Candidate, ...] = ALL) -> str:  # fmt: skip
    found = offer(outcome, CSV, among, rates, good_enough=0.7, local_only=local_only)
    return "" if found is None else found.model_id


def test_the_cheapest_that_is_good_enough_is_offered() -> None:
    assert offered() == MIDDLE.model_id
    assert offered(FAILED, rate(MIDDLE, 2)) == CHEAP.model_id
    assert offered(FAILED, rate(MIDDLE, 2), rate(CHEAP, 3), rate(DEAR, 9)) == DEAR.model_id
    assert offered(among=(SMALL, BLIND, DEAR)) == DEAR.model_id
    assert offered(among=(SMALL, BLIND)) == BLIND.model_id


def test_the_price_and_the_reason_are_said_and_unknown_stays_unknown() -> None:
    found = offer(FAILED, CSV, (SMALL, CHEAP), (), good_enough=0.7, local_only=False)
    assert found is not None
    assert found.price == Decimal("0.002")
    assert found.line == "All tries failed; it is a large model, not measured here"
    found = offer(FAILED, CSV, (SMALL, BLIND), (), good_enough=0.7, local_only=False)
    assert found is not None
    assert found.price is None


def test_nothing_is_offered_over_a_refusal() -> None:
    assert offered(replace(FAILED, refused=True)) == ""


def test_local_only_is_never_left() -> None:
    assert offered(local_only=True) == MIDDLE.model_id
    assert offered(local_only=True, among=(SMALL, CHEAP, DEAR, BLIND)) == ""
