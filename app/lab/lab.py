"""A lab run from its first trial to its last: budgets, progress, pause, and going on after a crash.

Each trial is in the store, its trajectory in a file, before the next begins; a run that was killed
goes on with the trials that are left and its totals are those of a run that was not. Local models
run one trial at a time, remote ones several. Thread: engine.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import shutil
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from app.errors import AppError, UsageError
from app.lab.lock import working_on
from app.lab.plan import NOTHING, ORACLE, LabPlan, Progress, Slot, exhausted, progress, slots, spent
from app.lab.suite import Suite, load_suite, select
from app.lab.trial import Bench, Finished
from app.paths import Paths
from app.settings import Settings
from app.store.chats import new_id
from app.store.trials import LabRun, TrialRecord, TrialStore

_AT_ONCE = 4
Listener = Callable[[Progress], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A task that cannot be done on this machine, and why. It counts for nothing."""

    task: str
    reason: str


MakeBench = Callable[[Paths, Settings], Bench]


class Lab:
    """Begins lab runs and goes on with them. `skipped`: what the latest could not do here."""

    def __init__(
        self,
        paths: Paths,
        settings: Settings,
        store: TrialStore,
        *,
        make_bench: MakeBench = Bench,
    ) -> None:
        self._paths = paths
        self._settings = settings
        self._store = store
        self._make_bench = make_bench
        self.skipped: tuple[Skipped, ...] = ()

    def begin(self, plan: LabPlan, run_id: str = "") -> LabRun:
        """Record a new run of this plan, under an id that `suite` was given, or a new one."""
        run_id = run_id or new_id()
        return self._store.add_run(run_id, plan.suite, plan.to_json())

    def suite(self, plan: LabPlan, run_id: str, *, trusted: bool = False) -> Suite:
        """The plan's suite with only its tasks.

        A suite that did not come with Drydock brings scripts, which run with the person's rights:
        only when `trusted`. Raises: `UsageError`.
        """
        unpacked = self._folder(run_id) / "suite"
        shutil.rmtree(unpacked, ignore_errors=True)
        unpacked.mkdir(parents=True)
        suite = load_suite(plan.suite, unpack_to=unpacked)
        if not suite.trusted and not trusted:
            raise UsageError(
                f"The suite {suite.name} did not come with Drydock. Its tasks bring scripts that "
                "make folders and judge results, and these run with your rights.",
                hint="Read them, then say --trust-suite.",
            )
        return select(suite, plan.tasks)

    async def go_on(
        self,
        run_id: str,
        plan: LabPlan,
        suite: Suite,
        listen: Listener,
        *,
        here: Collection[str] | None = None,
    ) -> str:
        """Do the trials that are left; returns why it stopped early, or an empty text.

        `here`: what this machine has of what tasks may need, looked up when not given; tasks that
        need more are in `skipped`, and count for nothing. When the task is cancelled the run is
        paused: nothing that was done is lost.
        """
        with working_on(self._paths, run_id):
            async with self._make_bench(self._paths, self._settings) as bench:
                if here is None:
                    here = await bench.here() if any(task.needs for task in suite.tasks) else ()
                self.skipped = tuple(
                    Skipped(task=task.name, reason=_reason(lacking))
                    for task in suite.tasks
                    if (lacking := [need for need in task.needs if need not in here])
                )
                out = {item.task for item in self.skipped}
                possible = tuple(task for task in suite.tasks if task.name not in out)
                return await self._work(run_id, plan, replace(suite, tasks=possible), listen, bench)

    async def _work(
        self, run_id: str, plan: LabPlan, suite: Suite, listen: Listener, bench: Bench
    ) -> str:
        store = self._store
        done = [trial for trial in store.of_run(run_id) if not trial.broken]
        left = slots(plan, suite, {trial.key for trial in done})
        store.set_status(run_id, "running")
        listen(progress(done, left, None))
        why = ""
        try:
            while left:
                why = exhausted(plan.budget, spent(done))
                if why:
                    break
                batch = _batch(left)
                for finished in await _together(bench, batch, run_id):
                    trial = await asyncio.to_thread(self._keep, finished)
                    store.add(trial)
                    done.append(trial)
                    left = [slot for slot in left if slot.key != trial.key]
                    listen(progress(done, left, trial))
        except asyncio.CancelledError:
            store.set_status(run_id, "paused")
            raise
        store.set_status(run_id, "stopped" if why else "done")
        return why

    def _folder(self, run_id: str) -> Path:
        return self._paths.lab / run_id

    def _keep(self, finished: Finished) -> TrialRecord:
        """Write the trajectory; returns the record that names it."""
        trial = finished.record
        name = "_".join(_plain(part) for part in (trial.model_id, trial.mode, trial.task))
        place = self._folder(trial.run_id) / f"{name}_{trial.seed}.json.gz"
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            unfinished = place.with_suffix(".new")
            with gzip.open(unfinished, "wt", encoding="utf-8") as file:
                json.dump(finished.trajectory, file)
            unfinished.replace(place)
        except OSError as error:
            raise AppError(
                f"A trajectory could not be kept: {error}.",
                hint="Free some space on the disk; the run goes on with: drydock eval resume",
            ) from error
        return replace(trial, trajectory=place.relative_to(self._paths.lab).as_posix())


def read_trajectory(paths: Paths, trial: TrialRecord) -> dict[str, Any] | None:
    """Everything about a trial; None when it is not here (an import, or deleted)."""
    if not trial.trajectory:
        return None
    with contextlib.suppress(OSError, ValueError, EOFError):
        with gzip.open(paths.lab / trial.trajectory, "rt", encoding="utf-8") as file:
            found: object = json.load(file)
        return cast("dict[str, Any]", found) if isinstance(found, dict) else None
    return None


def _plain(text: str) -> str:
    return "".join(char if char.isalnum() or char in "-." else "-" for char in text)


def _reason(lacking: Sequence[str]) -> str:
    words = {
        "workspace": "it needs a workspace for shell commands, and there is none on this machine "
        "(drydock doctor says what to do)",
        "network": "it needs the network, which the lab does not give",
    }
    return "; ".join(words.get(need, f"it needs {need}") for need in lacking)


def _batch(left: Sequence[Slot]) -> list[Slot]:
    """The next trials to do at the same time: of one model, one if it runs on this machine."""
    first = left[0].model_id, left[0].mode
    if first[0].startswith("local:") or first[0] in {ORACLE, NOTHING}:
        return [left[0]]
    names: dict[str, Slot] = {}
    for slot in left:
        if (slot.model_id, slot.mode) == first:
            names.setdefault(slot.task.name, slot)
    return list(names.values())[:_AT_ONCE]


async def _together(bench: Bench, batch: Sequence[Slot], run_id: str) -> list[Finished]:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(bench.run(slot, run_id)) for slot in batch]
    return [task.result() for task in tasks]
