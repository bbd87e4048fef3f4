"""Runs one program in the interpreter, with every call at the host judged, done and recorded.

Owns the loop: call, effects, gate, stage, journal, resume. It must not push, drop or merge the
stage's layers (the turn does), and shows nothing itself. Thread: a worker thread of the engine.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from pydantic_monty import (
    FunctionSnapshot,
    FutureSnapshot,
    MontyComplete,
    MontyCrashedError,
    MontyError,
    NameLookupSnapshot,
    SourceRange,
)

from sandbox.artifacts import Artifacts
from sandbox.builtin_tools import builtin_tools
from sandbox.changeset import Evidence
from sandbox.check import Finding, check
from sandbox.dialect_suffixes import ENDING
from sandbox.doubts import misread_tables, own_files_read
from sandbox.effects import Span
from sandbox.errors import Fault, ProgramFaultError, SandboxUnavailableError, StoppedError
from sandbox.faults import PROGRAM_FILE, fault_of
from sandbox.grants import NO_GRANTS, Grants
from sandbox.hints import Hints
from sandbox.host_answer import Answer
from sandbox.host_archives import HostArchives
from sandbox.host_files import HostFiles, HostPaths
from sandbox.host_formats import HostFormats
from sandbox.host_functions import HostFunctions
from sandbox.host_modules import HELPER_FUNCTIONS, PURE_FUNCTIONS
from sandbox.host_shutil import HostShutil
from sandbox.host_streams import HostStreams
from sandbox.host_temporary import HostTemporary
from sandbox.ledger import Ledger
from sandbox.limits import Limits
from sandbox.names import shown
from sandbox.outcome import CallBatch, CallGroup, Listener, Outcome, Printed, StopToken
from sandbox.pool import ReadySession, SandboxPool
from sandbox.ports import NO_SECRETS, Gate, Journal, Secrets
from sandbox.prelude_rooms import rooms_for
from sandbox.printing import PrintedText
from sandbox.program import Program
from sandbox.stage import Stage
from sandbox.tool_calls import LATER, Pending, ToolCalls
from sandbox.tool_run import ToolRun
from sandbox.tools import ToolSet

__all__ = ["CallBatch", "CallGroup", "Outcome", "Printed", "Runner", "StopToken"]

# Text given to `eval` and `exec` was not analysed before the run.
_EVALUATED = "<string>"
_Snapshot = FunctionSnapshot | NameLookupSnapshot | FutureSnapshot | MontyComplete
# What a host call may raise into a program; anything else is our bug and ends the run.
_PROGRAM_ERRORS = (
    OSError,
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    AttributeError,
    NameError,
)


class _LimitReachedError(Exception):
    """A budget of the program is used up; the program cannot catch it."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


