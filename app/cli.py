"""The command line: the same engine without Qt.

``--json`` prints one JSON object as the last line of standard output; everything for people goes
to standard error. Exit codes: 0 done, 1 the task failed or was rejected, 2 usage, 3 waits for
approval, 4 the model could not be used, 5 the sandbox could not be used.

JSON of `run`, `exec`, `runs show`, `runs resume`, `runs undo` and `runs redo` (version 1):
``version``,
``run_id``, ``status`` (``done``, ``failed``, ``rejected``, ``waiting``, ``asking``, ``stopped``,
``interrupted``, ``undone``), ``task``, ``answer``, ``error`` (null or ``{message, hint,
details}``), ``model``, ``folders``, ``programs`` (``source``, ``repaired``, ``notes``, ``tries``,
``error``, ``printed``, ``value``, ``seconds``), ``effects`` (``kind``, ``path``, ``target``,
``bytes``), ``changes`` (as `sandbox.changeset.Change`: ``id``, ``kind``, ``path``, ``target``,
``size_before``, ``size_after``, ``mode``, ``mtime_ns``, ``modified``, ``overwrites``,
``depends_on``, ``evidence`` with ``program_id``, ``line``, ``call``, ...), ``approved`` (ids),
``committed``, ``question`` (null, or what an asking run waits for: ``kind``, ``call``, ``line``,
``effects``, ``reasons``, ``text``, ``choices``, ``so_far``), ``routed`` (why the router chose the
model), ``offer`` (null or ``model_id``, ``line``, ``price``, ``currency``, ``leaves``),
``conflicts``, ``reasons`` (``code``, ``text``, ``data``), ``usage`` (``prompt_tokens``,
``completion_tokens``, ``cached_tokens``, ``thinking_tokens``, ``candidates``, ``agreeing``,
``model_seconds``, ``seconds``,
``money``: decimal text or null where it is not known, ``currency``, ``energy_joules``: null where
it is not known). `runs list`: ``{"runs": [...]}``,
newest first, each with ``run_id``, ``status``, ``started``, ``task``; ``undo`` with ``bytes`` and
``runs``: what is kept to take runs back. `runs show` adds ``patch``: the text changes as a unified
patch, in which a byte that is no UTF-8 stands as a lone surrogate. `runs replay`:
``run_id``, ``same``, ``programs``, ``effects``, ``differences`` (texts).
`runs export`: ``run_id``, ``path``. `runs reset`: ``chat_id``,
``forgotten``: the names that its programs had defined. `vault list`: ``secrets``, each
with ``name``, ``kind``, ``hosts``, ``methods``, ``keep``, ``state`` (``ready`` or what is wrong),
``created``, ``changed``, ``used``, ``uses``; never a value.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import logging
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Generator, Sequence
from typing import Any, NoReturn

from app.errors import AppError, UsageError
from app.log import scrubbed
from models.errors import ModelError
from sandbox.errors import SandboxUnavailableError

Command = Callable[[argparse.Namespace], Coroutine[Any, Any, int]]

EXIT_DONE, EXIT_FAILED, EXIT_WAITS, EXIT_MODEL, EXIT_SANDBOX = 0, 1, 3, 4, 5

_log = logging.getLogger(__name__)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message[0].upper()}{message[1:]}.", hint=self.format_usage().strip())


def build_parser() -> argparse.ArgumentParser:
    """The whole command line as a parser; `command` is the coroutine function to run."""
    parser = _Parser(prog="drydock", description="Get things done on your own files, safely.")
    parser.add_argument("--version", action="store_true", help="print the version")
    parser.add_argument("--offline", action="store_true", help=OFFLINE_HELP)
    commands = parser.add_subparsers(dest="name", metavar="COMMAND")
    _add_run(commands)
    _add_exec(commands)
    _add_runs(commands)
    _add_models(commands)
    _add_grants(commands)
    _add_costs(commands)
    _add_eval(commands)
    _add_vault(commands)
    doctor = commands.add_parser("doctor", help="what this machine can do")
    doctor.add_argument("--json", action="store_true")
    doctor.add_argument("--probe", action="store_true", help="try each way to run shell commands")
    _add_workspaces(commands)
    return parser


OFFLINE_HELP = "make no connection to anything"


def _add_offline(*parsers: argparse.ArgumentParser) -> None:
    """Let ``--offline`` stand behind a command as well."""
    for parser in parsers:
        parser.add_argument(
            "--offline", action="store_true", default=argparse.SUPPRESS, help=OFFLINE_HELP
        )


def _add_workspaces(commands: Any) -> None:
    parser = commands.add_parser("workspaces", help="where the chats' shell commands run")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    listed = actions.add_parser("list", help="each chat's workspace with its size")
    listed.add_argument("--json", action="store_true")
    for name, text in (("reset", "make one as new"), ("delete", "take one away")):
        action = actions.add_parser(name, help=text)
        action.add_argument("chat", metavar="CHAT")


def run(argv: Sequence[str]) -> int:
    """Run a command; returns its exit code. Errors are printed, never raised."""
    as_json = "--json" in argv
    try:
        args = build_parser().parse_args(argv)
        with _offline(wanted=args.offline):
            return asyncio.run(_until_told(_command_of(args)(args)))
    except AppError as error:
        return _report(error, as_json, error.exit_code)
    except ModelError as error:
        return _report(AppError(error.message, hint=error.hint), as_json, EXIT_MODEL)
    except SandboxUnavailableError as error:
        return _report(AppError(error.message, hint=error.hint), as_json, EXIT_SANDBOX)
    except (KeyboardInterrupt, asyncio.CancelledError):
        say("Stopped.")
        return 130
    except BrokenPipeError:
        return EXIT_FAILED
    except Exception as error:
        _log.exception("the command ended by an error of ours")
        text = f"Something went wrong inside Drydock: {type(error).__name__}: {error}"
        return _report(AppError(text, hint="The log file has the details."), as_json, EXIT_FAILED)


@contextlib.contextmanager
def _offline(*, wanted: bool) -> Generator[None]:
    """Make no connection while a command runs, and none in the processes that it starts."""
    if not wanted:
        yield
        return
    from app.engine.offline import VARIABLE

    former = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = "1"
    try:
        yield
    finally:
        os.environ.pop(VARIABLE) if former is None else os.environ.update({VARIABLE: former})


async def _until_told(command: Coroutine[Any, Any, int]) -> int:
    """Run a command; SIGTERM ends it in order, as Ctrl+C does."""
    task = asyncio.create_task(command)
    with contextlib.suppress(NotImplementedError):  # Windows has no such signals
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await task


def say(text: str = "") -> None:
    """Print for people, on standard error."""
    print(scrubbed(text), file=sys.stderr, flush=True)


def print_json(data: dict[str, Any]) -> None:
    """Print the one object of ``--json``."""
    print(json.dumps(data, ensure_ascii=True), flush=True)


def _report(error: AppError, as_json: bool, code: int) -> int:
    say(f"drydock: {error.message}")
    if error.hint:
        say(error.hint)
    if as_json:
        problem = {"message": error.message, "hint": error.hint, "details": ""}
        print_json({"version": 1, "status": "failed", "error": problem})
    return code


def _command_of(args: argparse.Namespace) -> Command:
    """Import the command's module only now: `models list` need not wait for the interpreter."""
    from app import (
        cli_costs,
        cli_grants,
        cli_models,
        cli_run,
        cli_runs,
        cli_vault,
        cli_workspaces,
        doctor,
    )

    match args.name:
        case "run":
            return cli_run.run_task
        case "exec":
            return cli_run.run_program
        case "runs":
            return {
                "list": cli_runs.list_runs,
                "show": cli_runs.show_run,
                "resume": cli_runs.resume_run,
                "undo": cli_runs.undo_run,
                "redo": cli_runs.redo_run,
                "replay": cli_runs.replay_run,
                "export": cli_runs.export_run,
                "reset": cli_runs.reset_session,
            }[args.action]
        case "grants":
            return {
                "list": cli_grants.list_grants,
                "add": cli_grants.add_grant,
                "suggest": cli_grants.suggest_grants,
                "revoke": cli_grants.revoke_grant,
            }[args.action]
        case "models":
            return {
                "list": cli_models.list_models,
                "pull": cli_models.pull_models,
                "import": cli_models.import_models,
                "remove": cli_models.remove_model,
                "probe": cli_models.probe_model,
                "test": cli_costs.test_model,
            }[args.action]
        case "costs":
            return cli_costs.show_costs
        case "eval":
            return _eval_command(args.action)
        case "vault":
            return {
                "list": cli_vault.list_secrets,
                "set": cli_vault.set_secret,
                "remove": cli_vault.remove_secret,
                "test": cli_vault.test_secret,
            }[args.action]
        case "workspaces" | "doctor" as name:
            return cli_workspaces.run_workspaces if name == "workspaces" else doctor.run_doctor
        case _:
            raise UsageError("Say which command.", hint="drydock --help lists them.")


