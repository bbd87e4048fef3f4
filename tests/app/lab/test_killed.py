"""A lab that is killed in the middle goes on and comes to the totals of one that was not."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.errors import AppError
from app.lab.lock import status_of, working_on
from app.lab.report import report
from app.paths import Paths
from app.store.database import open_database
from app.store.trials import LabRun, TrialRecord, TrialStore
from tests.app.lab.test_suite import write_task

ROOT = Path(__file__).resolve().parents[3]
TRIALS = 9


@contextmanager
def lab_process(home: Path, suite: Path, run_id: str) -> Iterator[subprocess.Popen[str]]:
    """A lab run as a process, killed at the end if it is still there."""
    words = [sys.executable, "-m", "tests.app.lab.lab_process", str(home), str(suite), run_id]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def until(process: subprocess.Popen[str], done: int) -> None:
    """Read on until so many trials are done."""
    assert process.stdout is not None
    for line in process.stdout:
        if int(line) >= done:
            return
    raise AssertionError("the lab ended by itself")


def stored(home: Path, run_id: str) -> tuple[LabRun, list[TrialRecord]]:
    """A run and its trials."""
    database = open_database(Paths(home=home).store)
    try:
        return TrialStore(database).run(run_id), TrialStore(database).of_run(run_id)
    finally:
        database.close()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no kill -9 here")
def test_a_killed_lab_is_interrupted_goes_on_and_comes_to_the_same_totals(
    drydock_home: Path, tmp_path: Path
) -> None:
    for name in ("a", "b", "c"):
        write_task(tmp_path / "suite" / name)
    with lab_process(drydock_home, tmp_path / "suite", "whole") as process:
        until(process, TRIALS)
        assert process.wait() == 0
    with lab_process(drydock_home, tmp_path / "suite", "killed") as process:
        until(process, 4)
        assert status_of(Paths(home=drydock_home), stored(drydock_home, "killed")[0]) == "running"
        process.send_signal(signal.SIGKILL)
        process.wait()
    run, half = stored(drydock_home, "killed")
    assert status_of(Paths(home=drydock_home), run) == "interrupted"
    assert 4 <= len(half) < TRIALS
    with lab_process(drydock_home, tmp_path / "suite", "killed") as process:
        until(process, TRIALS)
        assert process.wait() == 0
    run, trials = stored(drydock_home, "killed")
    whole = stored(drydock_home, "whole")[1]
    assert status_of(Paths(home=drydock_home), run) == "done"
    assert trials[: len(half)] == half
    assert totals(trials) == totals(whole)
    assert totals(whole)[0] == [("c", 3, 2), ("b", 3, 2), ("a", 3, 2)][::-1]


def totals(trials: list[TrialRecord]) -> tuple[object, ...]:
    """What must not depend on when trials were done."""
    names = sorted({trial.task for trial in trials})
    per_task = [
        (name, len(some), sum(trial.passed for trial in some))
        for name in names
        for some in [[trial for trial in trials if trial.task == name]]
    ]
    (model,) = report(sorted(trials, key=lambda trial: (trial.seed, trial.task)))
    return (
        per_task,
        model.pass_at,
        model.pass_interval,
        model.overall.passed,
        sum(trial.input_tokens + trial.output_tokens for trial in trials),
        sum(trial.programs for trial in trials),
    )


def test_two_processes_do_not_work_on_one_run(drydock_home: Path) -> None:
    paths = Paths(home=drydock_home)
    with (
        working_on(paths, "r"),
        pytest.raises(AppError, match="Another process"),
        working_on(paths, "r"),
    ):
        pass
    with working_on(paths, "r"):
        pass
