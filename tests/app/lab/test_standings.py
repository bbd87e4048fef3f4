"""The panel's table: the best first, the frontier, and the cheapest that is good enough."""

from __future__ import annotations

from dataclasses import replace

from app.lab.report import ALL
from app.lab.standings import cheapest, frontier, standings
from tests.app.ui import samples

GOOD, SLOW, WEAK = "local:good", "local:slow", "local:weak"
TRIALS = samples.trials({GOOD: 1.3, WEAK: 0.2, SLOW: 1.3})


def test_what_was_published_stays_apart_from_what_was_measured_here() -> None:
    published = [replace(trial, origin="published") for trial in samples.trials({GOOD: 0.1})]
    table = standings([*TRIALS, *published])
    assert [item.origin for item in table.models if item.model_id == GOOD] == ["here", "published"]


def test_the_frontier_leaves_out_what_another_beats_in_both() -> None:
    names = [item.model_id for item in frontier(standings(TRIALS).models, "seconds")]
    assert names == [GOOD]


def test_the_cheapest_is_the_quickest_that_passes() -> None:
    table = standings(TRIALS)
    found = cheapest(table, ALL)
    assert found is not None
    assert found.model_id == GOOD
    assert cheapest(standings(samples.trials({WEAK: 0.2})), ALL) is None
    assert cheapest(table, "a kind that nobody knows") is None


def test_a_remote_model_of_unknown_price_is_never_the_cheapest() -> None:
    remote = [replace(trial, model_id="openai:x", money=None) for trial in TRIALS]
    assert cheapest(standings(remote), ALL) is None
