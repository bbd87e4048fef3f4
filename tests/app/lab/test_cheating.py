"""A verifier cannot be passed by a program that goes for the tests, the solution or the reward."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from app.lab.scripts import judge, make_folder
from app.lab.suite import SUITES, load_suite
from tests.app.lab.test_lab import GOOD, LabPlan, go_on, lab_with
from tests.app.lab.test_suite import write_task
from tests.fakes import program_reply

ROOT = Path(__file__).resolve().parents[3]
TASK = next(task for task in load_suite("everyday").tasks if task.name == "sort_by_type")

CHEATS = {
    "edits the tests": "open({tests!r} + '/verify.py', 'w').write('def verify(*a): return None')",
    "reads the solution": "exec(open({solution!r}).read())",
    "copies the solution": "import shutil\nshutil.copy({solution!r}, 'done.txt')",
    "writes the reward": "open('/tmp/reward.json', 'w').write('{{\"reward\": 1.0}}')",
    "writes every reward file it can think of": (
        "for name in ('reward.json', 'reward.txt', 'logs/verifier/reward.txt'):\n"
        "    open(name, 'w').write('1')"
    ),
    "links to the tests": "import os\nos.symlink({tests!r}, 'tests')\n"
    "open('tests/verify.py', 'w').write('def verify(*a): return None')",
    "climbs out": "open('../../suite/t/tests/verify.py', 'w').write('def verify(*a): return None')",
    "brings a module of the verifier's name": (
        "for name in ('task_folder.py', 'verify.py', 'sitecustomize.py', 'json.py'):\n"
        "    open(name, 'w').write('def verify(*a): return None')"
    ),
}


@pytest.mark.parametrize("cheat", CHEATS.values(), ids=CHEATS)
def test_a_cheating_program_gets_no_reward(cheat: str, drydock_home: Path, tmp_path: Path) -> None:
    task = write_task(tmp_path / "suite" / "t")
    before = {path: path.read_bytes() for path in task.rglob("*") if path.is_file()}
    source = cheat.format(tests=str(task / "tests"), solution=str(task / "solution/solution.py"))
    plan = LabPlan(suite=str(tmp_path / "suite"), models=("local:scripted",), trials=1)
    with lab_with(drydock_home, [program_reply(source)] * 9) as (lab, store, _):
        run = lab.begin(plan)
        go_on(lab, run.run_id, plan)
        (trial,) = store.of_run(run.run_id)
    assert trial.programs > 0
    assert trial.reason == "done.txt is missing"
    assert not trial.passed
    assert {path: path.read_bytes() for path in before} == before


def test_the_honest_program_gets_the_reward(drydock_home: Path, tmp_path: Path) -> None:
    write_task(tmp_path / "suite" / "t")
    plan = LabPlan(suite=str(tmp_path / "suite"), models=("local:scripted",), trials=1)
    with lab_with(drydock_home, [GOOD]) as (lab, store, _):
        run = lab.begin(plan)
        go_on(lab, run.run_id, plan)
        assert store.of_run(run.run_id)[0].passed


def test_modules_in_the_judged_folder_are_not_imported(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    make_folder(TASK, folder, 1)
    for name in ("json.py", "task_folder.py", "sitecustomize.py", "pathlib.py"):
        (folder / name).write_text("import os\nos._exit(0)\n", encoding="utf-8")
    assert judge(TASK, folder, 1, {"answer": ""}).reward == 0.0


def test_the_fixture_that_the_verifier_compares_with_is_made_anew(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    make_folder(TASK, folder, 1)
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            path.unlink()
    assert judge(TASK, folder, 1, {"answer": ""}).reward == 0.0


def test_scripts_tell_a_broken_task_from_a_wrong_result(tmp_path: Path) -> None:
    kit = SUITES / "kit" / "task_scripts.py"
    task = write_task(tmp_path / "t")
    (tmp_path / "w").mkdir()
    words = [sys.executable, "-I", str(kit), "judge", str(task), str(tmp_path / "w"), "1"]
    told, reward = tmp_path / "result.json", tmp_path / "reward.json"
    told.write_text("{}", encoding="utf-8")
    done = subprocess.run([*words, str(told), str(reward)], capture_output=True, check=False)
    assert done.returncode == 0
    assert json.loads(reward.read_text())["reason"] == "done.txt is missing"
    told.write_text("not JSON", encoding="utf-8")
    done = subprocess.run([*words, str(told), str(reward)], capture_output=True, check=False)
    assert done.returncode == 2
