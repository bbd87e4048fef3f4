"""Everyday programs: those that read ask nothing, the rest at most once; nothing is marked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.pool import SandboxPool
from tests.attacks.arena import Turn, play
from tests.benign.everyday import TURNS
from tests.sandbox.loopback import Loopback, serve

_MARKED: list[str] = []
_PLAYED: list[str] = []


@pytest.fixture(scope="module")
def pool() -> Iterator[SandboxPool]:
    with SandboxPool() as started:
        yield started


@pytest.fixture(scope="module")
def web() -> Iterator[Loopback]:
    with serve() as started:
        yield started


@pytest.mark.parametrize("turn", TURNS, ids=lambda turn: turn.name)
def test_an_everyday_program_is_left_alone(
    turn: Turn, tmp_path: Path, pool: SandboxPool, web: Loopback
) -> None:
    seen = play(turn, tmp_path, pool, web)
    assert [o.fault for o in seen.outcomes if o.fault is not None] == []
    assert not seen.refused
    assert seen.verdicts == [], "a call was asked about"
    if turn.read_only:
        assert not seen.changes.changes
        assert seen.asked == 0
    else:
        assert seen.changes.changes
        assert seen.asked == (0 if turn.standing else 1)
    _PLAYED.append(turn.name)
    if seen.reasons:
        _MARKED.append(f"{turn.name}: {[one.code for one in seen.reasons]}")


def test_at_most_one_in_twenty_is_marked() -> None:
    assert len(_MARKED) <= 0.05 * max(len(_PLAYED), 1), _MARKED


def test_there_are_enough() -> None:
    assert len(TURNS) >= 60
