"""Runs what a task brings: makes its folder, and judges what became of it.

    python task_scripts.py make TASK FOLDER SEED
    python task_scripts.py judge TASK FOLDER SEED RESULT.json REWARD.json

`judge` makes the folder anew from the seed, so that nothing in the judged folder is believed, and
writes ``{"reward": 0.0 or 1.0, "reason": "..."}``; RESULT.json is the run as `drydock run --json`
gives it. TASK is the task's folder. It is a process of its own: a task that loops or crashes takes
nothing with it. Exit codes: 0 done; 2 the task itself is at fault, told on standard error.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
import tempfile
from pathlib import Path
from types import ModuleType

KIT = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(KIT))

from task_folder import Snapshot  # noqa: E402  # an isolated process has no own folder on its path


def make(task: Path, folder: Path, seed: int) -> None:
    """Fill an empty folder with the task's fixture."""
    script = _first(task / "environment" / "make.py", task / "tests" / "make.py")
    if script is not None:
        _module(script).make(folder, seed)
        return
    files = _first(task / "environment" / "files", task / "tests" / "files")
    if files is None:
        raise FileNotFoundError(f"{task} has neither make.py nor files/")
    shutil.copytree(files, folder, symlinks=True, dirs_exist_ok=True)


def judge(task: Path, folder: Path, seed: int, result: dict[str, object]) -> str | None:
    """None when the task was done right, else the reason."""
    with tempfile.TemporaryDirectory(prefix="drydock-before-") as scratch:
        before = Path(scratch) / "folder"
        before.mkdir()
        make(task, before, seed)
        return _module(task / "tests" / "verify.py").verify(Snapshot.take(before), folder, result)


def write_reward(path: Path, reason: str | None) -> None:
    """The verdict, for who asked."""
    verdict = {"reward": 0.0 if reason else 1.0, "reason": reason or ""}
    unfinished = path.with_name(path.name + ".new")
    unfinished.write_text(json.dumps(verdict), encoding="utf-8")
    unfinished.replace(path)


def _first(*paths: Path) -> Path | None:
    return next((path for path in paths if path.exists()), None)


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"task_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(words: list[str]) -> int:
    """One of the two commands."""
    try:
        if len(words) == 4 and words[0] == "make":
            make(Path(words[1]), Path(words[2]), int(words[3]))
            return 0
        if len(words) == 6 and words[0] == "judge":
            result = json.loads(Path(words[4]).read_text(encoding="utf-8"))
            reason = judge(Path(words[1]), Path(words[2]), int(words[3]), result)
            write_reward(Path(words[5]), reason)
            return 0
    except Exception as error:  # the task's own code may raise anything
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 2
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
