"""Runs a task's own scripts in a process of their own: the maker of its folder, and its verifier.

The verifier gets the folder as the run left it, the seed, and the run's result; it makes the folder
anew for itself and gives its verdict in a file outside every folder that a program was granted. So
a program cannot reach the tests, the solution or the reward. Thread: any that may wait.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.errors import AppError
from app.lab.suite import Task

_KEPT = ("PATH", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "LANG", "LC_ALL")
_SCRIPT = "task_scripts.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A verifier's word: 1.0 when the task was done right, else 0.0 and why."""

    reward: float
    reason: str


class TaskBrokenError(AppError):
    """A task's own script failed: the trial says nothing about the model."""


def make_folder(task: Task, folder: Path, seed: int) -> None:
    """Fill an empty folder with the fixture for this seed. Raises: `TaskBrokenError`."""
    _run(task, "make", str(task.folder), str(folder), str(seed), timeout_s=task.verify_s)


def judge(task: Task, folder: Path, seed: int, result: Mapping[str, Any]) -> Judged:
    """The verdict on a folder and a run's result. Raises: `TaskBrokenError`."""
    with tempfile.TemporaryDirectory(prefix="drydock-verdict-") as scratch:
        told, reward = Path(scratch) / "result.json", Path(scratch) / "reward.json"
        told.write_text(json.dumps(result), encoding="utf-8")
        words = ("judge", str(task.folder), str(folder), str(seed), str(told), str(reward))
        _run(task, *words, timeout_s=task.verify_s)
        try:
            verdict = json.loads(reward.read_text(encoding="utf-8"))
            return Judged(reward=float(verdict["reward"]), reason=str(verdict["reason"]))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise TaskBrokenError(f"The verifier of {task.name} gave no verdict.") from error


def _run(task: Task, *words: str, timeout_s: float) -> None:
    environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
    try:
        done = subprocess.run(  # noqa: S603  # our own interpreter and script
            [sys.executable, "-I", "-X", "utf8", str(task.kit / _SCRIPT), *words],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise TaskBrokenError(
            f"A script of the task {task.name} was not done within {timeout_s:g} s."
        ) from error
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or ["it said nothing"]
        raise TaskBrokenError(f"A script of the task {task.name} failed: {lines[-1]}")
