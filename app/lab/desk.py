"""The lab as the window uses it: what was measured, one trial in full, and measuring in a process.

A measurement runs in a process of its own (`drydock eval run`), so that the window stays free,
Stop is at once, and a crash loses one trial. Thread: engine.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Sequence
from typing import Any

from app.engine.engine import Engine
from app.engine.events import LabEnded, LabProgressed
from app.errors import AppError
from app.lab.lab import read_trajectory
from app.lab.report import ALL
from app.lab.standings import Shown, Standings, standings
from app.lab.suite import load_suite, shipped_suites
from app.store.trials import Mode

QUICK_S = 180.0
_END_S = 3.0
_MOST_SHOWN = 200


async def read_standings(engine: Engine) -> Standings:
    """Everything that was measured."""
    return standings(engine.trials.all())


async def read_trials(engine: Engine, model_id: str, mode: Mode, capability: str) -> list[Shown]:
    """The newest trials behind a cell, the newest first."""
    chosen = [
        trial
        for trial in reversed(engine.trials.all())
        if (trial.model_id, trial.mode) == (model_id, mode)
        and capability in (ALL, trial.capability)
    ][:_MOST_SHOWN]
    return await asyncio.to_thread(
        lambda: [Shown(trial=t, trajectory=read_trajectory(engine.paths, t)) for t in chosen]
    )


def quick_tasks(suite: str) -> list[str]:
    """One task of each capability, the easiest to be had."""
    order = {"easy": 0, "medium": 1, "hard": 2}
    chosen: dict[str, str] = {}
    for task in sorted(load_suite(suite).tasks, key=lambda task: order[task.difficulty]):
        if not task.needs:
            chosen.setdefault(task.capability, task.name)
    return list(chosen.values())


class Measurement:
    """One measurement, running as a process. Make it with `start`."""

    def __init__(self, engine: Engine, model_id: str) -> None:
        self._engine = engine
        self._model_id = model_id
        self._process: asyncio.subprocess.Process | None = None
        self._stopped = False
        self._task: asyncio.Task[None] | None = None

    @classmethod
    async def start(cls, engine: Engine, model_id: str, *, quick: bool) -> Measurement:
        """Begin to measure a model; progress comes as events. Raises: `AppError`."""
        made = cls(engine, model_id)
        made._task = asyncio.create_task(made._run(quick), name=f"measure-{model_id}")
        return made

    async def stop(self) -> None:
        """End the process; the trials that are done count."""
        self._stopped = True
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(signal.SIGTERM)
            try:
                async with asyncio.timeout(_END_S):
                    await self._process.wait()
            except TimeoutError:
                self._process.kill()
        if self._task is not None:
            await asyncio.wait([self._task])

    async def _run(self, quick: bool) -> None:
        problem = ""
        try:
            for suite in shipped_suites():
                words = await asyncio.to_thread(_words, suite, self._model_id, quick)
                problem = await self._measure(words)
                if problem or self._stopped:
                    break
        except (OSError, AppError) as error:
            problem = str(error)
        self._engine.post(
            LabEnded(model_id=self._model_id, problem="" if self._stopped else problem)
        )

    async def _measure(self, words: Sequence[str]) -> str:
        """Run one process to its end; returns what went wrong, or an empty text."""
        environment = {**os.environ, "DRYDOCK_HOME": str(self._engine.paths.home)}
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "app", "eval", "run", "--progress", *words),
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        assert self._process.stdout is not None
        problem = ""
        async for line in self._process.stdout:
            with contextlib.suppress(ValueError, KeyError):
                told = json.loads(line)
                if told.get("status") == "failed":
                    problem = told["error"]["message"]
                elif "total" in told:
                    self._tell(told)
        code = await self._process.wait()
        if code and not problem and not self._stopped:
            problem = f"The measurement ended by itself (exit code {code})."
        return problem

    def _tell(self, told: dict[str, Any]) -> None:
        self._engine.post(
            LabProgressed(
                model_id=self._model_id,
                done=told["done"],
                total=told["total"],
                passed=told["passed"],
                seconds_left=told["seconds_left"],
            )
        )


def _words(suite: str, model_id: str, quick: bool) -> list[str]:
    words = ["--json", "--suite", suite, "--model", model_id]
    if not quick:
        return [*words, "--trials", "3"]
    chosen = [word for name in quick_tasks(suite) for word in ("--task", name)]
    seconds = QUICK_S / len(shipped_suites())
    return [*words, "--trials", "1", "--budget-seconds", f"{seconds:g}", *chosen]
