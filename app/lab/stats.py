"""The statistics of the lab: rates with their intervals, pass@k, and paired comparison.

Nothing here knows models or tasks. Sources: E. B. Wilson, "Probable inference, the law of
succession, and statistical inference" (1927); M. Chen et al., "Evaluating Large Language Models
Trained on Code" (2021), section 2.1, for pass@k; Q. McNemar, "Note on the sampling error of the
difference between correlated proportions" (1947), in its exact form. Thread: any.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

_Z95 = 1.959963984540054  # the 97.5 % point of the normal distribution
_RESAMPLES = 2_000
CLEAR = 0.05
"""A difference is called one only when chance makes as large a one in less than this share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A 95 % interval, both ends within 0 and 1."""

    low: float
    high: float


def wilson(passed: int, trials: int) -> Interval:
    """The Wilson interval of a rate. No trial: everything is possible."""
    if trials == 0:
        return Interval(low=0.0, high=1.0)
    rate, z2 = passed / trials, _Z95**2
    scale = 1 + z2 / trials
    middle = (rate + z2 / (2 * trials)) / scale
    half = _Z95 * math.sqrt(rate * (1 - rate) / trials + z2 / (4 * trials**2)) / scale
    return Interval(low=max(0.0, middle - half), high=min(1.0, middle + half))


def pass_at_k(trials: int, passed: int, k: int) -> float:
    """The chance that at least one of `k` tries passes, without bias, from `trials` tries.

    Raises: `ValueError` when `k` is larger than `trials`.
    """
    if not 0 < k <= trials:
        raise ValueError(f"pass@{k} cannot be told from {trials} trials")
    if trials - passed < k:
        return 1.0
    return 1.0 - math.comb(trials - passed, k) / math.comb(trials, k)


def mean_pass_at_k(counts: Sequence[tuple[int, int]], k: int) -> float:
    """The mean of pass@k over tasks, each as (trials, passed), with at least `k` trials."""
    return sum(pass_at_k(trials, passed, k) for trials, passed in counts) / len(counts)


def bootstrap(counts: Sequence[tuple[int, int]], k: int, *, seed: int = 0) -> Interval:
    """The 95 % interval of `mean_pass_at_k`, by drawing tasks anew; the same for the same seed.

    Where all tasks came out alike, drawing says nothing, and Wilson's interval over the tasks is
    taken.
    """
    random = Random(seed)  # noqa: S311  # no secret
    values = [pass_at_k(trials, passed, k) for trials, passed in counts]
    if len(set(values)) == 1:
        return wilson(round(values[0] * len(values)), len(values))
    size = len(values)
    means = sorted(sum(random.choices(values, k=size)) / size for _ in range(_RESAMPLES))
    return Interval(low=means[int(0.025 * _RESAMPLES)], high=means[int(0.975 * _RESAMPLES) - 1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """Two models on the same tasks and seeds.

    `only_first`, `only_second`: trials that just one of them passed; `chance`: how often such a
    difference comes about when both are alike.
    """

    trials: int
    first: int
    second: int
    only_first: int
    only_second: int
    chance: float

    @property
    def clear(self) -> bool:
        """Whether one of them is better beyond the noise."""
        return self.chance < CLEAR


def compare(
    first: Mapping[tuple[str, int], bool], second: Mapping[tuple[str, int], bool]
) -> Paired:
    """Compare over the trials, by task and seed, that both have."""
    shared = first.keys() & second.keys()
    one = sum(first[key] and not second[key] for key in shared)
    two = sum(second[key] and not first[key] for key in shared)
    return Paired(
        trials=len(shared),
        first=sum(first[key] for key in shared),
        second=sum(second[key] for key in shared),
        only_first=one,
        only_second=two,
        chance=_sign_test(one, two),
    )


def _sign_test(one: int, two: int) -> float:
    """The exact two-sided chance of a split at least this uneven."""
    total = one + two
    tail = sum(math.comb(total, i) for i in range(min(one, two) + 1))
    return min(1.0, 2 * tail / 2**total)
