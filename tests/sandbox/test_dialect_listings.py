"""A folder's listing is a list where only a list makes sense, and an iterator elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.pool import SandboxPool
from sandbox.program import prepare
from tests.sandbox.running import fill, run_here

START = "from pathlib import Path\np = Path('.')\n"
WORKING = {
    "a length": ("print(len(p.iterdir()))", "2"),
    "emptiness": ("print(not p.glob('*.xyz'))", "True"),
    "a condition": ("if p.glob('*.xyz'):\n    print('some')\nelse:\n    print('none')", "none"),
    "two conditions": ("print(bool(p.is_dir() and p.rglob('*.txt')))", "True"),
    "an item": ("print(p.glob('a*')[0].name)", "a.txt"),
    "a sum": ("print(len(p.glob('a*') + p.glob('b*')))", "2"),
}
LEFT_ALONE = {
    "a loop": "for x in p.iterdir():\n    print(x)",
    "a sorted listing": "print(sorted(p.iterdir()))",
    "the first item": "print(next(p.iterdir()))",
    "a module of that name": "import glob\nprint(len(glob.glob('*')))",
}


@pytest.fixture(scope="module")
def pool() -> Iterator[SandboxPool]:
    with SandboxPool() as started:
        yield started


@pytest.mark.parametrize("name", WORKING)
def test_a_listing_is_a_list_where_one_is_meant(
    name: str, tmp_path: Path, pool: SandboxPool
) -> None:
    source, printed = WORKING[name]
    folder = tmp_path / "work"
    fill(folder, {"a.txt": "x", "b.txt": "y"})
    outcome = run_here(f"{START}{source}\n", folder, pool).outcome
    assert outcome.printed.strip() == printed, outcome.fault


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_an_iterator_that_works_is_left_alone(name: str) -> None:
    program = prepare(f"{START}{LEFT_ALONE[name]}\n")
    assert not any("made a list" in note for note in program.notes)
