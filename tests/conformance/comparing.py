"""Runs one script twice, in CPython and as ``drydock exec`` does, and says how the two differ."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from sandbox.blobs import BlobStore
from sandbox.builtin_tools import builtin_tools
from sandbox.check import check
from sandbox.commit import commit
from sandbox.errors import ProgramFaultError
from sandbox.outcome import StopToken
from sandbox.pool import SandboxPool
from sandbox.program import prepare
from sandbox.runner import Runner
from sandbox.stage import FolderGrant, Stage
from tests.conformance.folder import make
from tests.sandbox.running import LIMITS, AllowAll, ListJournal, Tree, tree_on_disk

HERE = Path(__file__).resolve().parent
_TEMPORARY_NAME = re.compile(r"(?<=tmp)[a-z0-9_]{8}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a script left behind. `fault`: why it did not end well, or empty."""

    tree: Tree
    printed: str
    answer: str
    fault: str = ""


def load(folder: Path) -> dict[str, str]:
    """The scripts of a folder's text files, by file and title."""
    scripts: dict[str, str] = {}
    for path in sorted(folder.glob("*.txt")):
        for text in path.read_text(encoding="utf-8").split("=====\n"):
            title = text.strip().partition("\n")[0].lstrip("# ")
            name = f"{path.stem}: {title}"
            if name in scripts:
                raise ValueError(f"two scripts are named {name!r}")
            scripts[name] = text
    return scripts


def in_cpython(source: str, scratch: Path) -> Result:
    """Run a script in a real folder."""
    folder = scratch / "theirs" / "work"
    make(folder)
    script, answer = scratch / "program.py", scratch / "answer.txt"
    script.write_text(source, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-X", "utf8", str(HERE / "driver.py"), str(script), str(answer)],
        cwd=folder,
        capture_output=True,
        check=False,
    )
    return Result(
        tree=tree_on_disk(folder),
        printed=_plain(done.stdout.decode("utf-8").replace(os.linesep, "\n"), folder),
        answer=answer.read_text(encoding="utf-8") if answer.exists() else "",
        fault=done.stderr.decode("utf-8", "replace") if done.returncode else "",
    )


def in_drydock(source: str, scratch: Path, pool: SandboxPool) -> Result:
    """Run a script on a stage and commit what it changed."""
    folder = scratch / "ours" / "work"
    make(folder)
    grants = [FolderGrant(path=folder)]
    blobs = BlobStore(scratch / "blobs")
    stage = Stage(grants, blobs)
    stage.push()
    try:
        program = prepare(source)
        check(program, builtin_tools(), pool)
    except ProgramFaultError as error:
        return Result(tree={}, printed="", answer="", fault=f"refused: {error}")
    outcome = Runner(pool, LIMITS).run(
        program,
        program_id="p1",
        stage=stage,
        gate=AllowAll(),
        journal=ListJournal(),
        listen=lambda _: None,
        stop=StopToken(),
    )
    if outcome.status == "ok":
        stage.merge()
        undo = scratch / "undo"
        report = commit(stage.changes(), blobs=blobs, undo_folder=undo, grants=grants)
        assert not report.conflicts
    return Result(
        tree=tree_on_disk(folder),
        printed=_plain(outcome.printed, folder),
        answer="" if outcome.value is None else f"={outcome.value}",
        fault="" if outcome.status == "ok" else str(outcome.fault),
    )


def differences(ours: Result, theirs: Result) -> list[str]:
    """How two results differ, one line each; empty when they are equal."""
    found: list[str] = []
    if ours.fault:
        return [ours.fault]
    if ours.printed != theirs.printed:
        found.append(f"printed {ours.printed!r} and not {theirs.printed!r}")
    if ours.answer != theirs.answer:
        found.append(f"answered {ours.answer!r} and not {theirs.answer!r}")
    found.extend(
        f"{name}: {ours.tree.get(name, 'nothing')!r} and not {theirs.tree.get(name, 'nothing')!r}"
        for name in sorted(ours.tree.keys() | theirs.tree.keys())
        if ours.tree.get(name, "nothing") != theirs.tree.get(name, "nothing")
    )
    return found


def _plain(text: str, folder: Path) -> str:
    """Printed text without what differs between any two runs."""
    return _TEMPORARY_NAME.sub("NAME", text.replace(str(folder), "FOLDER"))
