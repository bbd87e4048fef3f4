"""Runs of the lab with a scripted model behind the real engine, stage and verifiers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from app.errors import UsageError
from app.lab.lab import Lab, read_trajectory
from app.lab.plan import Budget, LabPlan, Progress
from app.lab.report import report
from app.lab.trial import Bench
from app.paths import Paths
from app.settings import ModelSettings, Settings
from app.store.database import open_database
from app.store.trials import TrialRecord, TrialStore
from tests.app.lab.test_suite import write_task
from tests.fakes import ScriptedModels, program_reply

GOOD = program_reply("open('done.txt', 'w').write('done')")
BAD = program_reply("open('else.txt', 'w').write('done')")


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """Three small tasks."""
    for name in ("a", "b", "c"):
        write_task(tmp_path / "suite" / name)
    return tmp_path / "suite"


@contextmanager
def lab_with(home: Path, replies: list[str | Exception]) -> Iterator[tuple[Lab, TrialStore, Paths]]:
    """A lab whose model says these replies, in order."""
    paths = Paths(home=home)
    database = open_database(paths.store)
    store = TrialStore(database)
    models = ScriptedModels(*replies)

    def bench(paths: Paths, settings: Settings) -> Bench:
        return Bench(paths, settings, models=models)

    try:
        settings = Settings(model=ModelSettings(tries=1))
        yield Lab(paths, settings, store, make_bench=bench), store, paths
    finally:
        database.close()


def go_on(lab: Lab, run_id: str, plan: LabPlan, seen: list[Progress] | None = None) -> str:
    """Do what is left of a run."""
    suite = lab.suite(plan, run_id, trusted=True)

    async def work() -> str:
        async with asyncio.timeout(60):
            listen = (seen if seen is not None else []).append
            return await lab.go_on(run_id, plan, suite, listen)

    return asyncio.run(work())


def measured(trials: list[TrialRecord]) -> list[tuple[str, int, float]]:
    """What must not depend on when a trial was done."""
    return sorted((trial.task, trial.seed, trial.reward) for trial in trials)


def test_a_run_measures_every_task_and_keeps_its_trajectory(
    drydock_home: Path, suite: Path
) -> None:
    plan = LabPlan(suite=str(suite), models=("local:scripted",), trials=1)
    with lab_with(drydock_home, [GOOD, BAD, GOOD]) as (lab, store, paths):
        run = lab.begin(plan)
        seen: list[Progress] = []
        assert go_on(lab, run.run_id, plan, seen) == ""
        trials = store.of_run(run.run_id)
        assert [trial.reward for trial in trials] == [1.0, 0.0, 1.0]
        assert trials[1].reason == "done.txt is missing"
        assert (trials[0].programs, trials[0].valid, trials[0].asked) == (1, 1, 1)
        assert trials[0].output_tokens > 0
        trajectory = read_trajectory(paths, trials[0])
        assert trajectory is not None
        assert "done.txt" in trajectory["turn"]["programs"][0]["source"]
        assert (seen[-1].done, seen[-1].total, seen[-1].passed) == (3, 3, 2)
        assert store.run(run.run_id).status == "done"
        (model,) = report(trials)
        assert model.overall.passed == 2


def test_trials_leave_nothing_in_the_persons_chats(drydock_home: Path, suite: Path) -> None:
    plan = LabPlan(suite=str(suite), models=("local:scripted",), trials=1)
    with lab_with(drydock_home, [GOOD] * 3) as (lab, _, paths):
        go_on(lab, lab.begin(plan).run_id, plan)
        assert not (paths.home / "undo").exists()
        database = open_database(paths.store)
        assert database.rows("SELECT * FROM turns") == []
        database.close()


def test_a_run_that_was_stopped_goes_on_without_repeating_a_trial(
    drydock_home: Path, suite: Path
) -> None:
    plan = LabPlan(suite=str(suite), models=("nothing", "oracle"), trials=2)
    with lab_with(drydock_home, []) as (lab, store, _):
        whole = lab.begin(plan)
        go_on(lab, whole.run_id, plan)
        run = lab.begin(plan)

        async def stop_in_the_middle() -> None:
            chosen = lab.suite(plan, run.run_id, trusted=True)
            at = asyncio.Event()
            task = asyncio.create_task(
                lab.go_on(run.run_id, plan, chosen, lambda p: at.set() if p.done == 4 else None)
            )
            await at.wait()
            task.cancel()
            await asyncio.wait([task])

        asyncio.run(stop_in_the_middle())
        half = store.of_run(run.run_id)
        assert store.run(run.run_id).status == "paused"
        assert 4 <= len(half) < 12
        go_on(lab, run.run_id, plan)
        trials = store.of_run(run.run_id)
        assert trials[: len(half)] == half
        assert measured(trials) == measured(store.of_run(whole.run_id))


def test_a_budget_stops_before_the_next_trial(drydock_home: Path, suite: Path) -> None:
    budget = Budget(tokens=1)
    plan = LabPlan(suite=str(suite), models=("local:scripted",), trials=1, budget=budget)
    with lab_with(drydock_home, [GOOD] * 3) as (lab, store, _):
        run = lab.begin(plan)
        assert "1 tokens" in go_on(lab, run.run_id, plan)
        assert len(store.of_run(run.run_id)) == 1
        more = replace(plan, budget=Budget())
        assert go_on(lab, run.run_id, more) == ""
        assert len(store.of_run(run.run_id)) == 3


def test_a_verifier_that_fails_makes_a_broken_trial_that_counts_for_nothing(
    drydock_home: Path, tmp_path: Path
) -> None:
    task = write_task(tmp_path / "suite" / "t")
    (task / "tests" / "verify.py").write_text("def verify(*a):\n    raise KeyError('x')\n")
    plan = LabPlan(suite=str(tmp_path / "suite"), models=("oracle",), trials=1)
    with lab_with(drydock_home, []) as (lab, store, _):
        run = lab.begin(plan)
        go_on(lab, run.run_id, plan)
        (trial,) = store.of_run(run.run_id)
        assert trial.broken
        assert "KeyError" in trial.reason
        assert report([trial]) == []
        write_task(tmp_path / "suite" / "t")
        go_on(lab, run.run_id, plan)
        (again,) = store.of_run(run.run_id)
        assert not again.broken


def test_scripts_of_a_foreign_suite_run_only_when_it_is_trusted(
    drydock_home: Path, suite: Path
) -> None:
    plan = LabPlan(suite=str(suite), models=("oracle",))
    with lab_with(drydock_home, []) as (lab, _, _):
        with pytest.raises(UsageError, match="your rights") as error:
            lab.suite(plan, "r")
        assert "--trust-suite" in error.value.hint


def test_an_error_inside_drydock_breaks_the_trial_and_it_is_run_again(
    drydock_home: Path, suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = LabPlan(suite=str(suite), models=("local:scripted",), tasks=("a",), trials=1)
    with lab_with(drydock_home, [RuntimeError("ours"), GOOD, GOOD]) as (lab, store, _):
        run = lab.begin(plan)
        go_on(lab, run.run_id, plan)
        (trial,) = store.of_run(run.run_id)
        assert trial.broken
        assert "RuntimeError: ours" in trial.reason
        assert report([trial]) == []
        with monkeypatch.context() as patched:
            patched.setattr("app.lab.trial.judge", lambda *_: 1 / 0)
            go_on(lab, run.run_id, plan)
        (trial,) = store.of_run(run.run_id)
        assert trial.broken
        assert "ZeroDivisionError" in trial.reason
        go_on(lab, run.run_id, plan)
        (trial,) = store.of_run(run.run_id)
        assert (trial.broken, trial.passed) == (False, True)


def test_a_task_that_needs_what_is_not_here_is_skipped_with_the_reason(
    drydock_home: Path, suite: Path
) -> None:
    write_task(suite / "d", toml='[metadata]\ncapability = "shell"\nneeds = ["workspace"]\n')
    plan = LabPlan(suite=str(suite), models=("oracle",), tasks=("c", "d"), trials=1)
    with lab_with(drydock_home, []) as (lab, store, _):
        run = lab.begin(plan)
        chosen = lab.suite(plan, run.run_id, trusted=True)
        for here, tasks in (((), ["c"]), (("workspace",), ["c", "d"])):
            asyncio.run(lab.go_on(run.run_id, plan, chosen, lambda _: None, here=here))
            assert [trial.task for trial in store.of_run(run.run_id)] == tasks
            assert [item.task for item in lab.skipped] == ([] if here else ["d"])
            assert all("workspace" in item.reason for item in lab.skipped)
