"""The check before a run: what certainly fails is refused, everything else runs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sandbox.builtin_tools import builtin_tools
from sandbox.check import Finding, check
from sandbox.errors import ProgramFaultError
from sandbox.pool import SandboxPool
from sandbox.program import prepare
from sandbox.session_state import FRESH, SessionState, Variable


@pytest.fixture(scope="module")
def pool() -> Iterator[SandboxPool]:
    with SandboxPool() as started:
        yield started


def _checked(source: str, pool: SandboxPool, state: SessionState = FRESH) -> tuple[Finding, ...]:
    tools = builtin_tools()
    return check(prepare(source, tools, state), tools, pool)


CERTAIN = {
    "a name that nothing binds": ("x = 1\ny = totl + x\nz = 2\n", 2, "'totl' is not defined"),
    "an argument that a function lacks": (
        "def f(a, b):\n    return a\n\nf(1)\nx = 2\n",
        4,
        "It is declared as: def f(a, b)",
    ),
    "an argument too many": ("def f(a):\n    return a\n\nx = f(1, 2)\ny = 3\n", 4, "def f(a)"),
    "in a function that is called": (
        "def main():\n    print(nothing)\n    return 1\n\nmain()\nx = 1\n",
        2,
        "'nothing' is not defined",
    ),
    "below the main guard": (
        "def main(path):\n    return path\n\nif __name__ == '__main__':\n    main()\n    x = 1\n",
        5,
        "def main(path)",
    ),
    "a tool without what it needs": ("rows = sql()\nx = 1\n", 1, "sql() needs the argument"),
    "a tool with a constant of a wrong type": (
        "text = read_document(3)\nx = 1\n",
        1,
        "declared as",
    ),
}


@pytest.mark.parametrize("name", CERTAIN)
def test_what_certainly_fails_is_refused_with_its_line_and_what_is_right(
    name: str, pool: SandboxPool
) -> None:
    source, line, words = CERTAIN[name]
    with pytest.raises(ProgramFaultError) as caught:
        _checked(source, pool)
    assert caught.value.fault.line == line
    assert words in caught.value.fault.brief()


RUNS = {
    "in a branch that is not taken": "if len([]) > 1:\n    print(nothing)\nx = 1\n",
    "in a loop over nothing": "for i in []:\n    print(nothing)\nx = 1\n",
    "in a function that nobody calls": "def f():\n    return nothing\nx = 1\n",
    "in a handler's block": "try:\n    nothing()\nexcept NameError:\n    pass\nx = 1\n",
    "after leaving": "import sys\nsys.exit(0)\nprint(nothing)\nx = 1\n",
    "after a call that leaves": (
        "import sys\ndef stop():\n    sys.exit(0)\nstop()\nprint(nothing)\nx = 1\n"
    ),
    "after a return": "def f():\n    return 1\n    print(nothing)\nf()\nx = 1\n",
    "behind and": "x = False and nothing\ny = 1\n",
    "swallowed by a context": (
        "from contextlib import suppress\nwith suppress(NameError):\n    nothing()\nx = 1\n"
    ),
    "in a last print": "x = 1\nprint(f'{x} {nothing}')\n",
    "a function that is bound twice": "def f(a):\n    return a\nf = lambda: 1\nf()\nx = 1\n",
    "an argument that is misspelt": "rows = sql(qury='select 1')\nx = 1\n",
    "a lambda": "f = lambda: nothing\nx = 1\n",
    "in a comprehension over nothing": "x = [nothing for i in []]\ny = 1\n",
}


@pytest.mark.parametrize("name", RUNS)
def test_what_might_run_is_not_refused(name: str, pool: SandboxPool) -> None:
    _checked(RUNS[name], pool)


def test_names_of_earlier_programs_are_known(pool: SandboxPool) -> None:
    state = SessionState(session=b"dump", names={"helper": Variable()})
    _checked("x = helper(1)\ny = x\n", pool, state)
    with pytest.raises(ProgramFaultError):
        _checked("x = helper(1)\ny = x\n", pool)


def test_every_certain_finding_has_a_line(pool: SandboxPool) -> None:
    with pytest.raises(ProgramFaultError) as caught:
        _checked("a = one\nb = two\nc = 3\n", pool)
    assert "Line 2: name 'two' is not defined" in caught.value.fault.hint


def test_what_only_looks_wrong_is_found_and_does_not_block(pool: SandboxPool) -> None:
    found = _checked("def f(x: str) -> str:\n    return x.missing()\nf('a')\ny = 1\n", pool)
    assert [(item.line, item.certain) for item in found] == [(2, False)]


def test_nothing_is_run(pool: SandboxPool) -> None:
    _checked("open('made.txt', 'w').write('x')\nprint('never')\nwhile True:\n    pass\n", pool)
