"""Writes tasks so that Harbor itself can run them: whole folders, with a Dockerfile and scripts.

In the repository the tasks share one kit; Harbor copies `environment/`, `tests/` and `solution/`
apart from each other, so each exported task carries its own. Thread: any that may wait.
Source: Harbor's task layout, `harbor.models.task.paths` (package harbor 0.26).
"""

from __future__ import annotations

import shutil
from pathlib import Path

from app.errors import UsageError
from app.lab.suite import Suite, Task

_DOCKERFILE = """FROM python:3.12-slim
COPY . /environment
WORKDIR /app
RUN mkdir -p /task && cp -r /environment /task/environment \\
 && python3 -I /environment/kit/task_scripts.py make /task /app {seed} && rm -rf /environment /task
"""
_TEST = """#!/bin/sh
TASK_SEED="${{TASK_SEED:-{seed}}}" exec python3 "$(dirname "$0")/kit/harbor_judge.py"
"""
_SOLVE = """#!/bin/sh
solution="$(cd "$(dirname "$0")" && pwd)/solution.py"
cd "${TASK_FOLDER:-/app}" && python3 "$solution" > /tmp/answer.txt && mv /tmp/answer.txt answer.txt
"""
_ANSWER = "\n\nThe files are in /app. If you have an answer to tell, write it to /app/answer.txt.\n"
_NOT_COPIED = shutil.ignore_patterns("__pycache__", "*.pyc")


def export_suite(suite: Suite, target: Path, *, seed: int = 0) -> list[Path]:
    """Write every task of the suite below `target`, which must be empty or not be there.

    `seed`: which variant of each task; returns the tasks' folders. Raises: `UsageError`.
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(f"{target} is not an empty folder.", hint="Name one that is not there.")
    try:
        return [_export(task, target / task.name, seed) for task in suite.tasks]
    except OSError as error:
        raise UsageError(f"The tasks could not be written: {error}.") from error


def _export(task: Task, folder: Path, seed: int) -> Path:
    shutil.copytree(task.folder, folder, ignore=_NOT_COPIED)
    for room in ("environment", "tests"):
        shutil.copytree(task.kit, folder / room / "kit", ignore=_NOT_COPIED, dirs_exist_ok=True)
    maker = folder / "environment" / "make.py"
    if maker.is_file():
        shutil.copyfile(maker, folder / "tests" / "make.py")
    else:
        shutil.copytree(folder / "environment" / "files", folder / "tests" / "files", symlinks=True)
    _write(folder / "environment" / "Dockerfile", _DOCKERFILE.format(seed=seed))
    _write(folder / "tests" / "test.sh", _TEST.format(seed=seed), mode=0o755)
    _write(folder / "solution" / "solve.sh", _SOLVE, mode=0o755)
    _write(folder / "instruction.md", task.instruction + _ANSWER)
    return folder


def _write(path: Path, text: str, mode: int = 0o644) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
    path.chmod(mode)