def _eval_command(action: str) -> Command:
    from app import cli_eval

    return {
        "run": cli_eval.run_eval,
        "resume": cli_eval.resume_eval,
        "report": cli_eval.show_report,
        "list": cli_eval.list_eval,
        "causes": cli_eval.show_causes,
        "export": cli_eval.export_tasks,
    }[action]


GRANT_HELP = (
    "allow something beforehand (repeat): commit:new-files; create:COUNT, modify:COUNT, "
    "move:COUNT, delete:COUNT, each with ,bytes=SIZE ,share=PERCENT ,folder=PATH ,runs=TIMES_A_DAY "
    ",until=YYYY-MM-DD; host:NAME[:PORT] to read from it, send:NAME[:PORT] to send to it; "
    "tool:NAME; command:PATTERN. Never covers what the review names as unusual"
).replace("%", "%%")


def _add_grants(commands: Any) -> None:
    grants = commands.add_parser("grants", help="standing grants: list, add, revoke")
    actions = grants.add_subparsers(dest="action", required=True, metavar="ACTION")
    listed = actions.add_parser("list", help="what is allowed without asking, explained")
    listed.add_argument("--json", action="store_true")
    suggested = actions.add_parser("suggest", help="rules that your own approvals suggest")
    suggested.add_argument("--json", action="store_true")
    added = actions.add_parser("add", help="allow something from now on")
    added.add_argument("grant", metavar="KIND:VALUE", help=GRANT_HELP)
    revoked = actions.add_parser("revoke", help="take a grant back")
    revoked.add_argument("grant_id", metavar="ID")


