"""`drydock eval`: runs the lab, goes on with a run, reports, and exports.

JSON of `eval run`, `eval resume` and `eval report` (version 1): ``run_id``, ``suite``, ``status``
(``done``, ``stopped``), ``stopped`` (why, or empty), ``trials``, ``broken``, ``skipped`` (what
cannot be done on this machine, each with ``task`` and ``reason``), ``models`` (each with
``model``, ``mode``, ``trials``, ``passed``, ``pass_rate``, ``pass_at_k``, ``interval``, ``tokens``,
``money``, ``seconds``, ``valid_programs``, ``capabilities``), ``comparisons`` (plain sentences),
``report`` (the path of the full report). Thread: the command line's only thread, in asyncio.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from pathlib import Path

from app.cli import EXIT_DONE, EXIT_FAILED, print_json, say
from app.errors import AppError, UsageError
from app.lab.atif import to_atif
from app.lab.causes import causes
from app.lab.harbor import export_suite
from app.lab.html import comparisons, to_html
from app.lab.lab import Lab, Skipped, read_trajectory
from app.lab.lock import status_of
from app.lab.plan import NOTHING, ORACLE, Budget, LabPlan, Progress, plan_from
from app.lab.report import report, to_csv, to_json
from app.lab.suite import Suite, load_suite, select, shipped_suites
from app.log import start_log
from app.paths import Paths, open_home
from app.settings import load_settings
from app.store.chats import new_id
from app.store.database import open_database
from app.store.trials import TrialRecord, TrialStore
from models.catalog import load_catalog
from models.library import require_model


@asynccontextmanager
async def _opened() -> AsyncGenerator[tuple[Paths, TrialStore]]:
    paths = open_home()
    start_log(paths.logs)
    database = open_database(paths.store)
    try:
        yield paths, TrialStore(database)
    finally:
        database.close()


async def run_eval(args: argparse.Namespace) -> int:
    """`drydock eval run`."""
    plan = LabPlan(
        suite=args.suite,
        models=tuple(dict.fromkeys(args.model)),
        tasks=tuple(args.task),
        modes=tuple(dict.fromkeys(args.mode)) or ("code",),
        trials=args.trials,
        seed=args.seed,
        budget=Budget(
            tokens=args.budget_tokens,
            money=_money(args.budget_money),
            seconds=args.budget_seconds,
        ),
    )
    if not plan.models:
        raise UsageError("Say which model to measure.", hint="--model ID, as often as needed")
    if plan.trials < 1:
        raise UsageError("At least one trial is needed.", hint="--trials 3")
    async with _opened() as (paths, store):
        _check_models(plan, paths)
        lab = Lab(paths, load_settings(paths.settings), store)
        run_id = new_id()
        suite = await asyncio.to_thread(lab.suite, plan, run_id, trusted=args.trust_suite)
        lab.begin(plan, run_id)
        say(f"Lab run {run_id}; go on with it after a stop: drydock eval resume {run_id}")
        return await _go_on(lab, store, paths, run_id, suite, plan, args)


async def resume_eval(args: argparse.Namespace) -> int:
    """`drydock eval resume`."""
    async with _opened() as (paths, store):
        run = store.run(args.run_id)
        lab = Lab(paths, load_settings(paths.settings), store)
        plan = plan_from(run.plan)
        suite = await asyncio.to_thread(lab.suite, plan, run.run_id, trusted=args.trust_suite)
        return await _go_on(lab, store, paths, run.run_id, suite, plan, args)


async def _go_on(
    lab: Lab,
    store: TrialStore,
    paths: Paths,
    run_id: str,
    suite: Suite,
    plan: LabPlan,
    args: argparse.Namespace,
) -> int:
    for invalid in suite.invalid:
        say(f"Left out: {invalid.name}: {invalid.reason}")
    listen = _tell_machine if args.progress else _tell
    why = await lab.go_on(run_id, plan, suite, listen)
    for item in lab.skipped:
        say(f"Skipped: {item.task}: {item.reason}.")
    if why:
        say(f"Stopped: {why}. What was measured counts.")
    trials = store.of_run(run_id)
    return await _report(run_id, plan.suite, trials, paths, args.json, why, lab.skipped)


def _tell(state: Progress) -> None:
    left = "" if state.seconds_left is None else f", about {_duration(state.seconds_left)} left"
    trial = state.latest
    if trial is None:
        say(f"{state.done} of {state.total} trials are done{left}")
        return
    word = "broken" if trial.broken else "pass" if trial.passed else "FAIL"
    say(
        f"{state.done}/{state.total} {word:6} {trial.model_id} {trial.task} seed {trial.seed}"
        f" {trial.seconds:.0f} s{left}{': ' + trial.reason[:160] if trial.reason else ''}"
    )


def _tell_machine(state: Progress) -> None:
    """A line of JSON for each trial, for who started this process."""
    print_json(
        {
            "done": state.done,
            "total": state.total,
            "passed": state.passed,
            "seconds_left": state.seconds_left,
        }
    )


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes < 1:
        return "a minute"
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


async def show_report(args: argparse.Namespace) -> int:
    """`drydock eval report`: of one run, or of all trials on this machine."""
    async with _opened() as (paths, store):
        if args.run_id:
            run = store.run(args.run_id)
            trials, name = store.of_run(run.run_id), run.suite
        else:
            trials, name = store.all(), "all suites"
        if args.export:
            await asyncio.to_thread(_export, paths, trials, name, Path(args.export), args.format)
        return await _report(args.run_id or "", name, trials, paths, args.json, "")


async def _report(
    run_id: str,
    suite: str,
    trials: list[TrialRecord],
    paths: Paths,
    as_json: bool,
    why: str,
    skipped: Sequence[Skipped] = (),
) -> int:
    models = report(trials)
    words = comparisons(models, trials)
    page = paths.lab / (run_id or "all") / "report.html"
    await asyncio.to_thread(_write, page, to_html(f"Drydock lab: {suite}", models, trials))
    for item in models:
        low, high = (100 * end for end in (item.pass_interval.low, item.pass_interval.high))
        say(
            f"{item.model_id} ({item.mode}): {item.overall.passed} of {item.overall.trials} passed,"
            f" {100 * item.overall.rate:.0f} % ({low:.0f} to {high:.0f} %),"
            f" {item.overall.tokens:,.0f} tokens and {item.overall.seconds:.1f} s a task"
        )
        for cell in item.cells:
            say(f"    {cell.capability:10} {cell.passed:3} of {cell.trials:3}")
    for text in words:
        say(text)
    broken = sum(trial.broken for trial in trials)
    if broken:
        say(f"{broken} trials were broken by a fault that is not the model's; they do not count.")
    say(f"The full report: {page}")
    if as_json:
        print_json(
            {
                "version": 1,
                "run_id": run_id,
                "suite": suite,
                "status": "stopped" if why else "done",
                "stopped": why,
                "trials": len(trials),
                "broken": broken,
                "skipped": [{"task": item.task, "reason": item.reason} for item in skipped],
                "models": to_json(models),
                "comparisons": words,
                "report": str(page),
            }
        )
    return EXIT_FAILED if broken and broken == len(trials) else EXIT_DONE


async def list_eval(args: argparse.Namespace) -> int:
    """`drydock eval list`: the suites and the runs so far."""
    suites = [await asyncio.to_thread(load_suite, name) for name in shipped_suites()]
    async with _opened() as (paths, store):
        runs = [replace(run, status=status_of(paths, run)) for run in store.runs()]
    for suite in suites:
        say(f"{suite.name}: {suite.title}, {len(suite.tasks)} tasks")
    for run in runs:
        say(f"{run.run_id}  {run.status:11} {run.started:%Y-%m-%d %H:%M}  {run.suite}")
    if args.json:
        print_json(
            {
                "version": 1,
                "suites": [
                    {"name": s.name, "title": s.title, "tasks": [t.name for t in s.tasks]}
                    for s in suites
                ],
                "runs": [
                    {
                        "run_id": run.run_id,
                        "suite": run.suite,
                        "status": run.status,
                        "started": run.started.isoformat(),
                    }
                    for run in runs
                ],
            }
        )
    return EXIT_DONE


async def show_causes(args: argparse.Namespace) -> int:
    """`drydock eval causes`: why the trials of a run failed, the commonest first."""
    async with _opened() as (paths, store):
        run = store.run(args.run_id)
        failed = [t for t in store.of_run(run.run_id) if not t.passed and not t.broken]
        found = await asyncio.to_thread(
            lambda: causes([(trial, read_trajectory(paths, trial)) for trial in failed])
        )
    for cause in found:
        say(f"{len(cause.trials):4}  {cause.text}")
        for trial in cause.trials[:3]:
            say(f"        {trial.model_id} {trial.task} seed {trial.seed}: {trial.reason[:120]}")
    if args.json:
        items = [
            {
                "kind": cause.kind,
                "text": cause.text,
                "example": cause.example,
                "trials": [list(trial.key) for trial in cause.trials],
            }
            for cause in found
        ]
        print_json({"version": 1, "run_id": run.run_id, "causes": items})
    return EXIT_DONE


async def export_tasks(args: argparse.Namespace) -> int:
    """`drydock eval export`: a suite as tasks that Harbor itself can run."""
    suite = select(await asyncio.to_thread(load_suite, args.suite), args.task)
    written = await asyncio.to_thread(export_suite, suite, Path(args.folder), seed=args.seed)
    say(f"{len(written)} tasks are in {args.folder}")
    return EXIT_DONE


def _export(paths: Paths, trials: list[TrialRecord], name: str, target: Path, form: str) -> None:
    match form:
        case "csv":
            _write(target, to_csv(trials))
        case "json":
            _write(target, json.dumps(to_json(report(trials)), indent=2) + "\n")
        case "html":
            _write(target, to_html(f"Drydock lab: {name}", report(trials), trials))
        case _:
            for trial in trials:
                found = read_trajectory(paths, trial)
                if found is not None:
                    place = target / f"{Path(trial.trajectory).name.removesuffix('.json.gz')}.json"
                    _write(place, json.dumps(to_atif(trial, found), indent=1) + "\n")
    say(f"Written: {target}")


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise AppError(
            f"{path} cannot be written: {error.strerror}.", hint="Name another place."
        ) from error


def _check_models(plan: LabPlan, paths: Paths) -> None:
    """Raises: `UsageError` for an unknown local model; `ModelError` when it is not here."""
    catalog = load_catalog()
    known = [f"local:{entry.id}" for entry in catalog.entries]
    for model_id in plan.models:
        if model_id in {ORACLE, NOTHING} or not model_id.startswith("local:"):
            continue
        if model_id not in known:
            choices = ", ".join((*known, ORACLE, NOTHING))
            raise UsageError(f"There is no model named {model_id}.", hint=f"Choose: {choices}")
        require_model(paths.models, catalog.get(model_id.removeprefix("local:")))


def _money(text: str | None) -> Decimal | None:
    if text is None:
        return None
    try:
        money = Decimal(text)
    except InvalidOperation as error:
        raise UsageError(f"{text} is not an amount of US dollars.") from error
    if not money.is_finite() or money < 0:
        raise UsageError(f"{text} is not an amount of US dollars.")
    return money
