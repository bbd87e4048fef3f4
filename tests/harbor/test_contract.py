"""Exported tasks and trajectories are valid by Harbor's own models.

A group of its own, since Harbor pulls a large tree of packages: `.ci/run` installs it aside without
them and runs this folder, which the ordinary run leaves out.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from harbor.models.task.task import Task
from harbor.models.trajectories import Trajectory

from app.lab.atif import to_atif
from app.lab.harbor import export_suite
from app.lab.suite import load_suite, shipped_suites
from app.store.trials import TrialRecord

TRIAL = TrialRecord(
    run_id="r",
    suite="everyday",
    task="sort_by_type",
    capability="files",
    difficulty="easy",
    model_id="local:m",
    mode="code",
    seed=1,
    reward=0.0,
    reason="'a' is missing",
    input_tokens=7,
    money="0.01",
    version="0.1.0",
    at="2026-11-30T00:00:00+00:00",
)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Every shipped task as Harbor gets it."""
    place = tmp_path_factory.mktemp("tasks")
    return [
        task
        for name in shipped_suites()
        for task in export_suite(load_suite(name), place / name, seed=3)
    ]


def test_every_exported_task_is_one_of_harbors(exported: list[Path]) -> None:
    assert len(exported) >= 60
    for folder in exported:
        assert Task.is_valid_dir(folder), folder
        assert Task(folder).instruction.strip()


@pytest.mark.skipif(os.name == "nt", reason="the scripts are for a POSIX shell")
def test_an_exported_task_is_solved_and_judged_by_its_own_scripts(
    exported: list[Path], tmp_path: Path
) -> None:
    for folder in exported[::6]:
        work = tmp_path / folder.name
        (work / "app").mkdir(parents=True)
        shutil.copytree(folder / "environment", work / "task" / "environment")
        kit = folder / "environment" / "kit" / "task_scripts.py"
        made = ["make", str(work / "task"), str(work / "app"), "3"]
        subprocess.run([sys.executable, "-I", str(kit), *made], check=True)
        assert reward(folder, work) == "0", folder
        subprocess.run(
            ["sh", str(folder / "solution" / "solve.sh")], env=surroundings(work), check=True
        )
        assert reward(folder, work) == "1", folder


def surroundings(work: Path) -> dict[str, str]:
    """Where the scripts find things, as Harbor's containers have them at fixed places."""
    return {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "TASK_FOLDER": str(work / "app"),
        "REWARD_FILE": str(work / "reward.txt"),
    }


def reward(folder: Path, work: Path) -> str:
    """What the task's own test script says."""
    subprocess.run(["sh", str(folder / "tests" / "test.sh")], env=surroundings(work), check=True)
    return (work / "reward.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "programs",
    [
        [],
        [{"source": "print(1)", "printed": "1", "error": None}],
        [
            {"source": "x", "error": {"type": "NameError", "message": "x", "line": 1}},
            {"source": "print(2)", "printed": "", "value": "2", "error": None},
        ],
    ],
)
def test_a_trajectory_is_one_of_atifs(programs: list[dict[str, object]]) -> None:
    turn = {"programs": programs, "answer": "2"}
    document = to_atif(TRIAL, {"instruction": "Count.", "turn": turn})
    found = Trajectory.model_validate(document)
    assert len(found.steps) == len(programs) + 2
