"""The tools that run shell commands: `run_command`, and three for the background.

Owns their effects: a command may read all that is granted, so all of it is read, and its text is
judged as an effect of kind `command`; what it changed is judged as what it is, afterwards. Only in
the tool set where there is a workspace. Thread: the runner's.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TypedDict

from sandbox.builtin_tools import builtin_tools
from sandbox.effects import Effect
from sandbox.errors import SandboxError, StoppedError
from sandbox.names import shown
from sandbox.stage_manifest import roots_of
from sandbox.tool_run import ToolRun
from sandbox.tools import Planned, ToolSet, tool
from sandbox.workspace.session import CommandOutcome, Workspace
from sandbox.workspace.sync import bring_again

_KINDS = ("command", "read", "create", "modify", "delete", "move")
_CUES = (
    "shell",
    "run command",
    "command line",
    "terminal",
    "git",
    "pytest",
    "unittest",
    "tests + run",
    "tests + fix",
    "test + failing",
    "compile",
    "make",
    "build + project",
    "script + run",
)


class CommandResult(TypedDict):
    """What a command printed and how it ended; `exit_code` None: it still runs.

    `changes`: names what it changed, empty for nothing.
    """

    exit_code: int | None
    stdout: str
    stderr: str
    notes: list[str]
    changes: str


def run_command(
    run: ToolRun, command: str, timeout_s: float | None = None
) -> Planned[CommandResult]:
    """Run a shell command (git, pytest, make, ...) in the first granted folder; waits for its end.

    It runs in a machine of its own that has copies of the granted folders and no network. What it
    changes in them is kept.
    """
    workspace = _workspace(run)

    def do() -> CommandResult:
        outcome = _told(
            lambda: workspace.run(
                command,
                stage=run.paths.stage,
                judge=run.judge,
                stopped=run.stopped,
                timeout_s=timeout_s,
            )
        )
        return _result(more, outcome)

    more: list[Effect] = []
    return Planned(effects=_effects(run, command), do=do, more=more)


def start_command(run: ToolRun, command: str) -> Planned[int]:
    """Start a shell command in the background; gives its number for check_command."""
    workspace = _workspace(run)
    return Planned(
        effects=_effects(run, command),
        do=lambda: _told(
            lambda: workspace.start(command, stage=run.paths.stage, stopped=run.stopped)
        ),
    )


def check_command(run: ToolRun, number: int, wait_s: float = 0.0) -> Planned[CommandResult]:
    """What a command in the background has printed so far, and whether it ended."""
    workspace = _workspace(run)

    def do() -> CommandResult:
        outcome = _told(
            lambda: workspace.check(
                number,
                stage=run.paths.stage,
                judge=run.judge,
                wait_s=min(max(wait_s, 0.0), workspace.limits.timeout_s),
                stopped=run.stopped,
            )
        )
        return _result(more, outcome)

    more: list[Effect] = []
    return Planned(do=do, more=more)


def stop_command(run: ToolRun, number: int) -> Planned[CommandResult]:
    """End a command in the background with all that it started."""
    workspace = _workspace(run)

    def do() -> CommandResult:
        stage, judge = run.paths.stage, run.judge
        return _result(more, _told(lambda: workspace.stop(number, stage=stage, judge=judge)))

    more: list[Effect] = []
    return Planned(do=do, more=more)


@cache
def tools_with_shell() -> ToolSet:
    """All tools that come with the sandbox, and these."""
    return ToolSet(
        (
            *builtin_tools(),
            tool(
                run_command,
                kinds=_KINDS,
                roles={"command": "data", "timeout_s": "option"},
                labels=["private", "untrusted"],
                again=_again,
                cost="files",
                cues=_CUES,
            ),
            tool(
                start_command,
                kinds=_KINDS,
                roles={"command": "data"},
                labels=["private", "untrusted"],
                cost="files",
                cues=["background + command"],
            ),
            tool(
                check_command,
                kinds=_KINDS,
                roles={"number": "option", "wait_s": "option"},
                labels=["private", "untrusted"],
                again=_again,
                cost="files",
                cues=["check_command"],
            ),
            tool(
                stop_command,
                kinds=_KINDS,
                roles={"number": "option"},
                labels=["private", "untrusted"],
                again=_again,
                cost="files",
                cues=["stop_command"],
            ),
        )
    )


def asks_for_shell(request: str) -> bool:
    """Whether a request most likely needs a shell command."""
    return any(item.name == "run_command" for item in tools_with_shell().likely(request))


def _workspace(run: ToolRun) -> Workspace:
    if run.workspace is None:
        raise PermissionError("there is no workspace here: commands cannot be run")
    return run.workspace


def _effects(run: ToolRun, command: str) -> tuple[Effect, ...]:
    if not command.strip() or "\0" in command:
        raise ValueError("the command is empty")
    reads = tuple(
        Effect(kind="read", path=shown(root), folder=True) for root in roots_of(run.paths.stage)
    )
    return (*reads, Effect(kind="command", path=shown(command)))


def _again(run: ToolRun, result: CommandResult) -> None:
    """A command that was run before, for a program that is played again: the stage gets it too."""
    if result["changes"]:
        bring_again(run.paths.stage, result["changes"])


def _result(more: list[Effect], outcome: CommandOutcome) -> CommandResult:
    more += outcome.effects
    return CommandResult(
        exit_code=outcome.exit_code,
        stdout=outcome.stdout,
        stderr=outcome.stderr,
        notes=list(outcome.notes),
        changes=outcome.patch,
    )


def _told[T](work: Callable[[], T]) -> T:
    """Do it; what is wrong with the workspace is an OSError of the program's, never its output."""
    try:
        return work()
    except StoppedError:
        raise
    except SandboxError as error:
        raise OSError(f"{error.message} {error.hint}".strip()) from error
