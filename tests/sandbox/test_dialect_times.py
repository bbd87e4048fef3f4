"""A file's time compared with a date works, as seconds; other comparisons are left alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.pool import SandboxPool
from sandbox.program import prepare
from tests.sandbox.running import fill, run_here

START = "import os\nfrom datetime import datetime\nfrom pathlib import Path\np = Path('a.txt')\n"
WORKING = {
    "stat": "print(p.stat().st_mtime > datetime(2001, 1, 1))",
    "the other way round": "print(datetime(2001, 1, 1) <= p.stat().st_mtime)",
    "getmtime": "print(os.path.getmtime('a.txt') > datetime(2001, 1, 1))",
    "names": "limit = datetime(2001, 1, 1)\nt = p.stat().st_mtime\nprint(t > limit)",
    "a range": "print(datetime(2001, 1, 1) < p.stat().st_mtime < datetime(3000, 1, 1))",
}
LEFT_ALONE = {
    "seconds": "print(p.stat().st_mtime > datetime(2001, 1, 1).timestamp())",
    "dates": "print(datetime.fromtimestamp(p.stat().st_mtime) > datetime(2001, 1, 1))",
    "numbers": "print(p.stat().st_mtime > 5)",
    "a name that is bound twice": "x = datetime(2001, 1, 1)\nx = 5\nprint(p.stat().st_mtime > x)",
}


@pytest.fixture(scope="module")
def pool() -> Iterator[SandboxPool]:
    with SandboxPool() as started:
        yield started


@pytest.mark.parametrize("name", WORKING)
def test_a_time_is_compared_with_a_date(name: str, tmp_path: Path, pool: SandboxPool) -> None:
    folder = tmp_path / "work"
    fill(folder, {"a.txt": "x"})
    outcome = run_here(f"{START}{WORKING[name]}\n", folder, pool).outcome
    assert outcome.printed.strip() == "True", outcome.fault


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_a_comparison_that_works_is_left_alone(name: str) -> None:
    source = f"{START}{LEFT_ALONE[name]}\n"
    assert prepare(source).repaired.count(".timestamp()") == source.count(".timestamp()")
