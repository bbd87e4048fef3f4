"""Rates, intervals, pass@k and comparisons against values worked out elsewhere."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.lab.stats import bootstrap, compare, mean_pass_at_k, pass_at_k, wilson


def test_wilsons_interval_is_that_of_the_textbook() -> None:
    # R: binom.confint(8, 10, methods="wilson") gives 0.4901625 and 0.9433178
    interval = wilson(8, 10)
    assert interval.low == pytest.approx(0.4901625, abs=1e-6)
    assert interval.high == pytest.approx(0.9433178, abs=1e-6)


def test_no_trial_leaves_everything_possible() -> None:
    assert (wilson(0, 0).low, wilson(0, 0).high) == (0.0, 1.0)


@given(st.integers(1, 8).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))), st.data())
def test_pass_at_k_is_the_share_of_draws_with_a_pass(
    counts: tuple[int, int], data: st.DataObject
) -> None:
    trials, passed = counts
    k = data.draw(st.integers(1, trials))
    results = [True] * passed + [False] * (trials - passed)
    draws = list(itertools.combinations(results, k))
    assert pass_at_k(trials, passed, k) == pytest.approx(sum(map(any, draws)) / len(draws))


def test_pass_at_more_than_there_are_trials_is_refused() -> None:
    with pytest.raises(ValueError, match="pass@4"):
        pass_at_k(3, 1, 4)


def test_the_bootstrap_holds_the_mean_and_repeats_itself() -> None:
    counts = [(3, 0), (3, 1), (3, 3), (3, 2), (3, 3)]
    interval = bootstrap(counts, 1)
    assert interval.low < mean_pass_at_k(counts, 1) < interval.high
    assert bootstrap(counts, 1) == interval


def test_results_that_are_all_alike_still_leave_doubt() -> None:
    assert bootstrap([(1, 1)] * 5, 1).low < 0.7
    assert bootstrap([(1, 1)] * 5, 1).high == 1.0


def _results(passed: str) -> dict[tuple[str, int], bool]:
    return {(f"task{number}", 1): char == "1" for number, char in enumerate(passed)}


def test_a_difference_counts_only_beyond_the_noise() -> None:
    # 6 against 0 of the pairs that differ: 2 / 2**6 = 0.03125
    clear = compare(_results("11111100"), _results("00000000"))
    assert clear.chance == pytest.approx(0.03125)
    assert clear.clear
    # 5 against 0: 0.0625
    assert not compare(_results("11111000"), _results("00000000")).clear


def test_models_are_compared_on_what_both_did() -> None:
    pair = compare(_results("110"), {("task0", 1): False, ("other", 1): True})
    assert (pair.trials, pair.first, pair.second) == (1, 1, 0)
