"""Runs programs for tests: here, on a stage, and in CPython, in a real folder."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sandbox.blobs import BlobStore
from sandbox.effects import Effect
from sandbox.limits import Limits
from sandbox.outcome import CallBatch, Outcome, Printed, StopToken
from sandbox.pool import SandboxPool
from sandbox.ports import Gate, Verdict
from sandbox.program import prepare
from sandbox.runner import Runner
from sandbox.stage import FolderGrant, Stage

LIMITS = Limits(interpreter_s=5.0)


class AllowAll:
    """A gate that allows, and remembers what it was asked."""

    def __init__(self) -> None:
        self.judged: list[Effect] = []

    def judge(self, effects: Sequence[Effect]) -> Verdict:
        self.judged.extend(effects)
        return Verdict(outcome="allow")


class DenyKind:
    """A gate that denies one kind of effect."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def judge(self, effects: Sequence[Effect]) -> Verdict:
        if any(effect.kind == self._kind for effect in effects):
            return Verdict(
                outcome="deny", reason="test", message="that is not allowed in this chat"
            )
        return Verdict(outcome="allow")


class ListJournal:
    """A journal in memory."""

    def __init__(self) -> None:
        self.effects: list[Effect] = []

    def settle(self, program_id: str, effects: Sequence[Effect]) -> None:
        assert program_id == "p1"
        self.effects.extend(effects)


@dataclass(kw_only=True)
class Ran:
    """A run with all that surrounded it."""

    outcome: Outcome
    stage: Stage
    journal: ListJournal
    heard: list[CallBatch | Printed] = field(default_factory=list)


def run_here(
    source: str,
    folder: Path,
    pool: SandboxPool,
    *,
    limits: Limits = LIMITS,
    gate: Gate | None = None,
    stop: StopToken | None = None,
) -> Ran:
    """Run `source` on a stage of `folder`."""
    blobs = BlobStore(folder.parent / f"{folder.name}-blobs")
    stage = Stage([FolderGrant(path=folder.resolve())], blobs)
    stage.push()
    journal = ListJournal()
    heard: list[CallBatch | Printed] = []
    outcome = Runner(pool, limits).run(
        prepare(source),
        program_id="p1",
        stage=stage,
        gate=gate or AllowAll(),
        journal=journal,
        listen=heard.append,
        stop=stop or StopToken(),
    )
    return Ran(outcome=outcome, stage=stage, journal=journal, heard=heard)


def run_in_cpython(source: str, folder: Path) -> str:
    """Run `source` as a script in `folder`; returns what it printed."""
    script = folder.parent / f"{folder.name}-program.py"
    script.write_text(source, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-X", "utf8", str(script)],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


Tree = dict[str, bytes | None]


def fill(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Make `files` in `folder`; a name that ends in ``/`` is an empty folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = folder / name
        if name.endswith("/"):
            path.mkdir(parents=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def tree_on_disk(folder: Path) -> Tree:
    """Every file's content, and None for each folder."""
    return {
        path.relative_to(folder).as_posix(): None if path.is_dir() else path.read_bytes()
        for path in folder.rglob("*")
    }


def tree_on_stage(stage: Stage) -> Tree:
    """The same of the stage."""
    root = stage.cwd
    return {
        entry.path: None if entry.is_dir else stage.read_bytes(f"{root}/{entry.path}")
        for entry in stage.scan(root, max_depth=None)
        if entry.path
    }
