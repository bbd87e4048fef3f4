"""The model worker: a child process that runs llama.cpp and speaks `models/protocol.py`.

Owns its standard input and output, and the order of commands. It reads no settings, keeps no
files but the evaluated prefixes (`prefix.py`) where `Load` says, and opens no socket. A reader
thread takes lines from standard input, so that Stop works in mid-generation; everything else is on
the main thread. When standard input closes (the app has gone), the process ends at once. Started
as ``python -m models.worker``, or by `main` in a frozen app.
"""

from __future__ import annotations

import ctypes
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, BinaryIO, assert_never

from pydantic import BaseModel, ValidationError

from models.protocol import (
    COMMANDS,
    PROTOCOL,
    Command,
    CommandError,
    Count,
    Counted,
    Delta,
    Failed,
    FailureCode,
    Generate,
    Hello,
    Load,
    Loaded,
    Shutdown,
    Stop,
    Unload,
    Unloaded,
    encode_line,
)

if TYPE_CHECKING:
    from models.engine import LlamaEngine

_PR_SET_PDEATHSIG = 1


class _Stopping(threading.Event):
    """Set while the generation that is running has been told to stop.

    A stop for a generation that has not begun yet is remembered; one that is over is forgotten.
    """

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._running: int | None = None
        self._early: set[int] = set()

    def request(self, request_id: int) -> None:
        """Stop `request_id`, running or yet to come (reader thread)."""
        with self._lock:
            if request_id == self._running:
                self.set()
            else:
                self._early.add(request_id)

    def begin(self, request_id: int) -> None:
        """`request_id` is the one that runs now (main thread)."""
        with self._lock:
            self._running = request_id
            if request_id in self._early:
                self.set()
            else:
                self.clear()
            self._early.clear()

    def end(self) -> None:
        """Nothing runs (main thread)."""
        with self._lock:
            self._running = None
            self.clear()


class Worker:
    """Carries out commands one after the other, each answered by an event."""

    def __init__(self, output: BinaryIO) -> None:
        self._output = output
        self._engine: LlamaEngine | None = None
        self._queue: queue.SimpleQueue[Command] = queue.SimpleQueue()
        self._stopping = _Stopping()

    def read(self, lines: Iterable[bytes]) -> None:
        """Take commands until the input ends, then end the process (reader thread)."""
        for line in lines:
            try:
                command = COMMANDS.validate_json(line)
            except ValidationError as error:
                self._fail(0, "bad_request", str(error))
                continue
            if isinstance(command, Stop):
                self._stopping.request(command.id)
            else:
                self._queue.put(command)
        # The parent has gone: nothing that runs here is of use to anybody.
        os._exit(0)

    def run(self) -> None:
        """Say hello, then serve until `Shutdown` (main thread)."""
        self._send(Hello(protocol=PROTOCOL, pid=os.getpid()))
        while not isinstance(command := self._queue.get(), Shutdown):
            self._serve(command)
        if self._engine is not None:
            self._engine.close()

    def _serve(self, command: Load | Generate | Count | Stop | Unload) -> None:
        # An edge of the process: whatever goes wrong becomes one line for the app.
        try:
            self._carry_out(command)
        except CommandError as error:
            self._fail(command.id, error.code, error.message)
        except Exception as error:
            self._fail(command.id, "internal", f"{type(error).__name__}: {error}")

    def _carry_out(self, command: Load | Generate | Count | Stop | Unload) -> None:
        match command:
            case Load():
                self._load(command)
            case Generate():
                self._generate(command)
            case Count():
                self._count(command)
            case Unload():
                self._unload()
                self._send(Unloaded(id=command.id))
            case Stop():
                # The reader thread answers these; one never comes this far.
                return
            case _:
                assert_never(command)

    def _load(self, command: Load) -> None:
        started = time.monotonic()
        self._unload()
        try:
            # Late on purpose: the import loads native code, and hello should come before it.
            from models.engine import LlamaEngine
        except (ImportError, OSError) as error:
            self._fail(command.id, "engine_missing", f"llama.cpp cannot be used here: {error}")
            return
        engine = LlamaEngine(command, self._stopping)
        self._engine = engine
        self._send(
            Loaded(
                id=command.id,
                context_tokens=engine.context_tokens,
                trained_context_tokens=engine.trained_context_tokens,
                description=engine.description,
                seconds=time.monotonic() - started,
            )
        )

    def _generate(self, command: Generate) -> None:
        engine = self._engine
        if engine is None:
            self._fail(command.id, "not_loaded", "No model is loaded.")
            return
        self._stopping.begin(command.id)
        try:
            done = engine.generate(
                command,
                on_text=lambda text: self._send(Delta(id=command.id, text=text)),
                on_progress=self._send,
            )
        finally:
            self._stopping.end()
        self._send(done)

    def _count(self, command: Count) -> None:
        engine = self._engine
        if engine is None:
            self._fail(command.id, "not_loaded", "No model is loaded.")
            return
        if command.messages:
            tokens = engine.tokenize(engine.render(command.messages), special=True)
        else:
            tokens = engine.tokenize(command.text)
        self._send(Counted(id=command.id, tokens=len(tokens)))

    def _unload(self) -> None:
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.close()

    def _fail(self, request_id: int, code: FailureCode, message: str) -> None:
        self._send(Failed(id=request_id, code=code, message=message))

    def _send(self, line: BaseModel) -> None:
        self._output.write(encode_line(line))


def _die_with_parent() -> None:
    """On Linux: the kernel ends this process when the app's ends, even by SIGKILL."""
    if sys.platform != "linux":
        return
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _private_output() -> BinaryIO:
    """The protocol's own output; descriptor 1 becomes stderr, so that no library writes into it."""
    output = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    return output


def main() -> int:
    """Run the worker until it is told to shut down. Returns the exit status."""
    _die_with_parent()
    # Ctrl+C in a terminal goes to the whole group; the app decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    worker = Worker(_private_output())
    reader = threading.Thread(
        target=worker.read, args=(sys.stdin.buffer,), name="commands", daemon=True
    )
    reader.start()
    worker.run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