class Runner:
    """Runs programs, each in a fresh session of the pool. `artifacts`: where results are kept."""

    def __init__(
        self,
        pool: SandboxPool,
        limits: Limits,
        tools: ToolSet | None = None,
        *,
        artifacts: Artifacts | None = None,
    ) -> None:
        self.artifacts = artifacts
        self._pool = pool
        self._limits = limits
        self._tools = tools or builtin_tools()

    def check(self, program: Program, known: Iterable[str] = ()) -> tuple[Finding, ...]:
        """What looks wrong with `program`; `known`: names that the session has from before.

        Blocks. Raises `ProgramFaultError` for what is certain to fail; nothing is run.
        """
        return check(program, self._tools, self._pool, known)

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
    ) -> Outcome:
        """Run `program` to its end; blocks. `grants`: the hosts that the person named; `sees`:
        whether the model is shown pictures.

        Raises `SandboxUnavailableError` when the interpreter cannot be started or its worker is
        lost for another reason than `stop`; the next run gets a fresh worker.
        """
        with self._pool.session(self._limits) as ready:
            ledger = Ledger(program_id=program_id, journal=journal, listen=listen)
            run = _Run(
                program,
                ready,
                stage=stage,
                gate=gate,
                ledger=ledger,
                stop=stop,
                tools=self._tools,
                grants=grants,
                secrets=secrets,
                artifacts=self.artifacts,
                sees=sees,
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
        sees: bool,
    ) -> None:
        self._program = program
        self._session = ready.session
        self._limits = ready.limits
        self._stage = stage
        self._gate = gate
        self._ledger = ledger
        self._stop = stop
        self._paths = HostPaths(stage, ready.limits, lambda: stop.stopped)
        files, self._streams = HostFiles(self._paths), HostStreams(self._paths)
        self._functions = HostFunctions(self._paths, files, self._streams)
        self._archives, self._formats = HostArchives(self._paths), HostFormats(self._paths)
        self._temporary = HostTemporary(self._paths)
        self._tool_run = ToolRun(
            paths=self._paths,
            grants=grants,
            judge=gate.judge,
            stopped=lambda: stop.stopped,
            tools=tools,
            secrets=secrets,
            artifacts=artifacts,
            sees=sees,
        )
        self._tools = ToolCalls(self._tool_run, ready.limits)
        self._rooms = (
            files,
            self._functions,
            self._streams,
            HostShutil(self._paths),
            self._archives,
            self._formats,
            self._temporary,
            self._tools,
        )
        self._places: dict[str, Span | None] = {}
        self._printed = PrintedText(ready.limits.printed_chars)
        self._secrets = secrets
        self._pieces = secrets.pieces()
        self._file_calls = 0
        self._interpreter_s = 0.0
        self._spans: dict[tuple[int, int], Span] = {}
        self._at: Span | None = None
        self._endings: tuple[str, ...] = ()

    def close(self) -> None:
        """Close what the program left open."""
        self._tools.close()
        self._streams.close()
        self._archives.close()
        self._formats.close()

    def to_end(self) -> Outcome:
        """Drive the program until it ends, whichever way."""
        started = time.perf_counter()
        value: str | None = None
        fault: Fault | None = None
        status: Literal["ok", "error", "stopped"] = "ok"
        try:
            value = self._drive()
            self._temporary.close()
            if ENDING in self._program.repaired and self._is_unchanged():
                self._endings = tuple(self._session.feed_run("list(__dd_endings)", cwd="/"))
        except _LimitReachedError as error:
            status, fault = "error", error.fault
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
            status, value, fault = "stopped", None, None
        self._print(self._pieces.end())
        self._ledger.flush()
        return Outcome(
            status=status,
            value=value,
            printed=self._printed.text(),
            fault=fault,
            effects=self._ledger.effects,
            notes=self._notes(),
            doubts=self._doubts(),
            interpreter_s=self._interpreter_s,
            wall_s=time.perf_counter() - started,
            file_calls=self._file_calls,
            tool_calls=self._tools.count,
            kept=tuple(self._tool_run.kept),
            looks=tuple(self._tool_run.looks),
        )

    def _drive(self) -> str | None:
        started = time.perf_counter()
        self._session.feed_run(rooms_for(self._program.repaired) or "None", cwd="/")
        snapshot: _Snapshot = self._session.feed_start(
            self._program.repaired, print_callback=self._on_print, cwd=self._stage.cwd
        )
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
            settled = self._tools.settle(snapshot.pending_call_ids, self._shown_error)
            return lambda: snapshot.resume(settled)
        if snapshot.function_name == "import":
            return None
        result = self._call(snapshot)
        return lambda: snapshot.resume(result)

    def _call(self, snapshot: FunctionSnapshot) -> Any:
        """Do one call at the host; its result or its error, for the program."""
        name = snapshot.function_name
        span = self._span(snapshot.position)
        if name == "__dd_at":
            self._at = span
        self._count_call(span)
        call = name.removeprefix(LATER).removeprefix("__dd_")
        if snapshot.position.filename == _EVALUATED:
            return {"exception": PermissionError("eval() and exec() cannot use files or modules")}
        self._paths.asked = None
        tells = True  # an error says what is there, or is not
        try:
            answer = self._planned(name, snapshot.args, snapshot.kwargs)
            if answer.place is not None:
                span = self._opened(answer.place, span, snapshot.position)
            effects = tuple(replace(e, call=call, span=span) for e in answer.effects)
            if effects:
                self._stage.evidence = Evidence(
                    program_id=self._ledger.program_id, line=span.line if span else None, call=call
                )
                verdict = self._gate.judge(effects)
                if verdict.outcome != "allow":
                    return {"exception": PermissionError(verdict.message or "not allowed")}
            value = answer.do()
            self._ledger.add(effects)
            tells = not effects and answer.reveals
        except SystemExit as error:
            return {"exception": error}
        except _PROGRAM_ERRORS as error:
            return {"exception": _for_program(error, self._paths.cwd)}
        finally:
            self._tell_look(call, span, tells=tells)
        if isinstance(value, Pending):
            self._tools.keep(snapshot.call_id, value)
            return {"future": ...}
        return {"return_value": value}

    def _tell_look(self, call: str, span: Span | None, *, tells: bool) -> None:
        """Let the gate know that the program learned what is at a path, by no effect of its own.

        It counts for what is judged later and is no effect in the ledger: it is a look, and it is
        over. What the gate says to it is of no use any more.
        """
        path = self._paths.asked
        if tells and path is not None:
            look = self._paths.effect("read", path)
            self._gate.judge((replace(look, call=call, span=span),))

    def _shown_error(self, error: BaseException) -> BaseException:
        """An error of a call that ran beside the program, for it; raises what is not its own."""
        if isinstance(error, _PROGRAM_ERRORS):
            return _for_program(error, self._paths.cwd)
        raise error

    def _planned(self, name: str, args: Sequence[object], kwargs: Mapping[str, object]) -> Answer:
        """What a call would do; raises `NameError` for a function that does not exist."""
        function = PURE_FUNCTIONS.get(name) or HELPER_FUNCTIONS.get(name)
        if function is not None:
            return Answer(do=lambda: function(*args, **kwargs))
        for room in self._rooms:
            answer = room.answer(name, args, kwargs)
            if answer is not None:
                return answer
        raise NameError(f"name {name!r} is not defined")

    def _count_call(self, span: Span | None) -> None:
        self._file_calls += 1
        if self._file_calls <= self._limits.file_calls:
            return
        raise _LimitReachedError(
            Fault(
                type="CallLimitError",
                message=f"the program made more than {self._limits.file_calls:,} file calls",
                line=span.line if span else None,
                hint="List each folder once, and read each file once.",
            )
        )

    def _span(self, position: SourceRange) -> Span | None:
        """Where a call is in the original source; calls of helpers count for who called them."""
        if position.filename != PROGRAM_FILE:
            return self._at if position.filename != _EVALUATED else None
        key = (position.start, position.end)
        span = self._spans.get(key)
        if span is None:
            span = self._spans[key] = self._program.original_span(*key)
        return span

    def _opened(self, path: str, span: Span | None, position: SourceRange) -> Span | None:
        """The call that opened a file stands for what is written to it later."""
        if position.filename == PROGRAM_FILE:
            self._places[path] = span
        return self._places.get(path, span)

    def _on_print(self, _stream: str, text: str) -> None:
        self._print(self._pieces.feed(text))

    def _print(self, text: str) -> None:
        if text:
            self._printed.add(text)
            self._ledger.printed(text)

    def _value(self, output: object) -> str | None:
        if output is None:
            return None
        text = self._secrets.text(output if isinstance(output, str) else str(output))
        limit = self._limits.printed_chars
        return text if len(text) <= limit else f"{text[:limit]}\n[... cut ...]"

    def _fault(self, error: MontyError) -> Fault | None:
        """The fault of a program that raised; None when it left by `sys.exit()` with success."""
        exited = self._functions.exited and isinstance(error.exception(), SystemExit)
        code = self._functions.exit_code
        if exited and code in (None, 0, True, False):
            return None if not code else Fault(type="SystemExit", message="exit code 1")
        hints = Hints(self._paths, self._program.source, self._tools.hint)
        fault = fault_of(error, self._program, self._limits, hints)
        if exited and isinstance(code, int):
            return replace(fault, message=f"the program ended with exit code {code}")
        return fault

    def _notes(self) -> tuple[str, ...]:
        """Remarks on a program that changed nothing."""
        if not self._is_unchanged():
            return ()
        return tuple(
            f"The pattern {pattern!r} matched nothing." for pattern in self._paths.unmatched
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


def _for_program(error: BaseException, cwd: str) -> BaseException:
    """`error` with file names as the program sees them, relative ones below its own folder."""
    if not isinstance(error, OSError) or error.errno is None:
        return error
    text = error.strerror or ""
    files = [error.filename, error.filename2]
    names = [shown(str(n)).removeprefix(f"{cwd}/") for n in files if n is not None]
    if len(names) == 2:
        return type(error)(error.errno, text, names[0], None, names[1])
    return type(error)(error.errno, text, *names)
