"""The three ways of working over the same tasks: code, tool calls, and plain code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.lab.html import comparisons
from app.lab.lab import read_trajectory
from app.lab.plan import LabPlan, plan_from
from app.lab.report import report
from tests.app.lab.test_lab import GOOD, go_on, lab_with
from tests.app.lab.test_suite import write_task
from tests.fakes import program_reply


def call(name: str, **arguments: object) -> str:
    """A reply that makes a call as Qwen's template has it."""
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """One small task."""
    write_task(tmp_path / "suite" / "a")
    return tmp_path / "suite"


def test_tool_calls_work_on_the_same_stage_and_are_judged_the_same(
    drydock_home: Path, suite: Path
) -> None:
    plan = LabPlan(suite=str(suite), models=("local:scripted",), modes=("tools",), trials=1)
    replies: list[str | Exception] = [
        call("read_file", path="a.txt"),
        'Now I write it.\n```json\n{"name": "write_file", "parameters": '
        '{"path": "done.txt", "text": "done"}}\n```',
        "It is done.",
    ]
    with lab_with(drydock_home, replies) as (lab, store, paths):
        run = lab.begin(plan)
        assert go_on(lab, run.run_id, plan) == ""
        (trial,) = store.of_run(run.run_id)
        assert (trial.reward, trial.mode, trial.reason) == (1.0, "tools", "")
        assert (trial.programs, trial.valid, trial.asked) == (2, 2, 1)
        assert trial.output_tokens > 0
        assert trial.seconds > 0
        trajectory = read_trajectory(paths, trial)
        assert trajectory is not None
        assert [p["printed"].strip() for p in trajectory["turn"]["programs"]] == ["1", "Done."]
        assert trajectory["turn"]["answer"] == "It is done."


def test_a_call_that_fails_is_told_and_the_model_goes_on(drydock_home: Path, suite: Path) -> None:
    plan = LabPlan(suite=str(suite), models=("local:scripted",), modes=("tools",), trials=1)
    replies: list[str | Exception] = [
        call("read_file", path="nowhere.txt"),
        call("no_such_tool", path="x"),
        call("write_file", path="sub/deeper/x.txt", text="x"),
        call("write_file", path="done.txt", text="done"),
        "Done.",
    ]
    with lab_with(drydock_home, replies) as (lab, store, paths):
        run = lab.begin(plan)
        go_on(lab, run.run_id, plan)
        (trial,) = store.of_run(run.run_id)
        assert trial.passed
        assert (trial.programs, trial.valid) == (3, 2)
        found = read_trajectory(paths, trial)
        assert found is not None
        assert found["turn"]["programs"][0]["error"]["type"] == "FileNotFoundError"


def test_a_model_that_makes_the_same_call_again_and_again_is_ended_and_its_work_counts(
    drydock_home: Path, suite: Path
) -> None:
    plan = LabPlan(suite=str(suite), models=("local:scripted",), modes=("tools",), trials=1)
    write = call("write_file", path="done.txt", text="done")
    with lab_with(drydock_home, [write] * 10) as (lab, store, _):
        run = lab.begin(plan)
        go_on(lab, run.run_id, plan)
        (trial,) = store.of_run(run.run_id)
        assert trial.passed
        assert trial.programs == 3


def test_a_model_that_only_talks_is_asked_once_and_fails(drydock_home: Path, suite: Path) -> None:
    plan = LabPlan(suite=str(suite), models=("local:scripted",), modes=("tools",), trials=1)
    with lab_with(drydock_home, ["I cannot."] * 3) as (lab, store, _):
        run = lab.begin(plan)
        go_on(lab, run.run_id, plan)
        (trial,) = store.of_run(run.run_id)
        assert (trial.passed, trial.broken, trial.programs) == (False, False, 0)


def test_plain_code_has_typed_functions_one_retry_and_no_bridge(
    drydock_home: Path, suite: Path
) -> None:
    plan = LabPlan(suite=str(suite), models=("local:scripted",), modes=("naive",), trials=1)
    replies: list[str | Exception] = [
        program_reply("for name in await list_folder('.'):\n    yeild name"),
        program_reply(
            "text = await read_file('a.txt')\nawait write_file('done.txt', text)\nprint('done')"
        ),
    ]
    with lab_with(drydock_home, replies) as (lab, store, _):
        run = lab.begin(plan)
        go_on(lab, run.run_id, plan)
        (trial,) = store.of_run(run.run_id)
        assert (trial.passed, trial.programs, trial.valid) == (True, 2, 1)


def test_plain_code_bridges_nothing_and_does_not_try_a_third_time(
    drydock_home: Path, suite: Path
) -> None:
    plan = LabPlan(suite=str(suite), models=("local:scripted",), modes=("naive",), trials=1)
    missing = program_reply("def f():\n    yield 'x'\nopen('done.txt', 'w').write(next(f()))")
    again = program_reply("class E(ValueError):\n    pass\nopen('done.txt', 'w').write('x')")
    with lab_with(drydock_home, [missing, again, GOOD]) as (lab, store, _):
        run = lab.begin(plan)
        go_on(lab, run.run_id, plan)
        (trial,) = store.of_run(run.run_id)
        assert (trial.passed, trial.broken, trial.programs, trial.valid) == (False, False, 2, 0)


def test_one_run_compares_the_ways_on_the_same_seeds(drydock_home: Path, suite: Path) -> None:
    plan = LabPlan(
        suite=str(suite), models=("local:scripted",), modes=("code", "tools", "naive"), trials=2
    )
    assert plan_from(plan.to_json()) == plan
    calls: list[str | Exception] = [call("write_file", path="done.txt", text="x"), "Done."]
    plain = program_reply("await write_file('done.txt', 'x')")
    with lab_with(drydock_home, [GOOD, GOOD, *calls, *calls, plain, plain]) as (lab, store, _):
        run = lab.begin(plan)
        go_on(lab, run.run_id, plan)
        trials = store.of_run(run.run_id)
        assert [(t.mode, t.seed, t.reward) for t in trials] == [
            (mode, seed, 1.0) for mode in plan.modes for seed in (1, 2)
        ]
        said = comparisons(report(trials), trials)
        assert any("no clear difference" in text and "tool calls" in text for text in said)
        assert any("times the tokens" in text for text in said)
        assert not any(" is better" in text for text in said)


def test_a_plan_of_an_earlier_version_goes_on() -> None:
    data = LabPlan(suite="s", models=("m",)).to_json()
    del data["modes"]
    assert plan_from(data | {"mode": "code"}).modes == ("code",)
