"""One chat's workspace in use: commands in step with the stage, in front and in the background.

Owns what runs and what is told of it. It must not decide on effects: the judge that it is given
does. Thread: the runner's, one call at a time; `end_all` from any.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from sandbox.effects import Effect
from sandbox.errors import StoppedError
from sandbox.stage import Stage
from sandbox.stage_manifest import roots_of
from sandbox.workspace.backend import ENVIRONMENT
from sandbox.workspace.channel import Channel, Job, JobLimits, wait_for
from sandbox.workspace.errors import WorkspaceLimitError, WorkspaceLostError
from sandbox.workspace.machine import ROOT, Machine
from sandbox.workspace.sync import Judge, Pulled, StageSync, inside_places

MOST_JOBS = 16
_SHELL = 'if command -v bash >/dev/null; then exec bash -c "$1"; else exec sh -c "$1"; fi'


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandLimits:
    """Bounds of commands; settings. `timeout_s`: of one in front, unless it asks for another."""

    timeout_s: float = 120.0
    most_timeout_s: float = 3600.0
    memory_bytes: int = 0
    processes: int = 512
    output_bytes: int = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandOutcome:
    """The end of a command, or, with `exit_code` None, how far it is.

    `effects`: what it changed in the folders, brought into the stage; `notes`: one sentence each;
    `patch`: for `bring_again`, empty when it changed nothing.
    """

    exit_code: int | None
    stdout: str
    stderr: str
    effects: tuple[Effect, ...] = ()
    notes: tuple[str, ...] = ()
    patch: str = ""


@dataclass(slots=True)
class _Background:
    """A command in the background. `is_told`: its end was reported."""

    command: str
    job: Job
    is_told: bool = False


@dataclass(slots=True)
class CommandStarted:
    """A command began or ended, for who shows it. `job_id` 0: in front."""

    command: str
    job_id: int
    output: Callable[[], str] = field(repr=False)


class Workspace:
    """A machine with the folders of one chat.

    `machine`: where commands run; `file`: what is known of the files there, kept over restarts;
    `on_command`: told of every command as it starts.
    """

    def __init__(
        self,
        machine: Machine,
        file: Path,
        *,
        limits: CommandLimits | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.machine = machine
        self.limits = limits or CommandLimits()
        self.on_command: Callable[[CommandStarted], None] | None = None
        self._sync = StageSync(file)
        self._environment = {**ENVIRONMENT, **(environment or {})}
        self._numbers = itertools.count(1)
        self._background: dict[int, _Background] = {}
        self._channel: Channel | None = None
        self._lock = threading.Lock()

    @property
    def is_running(self) -> bool:
        """Whether its machine runs."""
        return self._channel is not None and self._channel.lost is None

    def warm(self) -> None:
        """Start the machine, so that the first command starts at once; any thread."""
        self._ready()

    def run(
        self,
        command: str,
        *,
        stage: Stage,
        judge: Judge,
        stopped: Callable[[], bool],
        timeout_s: float | None = None,
    ) -> CommandOutcome:
        """Run a command to its end and bring what it changed into the stage.

        Raises `StoppedError`, `WorkspaceTimeError`, `WorkspaceLimitError`, `WorkspaceLostError`,
        `WorkspaceMissingError`, and PermissionError when what it changed is not allowed: in all of
        these the stage is as it was.
        """
        channel = self._ready()
        notes = self._push(channel, stage, stopped)
        self._sync.doubt()
        job = self._start(channel, command, stage)
        self._tell(command, 0, job)
        try:
            code = wait_for(job, channel, timeout_s=self._timeout(timeout_s), stopped=stopped)
        except WorkspaceLostError as error:
            raise self._lost(error, job) from error
        pulled = self._pull(channel, stage, judge)
        return self._outcome(job, code, notes, pulled)

    def start(self, command: str, *, stage: Stage, stopped: Callable[[], bool]) -> int:
        """Start a command in the background; its number. ValueError when too many run."""
        running = [item for item in self._background.values() if item.job.exit_code is None]
        if len(running) >= MOST_JOBS:
            raise ValueError(f"{MOST_JOBS} commands run in the background: stop one first")
        channel = self._ready()
        self._push(channel, stage, stopped)
        job = self._start(channel, command, stage)
        self._sync.doubt()
        number = next(self._numbers)
        self._background[number] = _Background(command, job)
        self._tell(command, number, job)
        return number

    def check(
        self,
        number: int,
        *,
        stage: Stage,
        judge: Judge,
        wait_s: float = 0.0,
        stopped: Callable[[], bool] = lambda: False,
    ) -> CommandOutcome:
        """How far a command in the background is; at its end, what it changed is brought in."""
        item = self._found(number)
        until = time.monotonic() + wait_s
        while item.job.exit_code is None and time.monotonic() < until:
            if stopped():
                self.end_all()
                raise StoppedError
            if item.job.ended.done():
                break
            time.sleep(0.05)
        if item.job.ended.done() and item.job.ended.exception() is not None:
            del self._background[number]
            raise WorkspaceLostError(
                "The workspace ended while this command ran.", hint="Start it again."
            )
        code = item.job.exit_code
        pulled = Pulled()
        if code is not None and not item.is_told:
            item.is_told = True
            pulled = self._pull(self._ready(), stage, judge)
        return self._outcome(item.job, code, (), pulled, keep=True)

    def stop(self, number: int, *, stage: Stage, judge: Judge) -> CommandOutcome:
        """End a command in the background with all that it started."""
        item = self._found(number)
        if item.job.exit_code is None:
            self._ready().kill(item.job)
        return self.check(number, stage=stage, judge=judge, wait_s=2.0)

    def end_all(self) -> None:
        """End everything that runs inside, now: within a second, if need be with the machine."""
        channel = self._channel
        if channel is None or channel.lost is not None:
            return
        try:
            channel.kill_all()
        except WorkspaceLostError:
            self._sync.doubt()

    def close(self) -> None:
        """Stop the machine; files stay."""
        self._sync.save()
        self._background.clear()
        self.machine.stop()

    def reset(self) -> None:
        """Make it as new: all files inside go."""
        self._background.clear()
        self.machine.destroy()
        self._sync.forget()
        self._sync.file.unlink(missing_ok=True)

    # How it is done

    def _ready(self) -> Channel:
        with self._lock:
            channel = self.machine.channel()
            if channel is not self._channel:
                self._sync.doubt()
                self._background.clear()
                self._channel = channel
            return channel

    def _push(self, channel: Channel, stage: Stage, stopped: Callable[[], bool]) -> tuple[str, ...]:
        try:
            pushed = self._sync.push(channel, stage, stopped)
        except OSError as error:
            why = f"{error.strerror}: {error.filename}" if error.filename else error.strerror
            raise WorkspaceLimitError(
                f"The folders cannot be copied into the workspace: {why}.",
                hint="Delete what is not needed there, or reset the workspace.",
            ) from error
        return tuple(f"{path} cannot be read and is not there" for path in pushed.skipped[:5])

    def _pull(self, channel: Channel, stage: Stage, judge: Judge) -> Pulled:
        try:
            return self._sync.pull(channel, stage, judge)
        except PermissionError as error:
            if error.errno is None:
                raise
            raise _unreadable(error) from error
        except OSError as error:
            raise _unreadable(error) from error

    def _start(self, channel: Channel, command: str, stage: Stage) -> Job:
        limits = JobLimits(
            memory_bytes=self.limits.memory_bytes,
            processes=self.limits.processes,
            output_bytes=self.limits.output_bytes,
        )
        cwd = next(iter(inside_places(roots_of(stage)).values()), ROOT)
        words = ["/bin/sh", "-c", _SHELL, "sh", command]
        return channel.start(words, cwd=cwd, env=self._environment, limits=limits)

    def _tell(self, command: str, number: int, job: Job) -> None:
        if self.on_command is not None:
            self.on_command(CommandStarted(command, number, job.stdout.text))

    def _timeout(self, asked_s: float | None) -> float:
        return min(asked_s or self.limits.timeout_s, self.limits.most_timeout_s)

    def _found(self, number: int) -> _Background:
        item = self._background.get(number)
        if item is None:
            there = ", ".join(map(str, self._background)) or "none"
            raise ValueError(f"there is no command {number} in the background (there: {there})")
        return item

    @staticmethod
    def _lost(error: WorkspaceLostError, job: Job) -> WorkspaceLostError:
        tail = job.stderr.text().strip().splitlines()[-1:]
        said = f" Its last words: {tail[0][:200]}" if tail else ""
        hint = "It is started again for the next command; what this one did is dropped."
        return WorkspaceLostError(f"{error.message}{said}", hint=hint)

    @staticmethod
    def _outcome(
        job: Job,
        code: int | None,
        notes: tuple[str, ...],
        pulled: Pulled,
        *,
        keep: bool = False,
    ) -> CommandOutcome:
        outcome = CommandOutcome(
            exit_code=code, stdout=job.stdout.text(), stderr=job.stderr.text(), notes=notes
        )
        more = [f"{path} may only be read: its change is dropped" for path in pulled.refused[:5]]
        more += [f"{path} is no ordinary file and is dropped" for path in pulled.left_out[:5]]
        if code == 137:
            more.append("it was ended by signal 9: it was stopped, or it used too much memory")
        if code is not None and not keep:
            job.stdout.close()
            job.stderr.close()
        return replace(outcome, effects=pulled.effects, notes=(*notes, *more), patch=pulled.patch)


def _unreadable(error: OSError) -> WorkspaceLimitError:
    where = f": {error.filename}" if error.filename else ""
    return WorkspaceLimitError(
        f"What the command left in the folders cannot be read ({error.strerror}{where}).",
        hint="What it changed is dropped; make it leave files that can be read.",
    )
