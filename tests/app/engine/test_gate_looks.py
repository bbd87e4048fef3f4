"""What a program learned of files by looking, and which addresses it may ask after it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.engine.gate import TurnGate
from sandbox.effects import Effect
from sandbox.grants import grants_of
from sandbox.pool import SandboxPool
from tests.sandbox.running import fill, run_here

START = "import os, shutil\nfrom pathlib import Path\n"
MADE = Effect(kind="read", path="https://example.org/?x=1")
LOOKS = {
    "os.path.exists": "os.path.exists('a.txt')",
    "os.path.exists of nothing": "os.path.exists('none')",
    "os.path.lexists": "os.path.lexists('a.txt')",
    "os.path.isfile": "os.path.isfile('a.txt')",
    "os.path.isdir": "os.path.isdir('a.txt')",
    "os.path.islink": "os.path.islink('a.txt')",
    "os.path.getsize": "os.path.getsize('a.txt')",
    "os.path.getmtime": "os.path.getmtime('a.txt')",
    "os.path.samefile": "os.path.samefile('a.txt', 'sub')",
    "os.stat": "os.stat('a.txt')",
    "os.lstat": "os.lstat('a.txt')",
    "os.access": "os.access('a.txt', os.R_OK)",
    "Path.exists": "Path('a.txt').exists()",
    "Path.is_file": "Path('a.txt').is_file()",
    "Path.is_dir": "Path('a.txt').is_dir()",
    "Path.is_symlink": "Path('a.txt').is_symlink()",
    "Path.stat": "Path('a.txt').stat()",
    "opening": "open('a.txt')",
    "opening what is not there": "try:\n    open('none')\nexcept OSError:\n    pass",
    "making what is there": "try:\n    os.mkdir('sub')\nexcept OSError:\n    pass",
    "creating what is there": "try:\n    open('a.txt', 'x')\nexcept OSError:\n    pass",
    "deleting what is not there": "Path('none').unlink(missing_ok=True)",
    "moving": "os.rename('a.txt', 'b.txt')",
    "copying": "shutil.copy('a.txt', 'b.txt')",
    "listing": "os.listdir('.')",
}
BLIND = {
    "nothing": "1 + 1",
    "writing": "Path('new.txt').write_text('x')",
    "writing over what is there": "Path('a.txt').write_text('x')",
    "writing to an open file": "with open('new/n.txt', 'w') as f:\n    f.write('x')",
    "a new folder": "os.mkdir('new')",
    "a folder that may be there": "os.makedirs('sub', exist_ok=True)",
    "a path that may be there": "Path('sub').mkdir(parents=True, exist_ok=True)",
}


@pytest.fixture(scope="module")
def pool() -> Iterator[SandboxPool]:
    with SandboxPool() as started:
        yield started


def run_judged(body: str, tmp_path: Path, pool: SandboxPool) -> tuple[str, list[str]]:
    """What the gate says to a made address after `body`; the kinds of effects recorded."""
    folder = tmp_path / "files"
    fill(folder, {"a.txt": "alpha", "sub/": ""})
    gate = TurnGate(grants_of(frozenset({"host:example.org"})))
    ran = run_here(START + body + "\n", folder, pool, gate=gate)
    assert ran.outcome.status == "ok", ran.outcome.fault
    return gate.judge([MADE]).outcome, [effect.kind for effect in ran.journal.effects]


@pytest.mark.parametrize("name", LOOKS)
def test_no_address_is_made_of_what_a_look_told(
    name: str, tmp_path: Path, pool: SandboxPool
) -> None:
    assert run_judged(LOOKS[name], tmp_path, pool)[0] == "ask"


@pytest.mark.parametrize("name", BLIND)
def test_an_address_may_be_made_where_nothing_was_told(
    name: str, tmp_path: Path, pool: SandboxPool
) -> None:
    assert run_judged(BLIND[name], tmp_path, pool)[0] == "allow"


def test_a_look_is_no_effect_in_the_record(tmp_path: Path, pool: SandboxPool) -> None:
    assert run_judged(LOOKS["Path.is_file"], tmp_path, pool) == ("ask", [])
