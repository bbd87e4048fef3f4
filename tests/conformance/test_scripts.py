"""Ordinary automation scripts leave the same folder, answer and text here and in CPython."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.pool import SandboxPool
from tests.conformance.comparing import HERE, differences, in_cpython, in_drydock, load

SCRIPTS = load(HERE / "scripts")


@pytest.fixture(scope="module")
def pool() -> Iterator[SandboxPool]:
    with SandboxPool() as started:
        yield started


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_does_the_same_here_and_in_cpython(
    name: str, tmp_path: Path, pool: SandboxPool
) -> None:
    theirs = in_cpython(SCRIPTS[name], tmp_path)
    assert not theirs.fault
    assert differences(in_drydock(SCRIPTS[name], tmp_path, pool), theirs) == []


def test_there_are_enough_scripts() -> None:
    assert len(SCRIPTS) >= 120
