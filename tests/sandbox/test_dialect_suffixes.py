"""Endings that a suffix is compared with in vain stay as they are and become a doubt."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.pool import SandboxPool
from tests.sandbox.running import run_here

DOUBTED = {
    "an equality": 'ok = p.suffix == "jpg"',
    "the other way round": "ok = 'jpg' == p.suffix.lower()",
    "a written collection": 'ok = p.suffix in ("jpg", ".png")',
    "a named collection": 'E = ["jpg"]\nok = p.suffix.lower() in E',
    "a named suffix": 'ext = p.suffix.lower()\nok = ext == "jpg"',
    "splitext": 'import os\nok = os.path.splitext("a.jpg")[1] == "jpg"',
}

CERTAIN = {
    "a right ending": 'ok = p.suffix == ".jpg"',
    "no ending": 'ok = p.suffix == ""',
    "a suffix without its dot": 'ok = p.suffix[1:] == "jpg"',
    "a stripped suffix": 'ok = p.suffix.lstrip(".") in ("jpg", "png")',
    "a name that is bound twice": 'ext = p.suffix\next = ext[1:]\nok = ext == "jpg"',
    "a collection with another use": (
        'E = ["jpg"]\nok = p.suffix in E\nfor e in E:\n    print(f"*.{e}")'
    ),
    "another attribute": 'ok = p.stem == "jpg"',
    "a comparison that is not reached": 'ok = False\nif ok:\n    ok = p.suffix == "jpg"',
    "a program that changes something": 'ok = p.suffix == "jpg"\nPath("new.txt").write_text("x")',
}

START = 'from pathlib import Path\np = Path("a.jpg")\n'


@pytest.fixture(scope="module")
def pool() -> Iterator[SandboxPool]:
    with SandboxPool() as started:
        yield started


@pytest.mark.parametrize("name", DOUBTED)
def test_a_comparison_that_is_always_false_stays_so_and_is_doubted(
    name: str, tmp_path: Path, pool: SandboxPool
) -> None:
    outcome = run_here(START + DOUBTED[name] + "\nprint(ok)\n", tmp_path, pool).outcome
    assert outcome.printed == "False\n"
    assert any("'.jpg'" in doubt for doubt in outcome.doubts)


@pytest.mark.parametrize("name", CERTAIN)
def test_what_could_match_or_did_something_is_not_doubted(
    name: str, tmp_path: Path, pool: SandboxPool
) -> None:
    outcome = run_here(START + CERTAIN[name] + "\n", tmp_path, pool).outcome
    assert outcome.status == "ok"
    assert outcome.doubts == ()
