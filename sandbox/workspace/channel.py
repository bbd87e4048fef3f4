"""The connection to the agent inside a workspace: requests out, answers to whom they belong.

Owns numbers, waiting and the end: when the connection breaks, or what comes from the inside breaks
the form, everything that waits fails with `WorkspaceLostError`, and the machine is to be ended.
Thread: requests from any; one reader of its own.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import struct
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Never, Protocol

from sandbox.workspace.errors import WorkspaceLostError, WorkspaceTimeError
from sandbox.workspace.frames import (
    Batch,
    Frame,
    FrameError,
    Record,
    Splitter,
    failure,
    frame,
    pack_strings,
    records,
    unpack_string,
)
from sandbox.workspace.output import Output

_log = logging.getLogger(__name__)
_MOST_ANSWER_BYTES = 512 * 1024 * 1024
_MOST_PENDING_FRAMES = 16
ANSWER_S = 120.0
"""How long an answer of the agent may take before the workspace counts as lost."""


class Transport(Protocol):
    """Bytes both ways."""

    def read(self) -> bytes:
        """What there is, at least one byte; nothing at the end. OSError counts as the end."""
        ...

    def write(self, data: bytes) -> None:
        """All of it. OSError when the other side is gone."""
        ...

    def close(self) -> None:
        """End it; a read that waits returns."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class JobLimits:
    """Bounds of one command. 0: no bound. `memory_bytes`, `processes`; `output_bytes` is kept."""

    memory_bytes: int = 0
    processes: int = 512
    output_bytes: int = 64 * 1024 * 1024


class Job:
    """A command that runs, or has run, inside."""

    def __init__(self, number: int, limits: JobLimits, folder: Path | None) -> None:
        self.number = number
        self.stdout = Output(limits.output_bytes, folder)
        self.stderr = Output(limits.output_bytes, folder)
        self.ended: Future[int] = Future()

    @property
    def exit_code(self) -> int | None:
        """Of the process; 128 + N when signal N ended it; None while it runs."""
        return self.ended.result() if self.ended.done() and not self.ended.exception() else None


@dataclass(slots=True)
class _Asked:
    """A request that waits for its answer. `on_data`: where O frames go."""

    done: Future[bytes]
    on_data: Callable[[bytes], None]