def _add_run(commands: Any) -> None:
    task = commands.add_parser("run", help="do a task on folders")
    task.add_argument("task", nargs="?", default="", metavar="TASK", help="what to do, in words")
    task.add_argument("--demo", action="store_true", help="tidy a copy of the demo folder")
    task.add_argument("--model", default="", metavar="ID", help="e.g. local:qwen2.5-coder-1.5b")
    task.add_argument(
        "--local-only",
        action="store_true",
        help="mark this chat: nothing of it is ever sent to a model elsewhere",
    )
    task.add_argument(
        "--key-stdin",
        action="store_true",
        help="read the remote model's key from standard input, for this run alone",
    )
    task.add_argument("--seed", type=int, default=None, help="make the model's choices repeatable")
    _add_scope(task)
    _add_decision(task)


def _add_exec(commands: Any) -> None:
    program = commands.add_parser("exec", help="run a given program on folders")
    program.add_argument("program", metavar="PROGRAM.py", help="a file, or - for standard input")
    _add_scope(program)
    _add_decision(program)


def _add_scope(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--folder", action="append", default=[], metavar="F", help="a folder to work on (repeat)"
    )
    parser.add_argument(
        "--read-folder", action="append", default=[], metavar="F", help="a folder to read only"
    )
    parser.add_argument(
        "--after",
        default="",
        metavar="RUN",
        help="go on in the chat of an earlier run, with what its programs defined",
    )


