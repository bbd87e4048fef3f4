"""Large files open to read and to write: as CPython does it, and without loading them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.limits import Limits
from sandbox.pool import SandboxPool
from tests.sandbox.running import (
    AllowAll,
    fill,
    run_here,
    run_in_cpython,
    tree_on_disk,
    tree_on_stage,
)

LINES = "".join(f"line {number} ä\n" for number in range(150_000))
FILES = {"big.txt": LINES, "big.bin": bytes(range(256)) * 8192}
PROGRAMS = {
    "bytes in the middle": """
with open('big.bin', 'r+b') as f:
    print(f.read(5), f.tell())
    f.seek(1_000_000)
    print(f.write(b'HERE'), f.tell(), f.read(4))
    f.seek(-3, 2)
    f.write(b'tail!')
    print(f.tell())
    f.seek(2, 0)
    f.seek(3, 1)
    print(f.read(2), f.readable(), f.writable())
""",
    "truncate": """
import os
from pathlib import Path
with open('big.bin', 'rb+') as f:
    f.seek(1500000)
    print(f.truncate(), f.tell())
with Path('big.txt').open('r+', encoding='utf-8') as f:
    print(f.truncate(20), f.read())
os.truncate('big.txt', 9)
print(os.path.getsize('big.txt'), os.path.getsize('big.bin'))
os.truncate('big.bin', 2_500_000)
print(os.path.getsize('big.bin'))
""",
    "text": """
with open('big.txt', 'r+', encoding='utf-8') as f:
    print(repr(f.readline()))
    for line in f:
        print(repr(line))
        break
    f.seek(0)
    f.write('LINE')
    f.seek(0)
    print(f.read(12))
    f.seek(0, 2)
    f.writelines(['one\\n', 'two\\n'])
""",
    "lines": """
with open('big.txt', 'r+', encoding='utf-8') as f:
    f.seek(0, 2)
    end = f.tell()
    f.write('x\\ny')
    f.seek(end)
    print(f.readlines())
    f.seek(end)
    print(list(f), [line for line in f])
""",
    "append and read": """
with open('big.bin', 'a+b') as f:
    print(f.tell())
    f.write(b'more')
    f.seek(0)
    print(f.read(3))
    f.write(b'end')
""",
    "wrong kinds": """
with open('big.bin', 'r+b') as f:
    try:
        f.write('text')
    except TypeError as error:
        print(error)
try:
    f.read(1)
except ValueError:
    print('closed')
""",
}


@pytest.fixture(scope="module")
def pool() -> Iterator[SandboxPool]:
    with SandboxPool() as started:
        yield started


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_large_file_is_updated_as_in_cpython(
    name: str, tmp_path: Path, pool: SandboxPool
) -> None:
    fill(tmp_path / "here", FILES)
    fill(tmp_path / "there", FILES)
    expected = run_in_cpython(PROGRAMS[name], tmp_path / "there")
    ran = run_here(PROGRAMS[name], tmp_path / "here", pool)
    assert ran.outcome.fault is None, ran.outcome.fault
    assert ran.outcome.printed == expected
    assert tree_on_stage(ran.stage) == tree_on_disk(tmp_path / "there")


def test_a_file_of_gigabytes_is_edited_within_the_limits_of_a_program(
    tmp_path: Path, pool: SandboxPool
) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    with (folder / "disk.img").open("wb") as out:
        out.truncate(4 * 1024**3)
    source = """
with open('disk.img', 'r+b') as f:
    f.seek(2 * 1024**3)
    print(f.read(4))
    f.seek(2 * 1024**3)
    f.write(b'boot')
with open('disk.img', 'r+b') as f:
    f.seek(2 * 1024**3)
    print(f.read(5))
"""
    gate = AllowAll()
    small = Limits(interpreter_s=10.0, memory_bytes=32 * 1024 * 1024, read_bytes=1024 * 1024)
    ran = run_here(source, folder, pool, limits=small, gate=gate)
    assert ran.outcome.fault is None, ran.outcome.fault
    assert ran.outcome.printed == "b'\\x00\\x00\\x00\\x00'\nb'boot\\x00'\n"
    (change,) = ran.stage.changes().changes
    assert [piece.size_bytes for piece in change.pieces] == [2 * 1024**3, 4, 2 * 1024**3 - 4]
    writes = [effect for effect in gate.judged if effect.kind == "modify"]
    assert [effect.span.line for effect in writes if effect.span] == [2]


def test_reading_a_large_file_whole_in_update_mode_says_so(
    tmp_path: Path, pool: SandboxPool
) -> None:
    fill(tmp_path / "here", FILES)
    small = Limits(interpreter_s=5.0, read_bytes=1_500_000)
    ran = run_here(
        "print(len(open('big.bin', 'r+b').read()))", tmp_path / "here", pool, limits=small
    )
    assert ran.outcome.fault is not None
    assert "too large to read whole" in ran.outcome.fault.message
