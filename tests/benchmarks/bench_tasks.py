"""How many ordinary file tasks does a model solve here? Runs the suite through the command line.

    python tests/benchmarks/bench_tasks.py --model local:qwen2.5-coder-1.5b --out results
    python tests/benchmarks/bench_tasks.py --oracle      every solution through `drydock exec`
    python tests/benchmarks/bench_tasks.py --nothing     untouched folders: all must fail

Each trial gets a fresh folder, the run is approved in full, and the task's verifier decides. One
line per trial goes to standard output, then one JSON object with the pass rate. `--out FOLDER`
keeps `trials.jsonl` (programs, errors, answers: what is needed to study a failure) and
`summary.json`. Models are kept in DRYDOCK_HOME, or where the tests keep theirs.
Exit codes: 0 measured; 1 an oracle failed, or doing nothing passed; 2 usage.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from task_suite import Snapshot, Task, load_tasks

REPOSITORY = Path(__file__).resolve().parents[2]
DEFAULT_HOME = Path.home() / ".cache" / "drydock-tests"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is run: `model` is a model's id, ``oracle`` or ``nothing``; seeds count up."""

    model: str
    trials: int
    seed: int
    timeout_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One run of one task. `reason` is empty when it passed; `tokens`: prompt and completion."""

    task: str
    seed: int
    passed: bool
    reason: str
    tries: int
    tokens: int
    seconds: float
    exit_code: int
    result: Mapping[str, Any] = field(default_factory=dict)
    messages: str = ""


def run_trial(task: Task, seed: int, plan: Plan) -> Trial:
    """Make the folder, do the task in it, let the verifier decide."""
    with tempfile.TemporaryDirectory(prefix="drydock-task-") as scratch:
        folder = Path(scratch) / "files"
        folder.mkdir()
        task.make(folder, seed)
        before = Snapshot.take(folder)
        started_s = time.monotonic()
        exit_code, result, messages = _do(task, seed, folder, plan)
        seconds = time.monotonic() - started_s
        reason = _reason(task, before, folder, result, messages)
    return Trial(
        task=task.name,
        seed=seed,
        passed=not reason,
        reason=reason,
        tries=len(result.get("programs") or ()),
        tokens=_tokens(result),
        seconds=round(seconds, 1),
        exit_code=exit_code,
        result=result,
        messages=messages,
    )


def _do(task: Task, seed: int, folder: Path, plan: Plan) -> tuple[int, dict[str, Any], str]:
    """Run the command line on `folder`; its exit code, JSON result and messages."""
    if plan.model == "nothing":
        return 0, {"answer": ""}, ""
    what = ["exec", str(task.solution)]
    if plan.model != "oracle":
        what = ["run", task.instruction, "--model", plan.model, "--seed", str(seed)]
    command = [sys.executable, "-m", "app", *what, "--folder", str(folder)]
    environment = {"DRYDOCK_HOME": str(DEFAULT_HOME), **os.environ, "PYTHONIOENCODING": "utf-8"}
    try:
        done = subprocess.run(
            [*command, "--approve", "all", "--json"],
            cwd=REPOSITORY,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=plan.timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return -1, {}, f"not done within {plan.timeout_s:g} s"
    return done.returncode, _last_json(done.stdout), done.stderr[-4000:]


def _last_json(output: str) -> dict[str, Any]:
    lines = output.strip().splitlines()
    try:
        result = json.loads(lines[-1]) if lines else {}
    except json.JSONDecodeError:
        return {}
    return result if isinstance(result, dict) else {}


def _reason(
    task: Task, before: Snapshot, folder: Path, result: Mapping[str, Any], messages: str
) -> str:
    """Why the trial failed, or empty. The verifier decides; a run's own error explains."""
    if not result:
        return f"no result: {(messages.strip().splitlines() or ['nothing was printed'])[-1]}"
    reason = task.verify(before, folder, result) or ""
    error = result.get("error")
    if reason and error:
        text = error.get("message") if isinstance(error, dict) else error
        return f"{reason} [{text}]"
    return reason


def _tokens(result: Mapping[str, Any]) -> int:
    usage = result.get("usage") or {}
    return sum(int(usage.get(name) or 0) for name in ("prompt_tokens", "completion_tokens"))


def _line(trial: Trial) -> str:
    word = "pass" if trial.passed else "FAIL"
    facts = f"{trial.tries} tries {trial.tokens:6} tokens {trial.seconds:6.1f} s"
    return f"{word} {trial.task:24} seed {trial.seed} {facts}  {trial.reason[:300]}".rstrip()


def summarise(trials: Sequence[Trial], model: str) -> dict[str, Any]:
    """The pass rate and what it cost, per task too."""
    passed = sum(trial.passed for trial in trials)
    per_task: dict[str, list[int]] = {}
    for trial in trials:
        counts = per_task.setdefault(trial.task, [0, 0])
        counts[0] += trial.passed
        counts[1] += 1
    return {
        "model": model,
        "passed": passed,
        "trials": len(trials),
        "pass_rate": round(passed / len(trials), 4) if trials else 0.0,
        "tokens": sum(trial.tokens for trial in trials),
        "seconds": round(sum(trial.seconds for trial in trials), 1),
        "tasks": {name: f"{good}/{count}" for name, (good, count) in sorted(per_task.items())},
    }


def _run_all(tasks: Sequence[Task], plan: Plan, jobs: int) -> Iterator[Trial]:
    work = [(task, plan.seed + number) for number in range(plan.trials) for task in tasks]
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        yield from pool.map(lambda item: run_trial(item[0], item[1], plan), work)


def _keep(trials: Iterable[Trial], out: Path | None) -> list[Trial]:
    """Print each trial as it comes, and write it down at once when there is a place for it."""
    kept: list[Trial] = []
    for trial in trials:
        kept.append(trial)
        print(_line(trial), flush=True)
        if out is not None:
            with (out / "trials.jsonl").open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(trial), ensure_ascii=False) + "\n")
    return kept


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure a model on ordinary file tasks.")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--model", default="local:qwen2.5-coder-1.5b", metavar="ID")
    what.add_argument("--oracle", action="store_true", help="run the solutions")
    what.add_argument("--nothing", action="store_true", help="do nothing")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="repeatable")
    parser.add_argument("--trials", type=int, default=1, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="S")
    parser.add_argument("--jobs", type=int, default=1, metavar="N")
    parser.add_argument("--timeout", type=float, default=900.0, metavar="SECONDS")
    parser.add_argument("--out", type=Path, metavar="FOLDER")
    options = parser.parse_args(arguments)
    if options.trials < 1 or options.jobs < 1:
        parser.error("--trials and --jobs must be at least 1")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the suite; see the file's docstring."""
    options = _parse(arguments)
    model = "oracle" if options.oracle else "nothing" if options.nothing else options.model
    try:
        tasks = load_tasks(options.only)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "trials.jsonl").unlink(missing_ok=True)
    plan = Plan(model=model, trials=options.trials, seed=options.seed, timeout_s=options.timeout)
    trials = _keep(_run_all(tasks, plan, options.jobs), options.out)
    summary = summarise(trials, model)
    if options.out is not None:
        text = json.dumps(summary, indent=2) + "\n"
        (options.out / "summary.json").write_text(text, encoding="utf-8")
    print(json.dumps(summary))
    return int(
        (model == "oracle" and summary["passed"] < summary["trials"])
        or (model == "nothing" and summary["passed"] > 0)
    )


if __name__ == "__main__":
    raise SystemExit(main())