def _add_decision(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--approve",
        choices=("ask", "never", "all"),
        default="ask",
        help="ask at the terminal (default), leave the changes waiting, or approve all",
    )
    parser.add_argument(
        "--conflicts",
        choices=("theirs", "ours", "both"),
        default=None,
        help="where the folder changed meanwhile: keep what is there, replace it, or keep both",
    )
    parser.add_argument(
        "--on-fault",
        choices=("take-back", "keep"),
        default="take-back",
        help="where the disk refuses a change: take all back (default), or keep what was applied",
    )
    parser.add_argument(
        "--grant",
        action="append",
        default=[],
        metavar="KIND:VALUE",
        help=GRANT_HELP,
    )
    parser.add_argument("--json", action="store_true")
    _add_offline(parser)


def _add_runs(commands: Any) -> None:
    runs = commands.add_parser("runs", help="earlier runs: list, show, resume, undo, redo")
    actions = runs.add_subparsers(dest="action", required=True, metavar="ACTION")
    listed = actions.add_parser("list", help="the latest runs")
    listed.add_argument("--limit", type=int, default=50)
    listed.add_argument("--json", action="store_true")
    for name, what in (
        ("show", "everything about a run"),
        ("undo", "take a run's changes back"),
        ("redo", "make the changes of an undone run again"),
        ("replay", "run its programs again from their record and compare what they do"),
        ("reset", "forget what programs of the run's chat defined; the next one starts fresh"),
    ):
        action = actions.add_parser(name, help=what)
        action.add_argument("run_id", metavar="ID")
        action.add_argument("--json", action="store_true")
        if name == "show":
            action.add_argument("--patch", action="store_true", help="only its unified patch")
    export = actions.add_parser("export", help="write a run to a zip file that stands for itself")
    export.add_argument("run_id", metavar="ID")
    export.add_argument("path", nargs="?", default="", metavar="FILE.zip")
    export.add_argument("--json", action="store_true")
    resume = actions.add_parser("resume", help="decide on a waiting run, or go on with one")
    resume.add_argument("run_id", metavar="ID")
    _add_decision(resume)
    resume.add_argument("--answer", metavar="TEXT", help="answer what the program asks")
    resume.add_argument(
        "--refuse",
        nargs="?",
        const="",
        metavar="REASON",
        help="refuse what the program asks for; the model is told the reason",
    )
    resume.add_argument(
        "--from-start",
        action="store_true",
        help="run an interrupted run again from its start instead of going on where it was",
    )


def _add_models(commands: Any) -> None:
    models = commands.add_parser("models", help="models: list, pull, import, remove, probe, test")
    actions = models.add_subparsers(dest="action", required=True, metavar="ACTION")
    listed = actions.add_parser("list", help="the models and which are here")
    listed.add_argument("--json", action="store_true")
    taken = actions.add_parser("import", help="use a model file that is on this machine already")
    taken.add_argument("what", metavar="FILE|lm-studio|ollama|huggingface|llama.cpp")
    taken.add_argument("name", nargs="?", default="", help="which of them; a name for a FILE")
    taken.add_argument("--json", action="store_true")
    pull = actions.add_parser("pull", help="download models, one after the other")
    pull.add_argument("model_id", nargs="+", metavar="ID")
    pull.add_argument("--json", action="store_true")
    _add_offline(pull)
    for name, what in (
        ("remove", "delete a model's file"),
        ("probe", "load a model and measure it"),
    ):
        action = actions.add_parser(name, help=what)
        action.add_argument("model_id", metavar="ID")
        action.add_argument("--json", action="store_true")

    test = actions.add_parser("test", help="ask a remote model for a word; says what is wrong")
    test.add_argument("model_id", metavar="ID")
    test.add_argument("--key-stdin", action="store_true", help="read its key from standard input")
    test.add_argument("--json", action="store_true")


