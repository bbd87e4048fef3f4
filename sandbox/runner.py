"""Runs one program in the interpreter, with every call at the host judged, done and recorded.

Owns the loop: call, effects, gate, stage, journal, resume. It must not push, drop or merge the
stage's layers (the turn does), and shows nothing itself. Thread: a worker thread of the engine.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

from pydantic_monty import (
    FunctionSnapshot,
    FutureSnapshot,
    MontyComplete,
    MontyCrashedError,
    MontyError,
    NameLookupSnapshot,
)

from sandbox.artifacts import Artifacts
from sandbox.builtin_tools import builtin_tools
from sandbox.calls import AskingError, Calls
from sandbox.check import Finding, check
from sandbox.dialect_suffixes import ENDING
from sandbox.doubts import misread_tables, own_files_read
from sandbox.errors import Fault, ProgramFaultError, SandboxUnavailableError, StoppedError
from sandbox.faults import fault_of
from sandbox.grants import NO_GRANTS, Grants
from sandbox.hints import Hints
from sandbox.host_files import HostPaths
from sandbox.host_rooms import HostRooms
from sandbox.ledger import Ledger
from sandbox.limits import Limits
from sandbox.outcome import CallBatch, CallGroup, Listener, Outcome, Printed, StopToken
from sandbox.places import Places
from sandbox.pool import ReadySession, SandboxPool
from sandbox.ports import NO_SECRETS, Gate, Journal, Secrets
from sandbox.printing import PrintedText
from sandbox.program import Program
from sandbox.question import Question
from sandbox.run_session import RunSession
from sandbox.spans import configured, span
from sandbox.stage import Stage
from sandbox.tape import Result, Tape
from sandbox.tool_run import ToolRun
from sandbox.tools import ToolSet
from sandbox.workspace.session import Workspace

__all__ = ["CallBatch", "CallGroup", "Outcome", "Printed", "Runner", "StopToken"]

_Snapshot = FunctionSnapshot | NameLookupSnapshot | FutureSnapshot | MontyComplete


class Runner:
    """Runs programs, each in a fresh session of the pool.

    `artifacts`: where results are kept; `offline`: whether no host may be connected to;
    `tools`: what programs can call.
    """

    def __init__(
        self,
        pool: SandboxPool,
        limits: Limits,
        tools: ToolSet | None = None,
        *,
        artifacts: Artifacts | None = None,
        offline: Callable[[], bool] = lambda: False,
    ) -> None:
        self.artifacts = artifacts
        self._offline = offline
        self.tools = tools or builtin_tools()
        self._pool = pool
        self._limits = limits

    def check(self, program: Program) -> tuple[Finding, ...]:
        """What looks wrong with `program`.

        Blocks. Raises `ProgramFaultError` for what is certain to fail; nothing is run.
        """
        with span("drydock.check"):
            return check(program, self.tools, self._pool)

    def run(
        self,
        program: Program,
        *,
        program_id: str,
        stage: Stage,
        gate: Gate,
        journal: Journal,
        listen: Listener,
        stop: StopToken,
        grants: Grants = NO_GRANTS,
        secrets: Secrets = NO_SECRETS,
        sees: bool = False,
        tape: Tape | None = None,
        former: Sequence[tuple[bytes, Result]] = (),
        workspace: Workspace | None = None,
    ) -> Outcome:
        """Run `program` to its end, or until it waits for the person; blocks.

        It runs on the state that it was made ready for; what it leaves is in the outcome.

        `grants`: the hosts that the person named; `sees`: whether the model is shown pictures;
        `tape`: plays what it was answered before, then
        records; `former`: what programs of the turn that failed did for good, which is not
        repeated; `workspace`: where its commands run.
        Raises `StateUnusableError` when that state cannot be restored,
        `TapeDivergedError` when the tape is of another course of things, and
        `SandboxUnavailableError` when the interpreter cannot be started or its worker is
        lost for another reason than `stop`; the next run gets a fresh worker.
        """
        with (
            self._pool.session(self._limits, program.state.session) as ready,
            span("drydock.run", program_id=program_id),
        ):
            ledger = Ledger(program_id=program_id, journal=journal, listen=listen)
            run = _Run(
                program,
                ready,
                stage=stage,
                gate=gate,
                ledger=ledger,
                stop=stop,
                tools=self.tools,
                grants=grants,
                secrets=secrets,
                artifacts=self.artifacts,
                offline=self._offline,
                sees=sees,
                tape=tape or Tape(),
                former=former,
                workspace=workspace,
            )
            stop.attach(lambda: _kill(ready.pid))
            try:
                return run.to_end()
            finally:
                stop.detach()
                run.close()
                stage.evidence = None


def _kill(pid: int | None) -> None:
    """End the worker; it may be gone already."""
    if pid is None:
        return
    hard = getattr(signal, "SIGKILL", signal.SIGTERM)
    try:
        os.kill(pid, hard)
    except ProcessLookupError:
        return


class _Run:
    """One run of one program."""

    def __init__(
        self,
        program: Program,
        ready: ReadySession,
        *,
        stage: Stage,
        gate: Gate,
        ledger: Ledger,
        stop: StopToken,
        tools: ToolSet,
        grants: Grants,
        secrets: Secrets,
        artifacts: Artifacts | None,
        offline: Callable[[], bool],
        sees: bool,
        tape: Tape,
        former: Sequence[tuple[bytes, Result]],
        workspace: Workspace | None,
    ) -> None:
        self._program = program
        self._session = RunSession(ready, program)
        self._limits = ready.limits
        self._stage = stage
        self._ledger = ledger
        self._tape = tape
        self._stop = stop
        self._paths = HostPaths(stage, ready.limits, lambda: stop.stopped)
        self._paths.first_number = self._session.first_number
        self._tool_run = ToolRun(
            paths=self._paths,
            grants=grants,
            judge=gate.judge,
            stopped=lambda: stop.stopped,
            tools=tools,
            secrets=secrets,
            artifacts=artifacts,
            offline=offline,
            sees=sees,
            workspace=workspace,
        )
        self._rooms = HostRooms(self._paths, self._tool_run)
        self._calls = Calls(
            Places(program, self._session.file, self._session.helpers),
            paths=self._paths,
            rooms=self._rooms,
            gate=gate,
            ledger=ledger,
            tape=tape,
            former=former,
        )
        self._printed = PrintedText(ready.limits.printed_chars)
        self._secrets = secrets
        self._pieces = secrets.pieces()
        self._warned = PrintedText(ready.limits.printed_chars)
        self._warned_pieces = secrets.pieces()
        self._interpreter_s = 0.0
        self._endings: tuple[str, ...] = ()
        self._spans_wanted = configured()

    def close(self) -> None:
        """Close what the program left open."""
        self._rooms.close()

    def to_end(self) -> Outcome:
        """Drive the program until it ends, whichever way."""
        started = time.perf_counter()
        value: str | None = None
        fault: Fault | None = None
        status: Literal["ok", "error", "stopped", "asking"] = "ok"
        question: Question | None = None
        try:
            value = self._drive()
            self._rooms.temporary.close()
            if ENDING in self._program.repaired and self._is_unchanged():
                self._endings = self._session.endings()
        except AskingError as error:
            status, question = "asking", error.question
        except ProgramFaultError as error:
            status, fault = "error", error.fault
        except StoppedError:
            status = "stopped"
        except MontyCrashedError as error:
            if not self._stop.stopped:
                self._ledger.flush()
                raise SandboxUnavailableError(
                    "The program interpreter's process ended by itself.",
                    hint="Run it again; if it stays so, the program is at fault.",
                ) from error
            status = "stopped"
        except MontyError as error:
            fault = self._fault(error)
            status = "ok" if fault is None else "error"
        if self._stop.stopped:
            status, value, fault, question = "stopped", None, None, None
        state, not_kept = self._session.left() if status == "ok" else (None, "")
        self._print(self._printed, self._pieces.end())
        self._print(self._warned, self._warned_pieces.end())
        self._ledger.flush()
        self._tape.flush()
        return Outcome(
            status=status,
            value=value,
            printed=self._printed.text(),
            warned=self._warned.text(),
            fault=fault,
            effects=self._ledger.effects,
            notes=(*self._notes(), *([not_kept] if not_kept else [])),
            doubts=self._doubts(),
            interpreter_s=self._interpreter_s,
            wall_s=time.perf_counter() - started,
            file_calls=self._calls.count,
            tool_calls=self._rooms.tools.count,
            question=question,
            shown=tuple(self._tool_run.shown),
            kept=tuple(self._tool_run.kept),
            looks=tuple(self._tool_run.looks),
            state=state,
        )

    def _drive(self) -> str | None:
        started = time.perf_counter()
        snapshot: _Snapshot = self._session.start(self._on_print, self._stage.cwd)
        while True:
            self._interpreter_s += time.perf_counter() - started
            if self._stop.stopped:
                return None
            if isinstance(snapshot, MontyComplete):
                return self._value(snapshot.output)
            resume = self._answer(snapshot)
            started = time.perf_counter()
            snapshot = resume() if resume is not None else snapshot.resume_auto()
            self._ledger.tick()

    def _answer(self, snapshot: FunctionSnapshot | NameLookupSnapshot | FutureSnapshot) -> Any:
        """How to go on after a suspension; None: as the session itself knows."""
        if isinstance(snapshot, NameLookupSnapshot):
            return snapshot.resume
        if isinstance(snapshot, FutureSnapshot):
            settled = self._calls.settle(snapshot)
            return lambda: snapshot.resume(settled)
        if snapshot.function_name == "import":
            return None
        if self._spans_wanted:
            with span("drydock.call", call=snapshot.function_name):
                result = self._calls.answer(snapshot)
        else:
            result = self._calls.answer(snapshot)
        return lambda: snapshot.resume(result)

    def _on_print(self, stream: str, text: str) -> None:
        if stream == "stderr":
            self._print(self._warned, self._warned_pieces.feed(text))
        else:
            self._print(self._printed, self._pieces.feed(text))

    def _print(self, kept: PrintedText, text: str) -> None:
        if text:
            kept.add(text)
            self._ledger.printed(text)

    def _value(self, output: object) -> str | None:
        if output is None:
            return None
        text = self._secrets.text(output if isinstance(output, str) else str(output))
        limit = self._limits.printed_chars
        return text if len(text) <= limit else f"{text[:limit]}\n[... cut ...]"

    def _fault(self, error: MontyError) -> Fault | None:
        """The fault of a program that raised; None when it left by `sys.exit()` with success."""
        exited = self._rooms.functions.exited and isinstance(error.exception(), SystemExit)
        code = self._rooms.functions.exit_code
        if exited and code in (None, 0, True, False):
            return None if not code else Fault(type="SystemExit", message="exit code 1")
        hints = Hints(self._paths, self._program.source, self._rooms.tools.hint)
        fault = fault_of(error, self._program, self._session.file, self._limits, hints)
        if exited and isinstance(code, int):
            return replace(fault, message=f"the program ended with exit code {code}")
        return fault

    def _notes(self) -> tuple[str, ...]:
        """What the model should know: of its calls, and of a program that changed nothing."""
        notes = tuple(dict.fromkeys(self._calls.notes))
        if not self._is_unchanged():
            return notes
        return (
            *notes,
            *(f"The pattern {pattern!r} matched nothing." for pattern in self._paths.unmatched),
        )

    def _is_unchanged(self) -> bool:
        return all(effect.kind == "read" for effect in self._ledger.effects)

    def _doubts(self) -> tuple[str, ...]:
        """Reasons to think that the program misread what it worked on."""
        return (
            *(
                f"A suffix begins with a dot: compare it with '.{ending}', not with {ending!r}."
                for ending in self._endings
            ),
            *misread_tables(self._program.source, self._paths.separators),
            *own_files_read(self._ledger.effects),
        )
