"""Which last value is a program's answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.pool import SandboxPool
from tests.sandbox.running import fill, run_here

START = "import os, shutil, csv, re\nfrom pathlib import Path\nfrom shutil import move as shift\n"
BY_PRODUCTS = {
    "writing": "f = open('n.txt', 'w')\nf.write('abc')",
    "writing text": "Path('n.txt').write_text('abc')",
    "a row": "f = open('n.csv', 'w')\nw = csv.writer(f)\nw.writerow(['a', 'b'])",
    "seeking": "f = open('a.txt')\nf.seek(2)",
    "renaming": "Path('a.txt').rename('b.txt')",
    "a path that replaces": "Path('a.txt').replace('b.txt')",
    "shutil.copy": "shutil.copy('a.txt', 'b.txt')",
    "shutil.move": "shutil.move('a.txt', 'b.txt')",
    "another name of shutil.move": "shift('a.txt', 'b.txt')",
    "under the main guard": "if __name__ == '__main__':\n    Path('n.txt').write_text('abc')",
    "a list that grows": "found = []\nfound.append(1)",
    "deleting": "Path('a.txt').unlink()",
}
ANSWERS = {
    "a number": ("1 + 2", "3"),
    "a text with replacements": ("'a-b'.replace('-', '+')", "a+b"),
    "a text read": ("Path('a.txt').read_text()", "alpha"),
    "a count": ("len(os.listdir('.'))", "1"),
    "a copy of a value": ("{'a': 1}.copy()", "{'a': 1}"),
    "an item taken out": ("[1, 2].pop()", "2"),
    "a substitution": ("re.sub('a', 'b', 'aa')", "bb"),
    "a method of the program's own": (
        "class Sum:\n    def add(self, a, b):\n        return a + b\nSum().add(1, 2)",
        "3",
    ),
    "a value under the main guard": ("if __name__ == '__main__':\n    1 + 2", "3"),
    "a function of the program's own": ("def move(a, b):\n    return a + b\nmove(1, 2)", "3"),
}


@pytest.fixture(scope="module")
def pool() -> Iterator[SandboxPool]:
    with SandboxPool() as started:
        yield started


def answer_of(body: str, tmp_path: Path, pool: SandboxPool) -> str | None:
    fill(tmp_path / "files", {"a.txt": "alpha"})
    outcome = run_here(START + body + "\n", tmp_path / "files", pool).outcome
    assert outcome.status == "ok", outcome.fault
    return outcome.value


@pytest.mark.parametrize("name", BY_PRODUCTS)
def test_a_by_product_is_no_answer(name: str, tmp_path: Path, pool: SandboxPool) -> None:
    assert answer_of(BY_PRODUCTS[name], tmp_path, pool) is None


@pytest.mark.parametrize("name", ANSWERS)
def test_a_value_that_was_worked_out_is_the_answer(
    name: str, tmp_path: Path, pool: SandboxPool
) -> None:
    body, answer = ANSWERS[name]
    assert answer_of(body, tmp_path, pool) == answer


def test_a_walk_passes_by_links_that_lead_out(tmp_path: Path, pool: SandboxPool) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files/out").symlink_to("/etc/passwd")
    body = "[p.name for p in Path('.').iterdir() if p.is_file()]"
    assert answer_of(body, tmp_path, pool) == "['a.txt']"
    assert answer_of("os.path.islink('out') and not os.path.exists('out')", tmp_path, pool)
    body = "try:\n    open('out').read()\nexcept PermissionError as error:\n    x = str(error)\nx"
    assert "skip links" in (answer_of(body, tmp_path, pool) or "")