def _add_costs(commands: Any) -> None:
    costs = commands.add_parser("costs", help="what models have cost, and what budgets leave")
    costs.add_argument("--since", default="", metavar="DATE", help="from this day on")
    form = costs.add_mutually_exclusive_group()
    form.add_argument("--csv", action="store_true", help="single requests as CSV")
    form.add_argument("--json", action="store_true")


def _add_eval(commands: Any) -> None:
    lab = commands.add_parser("eval", help="the lab: measure what models can do on this machine")
    actions = lab.add_subparsers(dest="action", required=True, metavar="ACTION")
    run = actions.add_parser("run", help="run a suite on models")
    run.add_argument("--suite", default="everyday", metavar="S", help="a name, folder or zip file")
    run.add_argument("--task", action="append", default=[], metavar="T", help="only these tasks")
    run.add_argument("--model", action="append", default=[], metavar="M", help="a model (repeat)")
    run.add_argument(
        "--mode",
        action="append",
        default=[],
        choices=("code", "tools", "naive"),
        help="code (Drydock's way), tools (JSON tool calls), naive (plain code mode); repeat",
    )
    run.add_argument("--trials", type=int, default=3, metavar="K", help="times a task, each seed")
    run.add_argument("--seed", type=int, default=1, help="the first seed")
    run.add_argument("--budget-tokens", type=int, default=None, metavar="N")
    run.add_argument("--budget-money", default=None, metavar="USD")
    run.add_argument("--budget-seconds", type=float, default=None, metavar="S")
    resume = actions.add_parser("resume", help="go on with a run that was stopped or killed")
    resume.add_argument("run_id", metavar="ID")
    for action in (run, resume):
        action.add_argument(
            "--trust-suite", action="store_true", help="let a foreign suite's scripts run"
        )
        action.add_argument(
            "--progress", action="store_true", help="a line of JSON for each trial on stdout"
        )
    reported = actions.add_parser("report", help="what a run, or all runs together, say")
    reported.add_argument("run_id", nargs="?", default="", metavar="ID")
    reported.add_argument("--export", default="", metavar="PATH", help="write it there as well")
    reported.add_argument("--format", choices=("csv", "json", "html", "atif"), default="csv")
    listed = actions.add_parser("list", help="the suites and the runs so far")
    reasons = actions.add_parser("causes", help="why the trials of a run failed")
    reasons.add_argument("run_id", metavar="ID")
    for action in (run, resume, reported, listed, reasons):
        action.add_argument("--json", action="store_true")
    export = actions.add_parser("export", help="write a suite so that Harbor can run it")
    export.add_argument("suite", metavar="SUITE")
    export.add_argument("folder", metavar="FOLDER", help="an empty folder, or one to be made")
    export.add_argument("--task", action="append", default=[], metavar="T")
    export.add_argument("--seed", type=int, default=0)


def _add_vault(commands: Any) -> None:
    vault = commands.add_parser("vault", help="secrets: list, set, remove, test")
    actions = vault.add_subparsers(dest="action", required=True, metavar="ACTION")
    listed = actions.add_parser("list", help="the secrets there are, without their values")
    listed.add_argument("--json", action="store_true")
    stored = actions.add_parser(
        "set", help="add a secret or change it; the value is read from standard input"
    )
    stored.add_argument("secret", metavar="NAME")
    for flag, what in (
        ("--host", "a host that may get it: NAME or NAME:PORT (repeat)"),
        ("--method", "a method that it may be used with (repeat; all when none is named)"),
    ):
        stored.add_argument(flag, action="append", default=[], help=what)
    stored.add_argument("--kind", default="", help="token (default), password, header, model-key")
    stored.add_argument("--user", default="", help="who it belongs to, for a password")
    stored.add_argument("--header", default="", metavar="NAME", help="the header that takes it")
    stored.add_argument("--keep", choices=("keyring", "file"), default="", help="where to keep it")
    stored.add_argument("--json", action="store_true")
    for name, what in (
        ("remove", "forget a secret"),
        ("test", "try a secret at the host that it is bound to"),
    ):
        action = actions.add_parser(name, help=what)
        action.add_argument("secret", metavar="NAME")
        action.add_argument("--json", action="store_true")
