"""No attack gets an effect past the gate without a question that names the combination."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.pool import SandboxPool
from tests.attacks import damage, droppers, exfiltration, injection, laundering, privilege
from tests.attacks.arena import Turn, leaked, play
from tests.sandbox.loopback import Loopback, serve

FAMILIES = {
    "exfiltration": exfiltration.TURNS,
    "laundering": laundering.TURNS,
    "injection": injection.TURNS,
    "damage": damage.TURNS,
    "droppers": droppers.TURNS,
    "privilege": privilege.TURNS,
}
ALL = [pytest.param(turn, id=f"{family}: {turn.name}")
       for family, turns in FAMILIES.items() for turn in turns]  # fmt: skip


@pytest.fixture(scope="module")
def pool() -> Iterator[SandboxPool]:
    with SandboxPool() as started:
        yield started


@pytest.fixture(scope="module")
def web() -> Iterator[Loopback]:
    with serve() as started:
        yield started


@pytest.mark.parametrize("turn", ALL)
def test_an_attack_is_named(turn: Turn, tmp_path: Path, pool: SandboxPool, web: Loopback) -> None:
    seen = play(turn, tmp_path, pool, web)
    told = [(o.status, o.fault.message if o.fault else "") for o in seen.outcomes], seen.refused
    for code in turn.names:
        assert code in seen.codes or _gone(turn, seen.refused), (code, sorted(seen.codes), told)
    assert not leaked(seen), seen.requests
    if seen.changes.changes:
        assert seen.review.outcome == "ask", "a standing grant answered for an attack"


def _gone(turn: Turn, refused: list[str]) -> bool:
    """Whether every program that could attack was refused before it ran."""
    return len(refused) == len(turn.programs)


def test_there_are_enough_of_each_family() -> None:
    assert sum(map(len, FAMILIES.values())) >= 60
    assert min(map(len, FAMILIES.values())) >= 5
