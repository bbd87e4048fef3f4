"""Methods used as values: they work, and what only looks like one is left alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.pool import SandboxPool
from sandbox.program import prepare
from tests.sandbox.running import fill, run_here

VALUES = {
    "the key of max": ("d = {'a': 1, 'b': 3}\nprint(max(d, key=d.get))", "b"),
    "the key of sorted": ("d = {'a': 1, 'b': 3}\nprint(sorted(d, key=d.get, reverse=True))", "['b"),
    "a counter": (
        "from collections import Counter\nc = Counter('abb')\nprint(max(c, key=c.get))",
        "b",
    ),
    "a name for a method": ("x = []\nadd = x.append\nadd(1)\nprint(x)", "[1]"),
}

LEFT_ALONE = {
    "a call": "d = {}\nprint(d.get('a'))",
    "a field of a class": (
        "from dataclasses import dataclass\n@dataclass\nclass A:\n    count: int\n"
        "a = A(3)\nprint(a.count)"
    ),
    "a field of a named tuple": (
        "from collections import namedtuple\nP = namedtuple('P', 'index, x')\np = P(1, 2)\n"
        "print(p.index)"
    ),
    "an attribute that is set": "class A:\n    pass\na = A()\na.count = 1\nprint(a.count)",
    "a method of a class itself": "print(sorted(['b', 'A'], key=str.lower))",
}


@pytest.fixture(scope="module")
def pool() -> Iterator[SandboxPool]:
    with SandboxPool() as started:
        yield started


@pytest.mark.parametrize("name", VALUES)
def test_a_method_is_a_value(name: str, tmp_path: Path, pool: SandboxPool) -> None:
    source, printed = VALUES[name]
    folder = tmp_path / "work"
    fill(folder, {})
    outcome = run_here(source + "\n", folder, pool).outcome
    assert outcome.status == "ok", outcome.fault
    assert outcome.printed.startswith(printed)


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_what_only_looks_like_one_is_left_alone(name: str) -> None:
    assert "__dd_args" not in prepare(LEFT_ALONE[name] + "\n").repaired