class Channel:
    """Speaks with one agent. `lost`: why the connection ended, None while it lives."""

    def __init__(self, transport: Transport, *, why_lost: Callable[[], str] | None = None) -> None:
        """`why_lost`: asked when the connection ends, for what the person is told."""
        self._transport = transport
        self._why_lost = why_lost or (lambda: "The workspace ended by itself.")
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        self._asked: dict[int, _Asked] = {}
        self._jobs: dict[int, Job] = {}
        self._hello: Future[str] = Future()
        self.on_link: Callable[[Frame], None] | None = None
        self.lost: WorkspaceLostError | None = None
        self._reader = threading.Thread(target=self._read, name="workspace-reader", daemon=True)
        self._reader.start()

    def greeting(self, timeout_s: float) -> str:
        """What the agent said first: it is ready. WorkspaceLostError when it says nothing."""
        try:
            return self._hello.result(timeout_s)
        except TimeoutError:
            self.fail("The workspace did not start in time.")
            raise self._lost_error() from None

    # Commands

    def start(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        limits: JobLimits | None = None,
        folder: Path | None = None,
    ) -> Job:
        """Start a command; its output and its end come by themselves."""
        limits = limits or JobLimits()
        job = Job(next(self._numbers), limits, folder)
        with self._lock:
            self._jobs[job.number] = job
        texts = [cwd, f"{limits.memory_bytes} {limits.processes}", str(len(argv)), *argv]
        texts += [f"{name}={value}" for name, value in env.items()]
        try:
            self._send(frame("R", job.number, pack_strings(texts)))
        except BaseException:
            with self._lock:
                self._jobs.pop(job.number, None)
            raise
        return job

    def kill(self, job: Job, *, timeout_s: float = 5.0) -> None:
        """End a command and what it started."""
        self._kill(job.number, 0, timeout_s)
        with contextlib.suppress(TimeoutError, WorkspaceLostError):
            job.ended.result(timeout_s)

    def kill_all(self, *, timeout_s: float = 0.5) -> None:
        """End everything that runs inside. WorkspaceLostError when the agent does not answer."""
        self._kill(0, 1, timeout_s)

    def _kill(self, job_number: int, scope: int, timeout_s: float) -> None:
        number, asked = self._ask()
        # The agent answers under the job's number, so that one number says both.
        if job_number:
            with self._lock:
                self._asked[job_number] = self._asked.pop(number)
            number = job_number
        self._send(frame("K", number, bytes([scope])))
        self._answer(number, asked, timeout_s)

    # Files

    def scan(self, roots: Sequence[str], token: int) -> tuple[int, list[Record] | None]:
        """All below `roots`, paths beginning with the root's number; None if as at `token`."""
        parts: list[bytes] = []
        number, asked = self._ask(parts.append)
        self._send(frame("S", number, struct.pack("<Q", token) + pack_strings(roots)))
        end = self._answer(number, asked, ANSWER_S)
        if len(end) != 8:
            self._broken(FrameError("a scan without its token"))
        (now,) = struct.unpack("<Q", end)
        if now == token:
            return now, None
        return now, self._records(parts)

    def get(
        self, path: str, sink: Callable[[bytes], object], *, offset: int = 0, most: int = 1 << 62
    ) -> int:
        """Pass a file's bytes to `sink`; returns how many. OSError as the file's."""
        size = 0

        def add(data: bytes) -> None:
            nonlocal size
            size += len(data)
            if size > most:
                raise FrameError("more of a file than was asked for")
            sink(data)

        number, asked = self._ask(add)
        self._send(frame("G", number, struct.pack("<QQ", offset, most) + pack_strings([path])))
        self._answer(number, asked, ANSWER_S)
        return size

    def stat(self, path: str) -> Record:
        """What is at `path`, links followed. OSError as the file's."""
        found = self._entries("T", path)
        if len(found) != 1:
            self._broken(FrameError("a look at one file that tells of another number"))
        return found[0]

    def list(self, path: str) -> list[Record]:
        """What is in a folder; links tell of what they lead to. OSError as the folder's."""
        return self._entries("L", path)

    def apply(self, batch: Batch) -> None:
        """Carry out what `batch` holds. OSError for the first operation that failed."""
        waiting: list[tuple[int, _Asked]] = []
        for body in batch.bodies():
            number, asked = self._ask()
            self._send(frame("B", number, body))
            waiting.append((number, asked))
            if len(waiting) >= _MOST_PENDING_FRAMES:
                self._answer(*waiting.pop(0), ANSWER_S)
        for number, asked in waiting:
            self._answer(number, asked, ANSWER_S)

    def ping(self, body: bytes = b"", timeout_s: float = 5.0) -> None:
        """Whether the agent lives. `body` b"1" opens the proxy's port inside."""
        number, asked = self._ask()
        self._send(frame("P", number, body))
        self._answer(number, asked, timeout_s)

    def send_link(self, kind: str, number: int, body: bytes = b"") -> None:
        """Bytes for a connection that the inside opened, or its end."""
        self._send(frame(kind, number, body))

    # Ending

    def fail(self, why: str) -> None:
        """End the connection; what waits fails with `why`. The first reason counts."""
        with self._lock:
            if self.lost is None:
                self.lost = WorkspaceLostError(why, hint="It is started again when it is needed.")
            asked = [item.done for item in self._asked.values()]
            jobs = [job.ended for job in self._jobs.values()]
            self._asked.clear()
            self._jobs.clear()
        error = self._lost_error()
        for future in (*asked, *jobs, self._hello):
            if not future.done():
                future.set_exception(error)
        self._transport.close()

    def close(self) -> None:
        """End it in order."""
        self.fail("The workspace was stopped.")
        if threading.current_thread() is not self._reader:
            self._reader.join(5.0)

    # How it is done

    def _entries(self, kind: str, path: str) -> list[Record]:
        parts: list[bytes] = []
        number, asked = self._ask(parts.append)
        self._send(frame(kind, number, pack_strings([path])))
        self._answer(number, asked, ANSWER_S)
        return self._records(parts)

    def _records(self, parts: Sequence[bytes]) -> list[Record]:
        try:
            return [item for part in parts for item in records(part)]
        except FrameError as error:
            self._broken(error)

    def _broken(self, error: FrameError) -> Never:
        self.fail(f"The workspace broke its protocol: {error}.")
        raise self._lost_error()

    def _ask(self, on_data: Callable[[bytes], None] | None = None) -> tuple[int, _Asked]:
        number = next(self._numbers)
        kept = 0

        def bounded(data: bytes) -> None:
            nonlocal kept
            kept += len(data)
            if kept > _MOST_ANSWER_BYTES and on_data is None:
                raise FrameError("an answer without an end")
            if on_data is not None:
                on_data(data)

        asked = _Asked(Future(), bounded)
        with self._lock:
            if self.lost is not None:
                raise self._lost_error()
            self._asked[number] = asked
        return number, asked

    def _answer(self, number: int, asked: _Asked, timeout_s: float) -> bytes:
        try:
            return asked.done.result(timeout_s)
        except TimeoutError:
            self.fail("The workspace does not answer any more.")
            raise self._lost_error() from None
        finally:
            with self._lock:
                self._asked.pop(number, None)

    def _send(self, data: bytes) -> None:
        if self.lost is not None:
            raise self._lost_error()
        try:
            with self._sending:
                self._transport.write(data)
        except (OSError, ValueError):
            self.fail(self._why_lost())
            raise self._lost_error() from None

    def _lost_error(self) -> WorkspaceLostError:
        known = self.lost
        message = known.message if known is not None else "The workspace is gone."
        return WorkspaceLostError(message, hint=known.hint if known is not None else "")

    def _read(self) -> None:
        splitter = Splitter()
        why = ""
        try:
            while data := self._transport.read():
                for item in splitter.feed(data):
                    self._take(item)
        except (FrameError, struct.error) as error:
            why = f"The workspace broke its protocol: {error}."
            _log.warning("workspace: %s", error)
        except (OSError, ValueError):
            pass
        if self.lost is None:
            self.fail(why or self._why_lost())

    def _take(self, item: Frame) -> None:
        """One frame from the inside; what belongs to nobody any more is dropped."""
        match item.kind:
            case "o" | "e":
                job = self._jobs.get(item.id)
                if job is not None:
                    (job.stdout if item.kind == "o" else job.stderr).add(item.body)
            case "X":
                (code,) = struct.unpack("<i", item.body)
                with self._lock:
                    job = self._jobs.pop(item.id, None)
                if job is not None and not job.ended.done():
                    job.ended.set_result(code)
            case "H":
                if not self._hello.done():
                    self._hello.set_result(unpack_string(item.body))
            case "n" | "b" | "c":
                if self.on_link is not None:
                    self.on_link(item)
            case _:
                self._take_answer(item)

    def _take_answer(self, item: Frame) -> None:
        asked = self._asked.get(item.id)
        if asked is None or asked.done.done():
            return
        match item.kind:
            case "O":
                asked.on_data(item.body)
            case "D":
                asked.done.set_result(item.body)
            case _:
                asked.done.set_exception(failure(item.body))


def wait_for(
    job: Job, channel: Channel, *, timeout_s: float | None, stopped: Callable[[], bool]
) -> int:
    """The exit code of a command, waited for.

    At the time limit it is ended and `WorkspaceTimeError` raised; when `stopped` says so, all that
    runs inside is ended within a second, if need be with the machine, and `StoppedError` raised.
    """
    from sandbox.errors import StoppedError

    until = None if timeout_s is None else time.monotonic() + timeout_s
    while True:
        try:
            return job.ended.result(0.05)
        except TimeoutError:
            if job.ended.done():
                continue
        if stopped():
            # An agent that does not answer in time is lost, and what it ran ends with it.
            with contextlib.suppress(WorkspaceLostError):
                channel.kill_all()
            raise StoppedError
        if until is not None and time.monotonic() > until:
            channel.kill(job)
            raise WorkspaceTimeError(
                f"The command was ended: it took longer than {timeout_s:g} seconds.",
                hint="Give it more time with timeout_s=..., or use start_command.",
            )
