"""Which of several programs for one request counts: their effects vote.

Owns what counts as the same outcome, when a vote is decided, and how much agreement is worth.
It knows neither programs nor models, only what came of them: the changes as text, and the answer.
Pure; any thread.

| ballots                                   | winner                    | decided          |
| ----------------------------------------- | ------------------------- | ---------------- |
| none                                      | none                      | no               |
| one, of one wanted                        | it                        | yes              |
| two that agree                            | the first of them         | yes              |
| all different                             | the first                 | when all are in  |
| a majority that the rest cannot overtake  | the first of the majority | yes              |
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)*")
_WORD = re.compile(r"[^\W\d_]+|\d+(?:[.,]\d+)*")
_ENOUGH = 2
"""So many that agree decide, unless others agree on something else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ballot:
    """What came of one program.

    `effects`: one text for each change, with the content's hash where there is new content;
    `answer`: what it said. Where there are effects, the words of the answer do not count: each
    program reports in its own.
    """

    effects: frozenset[str]
    answer: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Election:
    """`winner`: index of the ballot that counts; `agreeing`: how many say the same as it;
    `runner_up`: index of the first ballot of the next largest group, None when all agree."""

    winner: int
    agreeing: int
    ballots: int
    runner_up: int | None = None

    @property
    def confidence(self) -> float:
        """How likely the winner is right, as far as agreement tells: never 0, never 1.

        The rule of succession over the ballots: with one ballot 0.67, with two that agree 0.75.
        """
        return (self.agreeing + 1) / (self.ballots + 2)


def ballot_of(effects: Iterable[str], answer: str) -> Ballot:
    """A ballot with an answer in its plain form: order, case, signs and number formats aside."""
    return Ballot(effects=frozenset(effects), answer=plain_answer(answer))


def plain_answer(answer: str) -> str:
    """What an answer says: its numbers and names, sorted, when it has any; else its words."""
    numbers = {_plain_number(text) for text in _NUMBER.findall(answer)}
    found = re.findall(r"[\w-]+(?:\.[\w-]+)*\.\w{1,5}\b", answer.lower())
    names = {name for name in found if not _NUMBER.fullmatch(name)}
    if names:
        return " ".join(sorted(names))
    if numbers:
        return " ".join(sorted(numbers))
    return " ".join(sorted({word.lower() for word in _WORD.findall(answer)}))


def same(first: Ballot, second: Ballot) -> bool:
    """Whether two programs came to the same."""
    if first.effects or second.effects:
        return first.effects == second.effects
    return first.answer == second.answer


def elect(ballots: Sequence[Ballot]) -> Election | None:
    """The winner of what is in; of equal groups the earlier. None: no ballot."""
    groups: list[list[int]] = []
    for index, ballot in enumerate(ballots):
        group = next((group for group in groups if same(ballots[group[0]], ballot)), None)
        if group is None:
            groups.append([index])
        else:
            group.append(index)
    if not groups:
        return None
    ranked = sorted(groups, key=lambda group: (-len(group), group[0]))
    return Election(
        winner=ranked[0][0],
        agreeing=len(ranked[0]),
        ballots=len(ballots),
        runner_up=ranked[1][0] if len(ranked) > 1 else None,
    )


def decided(ballots: Sequence[Ballot], wanted: int) -> bool:
    """Whether more ballots, up to `wanted`, cannot or need not change the winner."""
    election = elect(ballots)
    if election is None:
        return False
    left = wanted - len(ballots)
    if left <= 0:
        return True
    others = [ballot for ballot in ballots if not same(ballot, ballots[election.winner])]
    second = elect(others)
    behind = second.agreeing if second is not None else 0
    if election.agreeing > behind + left:
        return True
    return election.agreeing >= _ENOUGH and behind < _ENOUGH


def _plain_number(text: str) -> str:
    """A number without thousands separators and trailing zeros; two decimals are enough."""
    plain = text.replace(",", "")
    try:
        return f"{float(plain):.2f}".rstrip("0").rstrip(".")
    except ValueError:
        return text
