"""Files that do not fit the interpreter's memory are read and written piece by piece."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.limits import Limits
from sandbox.pool import SandboxPool
from tests.sandbox.running import run_here, run_in_cpython, tree_on_disk, tree_on_stage

MIB = 1024 * 1024
LIMITS = Limits(memory_bytes=8 * MIB, interpreter_s=20.0)
LINES = "".join(f"{n} INFO a line of a long log, é\n" for n in range(400_000))
TABLE = "name,amount\n" + "".join(f'"n,{n}",{n % 7}\n' for n in range(120_000))

PROGRAMS = {
    "lines": """
n = size = 0
with open('big.log', encoding='utf-8') as f:
    for line in f:
        if line.startswith('5'):
            continue
        n += 1
        size += len(line)
    else:
        print('all')
print(n, size)
""",
    "numbered lines until a break, then the rest": """
with open('big.log', encoding='utf-8') as f:
    for number, line in enumerate(f, 1):
        if number == 300000:
            break
    print(number, line.strip(), f.readline().strip())
    print(len(f.read(100000)))
""",
    "pieces": """
import hashlib
h = hashlib.md5()
with open('big.log', 'rb') as f:
    while True:
        chunk = f.read(65536)
        if not chunk:
            break
        h.update(chunk)
    f.seek(0)
    print(f.tell(), f.readline(), f.read(3))
print(h.hexdigest())
""",
    "a table": """
import csv
total = 0
with open('big.csv', newline='') as f:
    reader = csv.DictReader(f)
    print(reader.fieldnames)
    for row in reader:
        total += int(row['amount'])
print(total, row)
""",
    "rows after the header": """
import csv
with open('big.csv', newline='') as f:
    rows = csv.reader(f)
    header = next(rows)
    n = 0
    for name, amount in rows:
        n += name == 'n,77'
print(header, n, rows.line_num)
""",
    "writing many lines": """
with open('big.log', encoding='utf-8') as f, open('copy.log', 'w', encoding='utf-8') as out:
    for line in f:
        out.write(line)
with open('copy.log', 'a') as out:
    print('end', file=out)
""",
}


@pytest.fixture(scope="module")
def pool() -> Iterator[SandboxPool]:
    with SandboxPool() as started:
        yield started


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_large_file_is_read_and_written_within_the_memory_limit(
    name: str, tmp_path: Path, pool: SandboxPool
) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    for folder in (ours, theirs):
        folder.mkdir()
        (folder / "big.log").write_text(LINES, encoding="utf-8")
        (folder / "big.csv").write_text(TABLE, encoding="utf-8")
    printed = run_in_cpython(PROGRAMS[name], theirs)
    ran = run_here(PROGRAMS[name], ours, pool, limits=LIMITS)
    assert ran.outcome.fault is None
    assert ran.outcome.printed == printed
    assert tree_on_stage(ran.stage) == tree_on_disk(theirs)


def test_reading_a_file_whole_that_is_too_large_says_so(tmp_path: Path, pool: SandboxPool) -> None:
    folder = tmp_path / "ours"
    folder.mkdir()
    (folder / "big.log").write_text(LINES, encoding="utf-8")
    limits = Limits(read_bytes=2 * MIB)
    fault = run_here("print(len(open('big.log').read()))", folder, pool, limits=limits)
    assert fault.outcome.fault is not None
    assert "too large to read whole" in fault.outcome.fault.message


def test_what_is_written_counts_for_the_call_that_opened_the_file(
    tmp_path: Path, pool: SandboxPool
) -> None:
    folder = tmp_path / "ours"
    folder.mkdir()
    source = "x = 1\nwith open('a.txt', 'w') as f:\n    f.write('a')\n    f.write('b')\n"
    ran = run_here(source, folder, pool)
    (effect,) = ran.outcome.effects
    assert (effect.kind, effect.size_bytes) == ("create", 2)
    assert effect.span is not None
    assert effect.span.line == 2
