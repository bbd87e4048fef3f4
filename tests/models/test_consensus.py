"""Votes over what programs came to."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.consensus import Ballot, ballot_of, decided, elect, plain_answer, same

A = ballot_of(["create a.csv 12"], "Wrote it.")
A_IN_OTHER_WORDS = ballot_of(["create a.csv 12"], "There: a.csv.")
B = ballot_of(["create b.csv 34"], "Wrote it.")
C = ballot_of([], "17")


def test_effects_decide_and_the_words_about_them_do_not() -> None:
    assert same(A, A_IN_OTHER_WORDS)
    assert not same(A, B)
    assert not same(A, ballot_of([], "Wrote it."))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("There are 17 files.", "17"),
        ("1,204.50 EUR", "1204.5"),
        ("b.txt, a.txt", "a.txt\nB.txt"),
        ("Yes, it is.", "yes it is"),
    ],
)
def test_answers_are_compared_by_what_they_say(one: str, other: str) -> None:
    assert plain_answer(one) == plain_answer(other)


@pytest.mark.parametrize(("one", "other"), [("17", "18"), ("a.txt", "b.txt"), ("yes", "no")])
def test_different_answers_stay_different(one: str, other: str) -> None:
    assert plain_answer(one) != plain_answer(other)


def test_the_larger_group_wins_and_of_equal_ones_the_earlier() -> None:
    election = elect([A, B, B])
    assert election is not None
    assert (election.winner, election.agreeing, election.runner_up) == (1, 2, 0)
    tie = elect([C, A])
    assert tie is not None
    assert (tie.winner, tie.runner_up) == (0, 1)
    assert elect([]) is None


def test_two_that_agree_are_enough() -> None:
    assert not decided([], 3)
    assert not decided([A], 3)
    assert decided([A], 1)
    assert decided([A, A_IN_OTHER_WORDS], 5)
    assert not decided([A, B], 3)
    assert decided([A, B, C], 3)
    assert not decided([A, B, A, B], 5)


def test_more_agreement_is_more_confidence() -> None:
    confidences = [elect(ballots).confidence for ballots in ([A, B, C], [A, A, B], [A, A, A])]  # type: ignore[union-attr]
    assert confidences == sorted(set(confidences))


ballots = st.lists(st.sampled_from([A, B, C]), min_size=1, max_size=7)


@settings(deadline=None, max_examples=50)
@given(ballots)
def test_nobody_has_more_votes_than_the_winner(cast: list[Ballot]) -> None:
    election = elect(cast)
    assert election is not None
    assert all(sum(same(one, other) for other in cast) <= election.agreeing for one in cast)
    assert 0 < election.confidence < 1


@settings(deadline=None, max_examples=50)
@given(ballots, ballots)
def test_a_decided_vote_stays_decided_by_majority(cast: list[Ballot], more: list[Ballot]) -> None:
    wanted = len(cast) + len(more)
    first = elect(cast)
    assert first is not None
    lead = first.agreeing - max(
        (
            sum(same(one, other) for other in cast)
            for one in cast
            if not same(one, cast[first.winner])
        ),
        default=0,
    )
    if lead > len(more):
        assert decided(cast, wanted)
        last = elect([*cast, *more])
        assert last is not None
        assert same([*cast, *more][last.winner], cast[first.winner])
