"""One worker process and its lines: start, send, hand events to who waits for them, end.

Owns the child and the two tasks that read from it. Knows nothing of models or settings; that is
`client.py`. A connection that has ended stays ended. Thread: the engine's event loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ValidationError

from models.crash import crash_error
from models.errors import ModelError, ModelStoppedError
from models.protocol import EVENTS, PROTOCOL, Event, Hello, encode_line

log = logging.getLogger(__name__)

_LINE_LIMIT_BYTES = 8 << 20
_STDERR_LINES = 20

type Inbox = asyncio.Queue[Event | ModelError]


class WorkerConnection:
    """A running worker. Made by `open`; ended by `kill`, `close` or the worker itself."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._inboxes: dict[int, Inbox] = {}
        self._hello: asyncio.Future[Hello] = asyncio.get_running_loop().create_future()
        self._stderr: deque[str] = deque(maxlen=_STDERR_LINES)
        self._end: ModelError | None = None
        self._ended_by_us = False
        self._stderr_task = asyncio.create_task(self._read_stderr(), name="model worker stderr")
        self._reader = asyncio.create_task(self._read_events(), name="model worker events")

    @classmethod
    async def open(
        cls, command: Sequence[str], env: Mapping[str, str], *, timeout_s: float
    ) -> WorkerConnection:
        """Start a worker and wait for its hello. Raises `ModelError` or `ModelCrashedError`."""
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                limit=_LINE_LIMIT_BYTES,
                env=dict(env),
            )
        except OSError as error:
            raise ModelError(
                f"The model's process could not be started: {error}.",
                hint="Reinstall Drydock; `drydock doctor` shows what is missing.",
            ) from error
        connection = cls(process)
        try:
            await connection._greet(timeout_s)
        except BaseException:
            await connection.kill()
            raise
        return connection

    @property
    def alive(self) -> bool:
        """Whether the worker can take commands."""
        return self._end is None and self._process.returncode is None

    @property
    def pid(self) -> int:
        """The worker's process id."""
        return self._process.pid

    def inbox(self, request_id: int) -> Inbox:
        """The queue of the events of `request_id`; the last is the reason of the worker's end."""
        inbox: Inbox = asyncio.Queue()
        self._inboxes[request_id] = inbox
        if self._end is not None:
            inbox.put_nowait(self._end)
        return inbox

    def forget(self, request_id: int) -> None:
        """Drop the queue of `request_id`."""
        self._inboxes.pop(request_id, None)

    def send(self, line: BaseModel) -> None:
        """Write one command without waiting. A worker that has gone is noticed by its reader."""
        stdin = self._process.stdin
        if stdin is not None and not stdin.is_closing():
            stdin.write(encode_line(line))

    async def kill(self) -> None:
        """End the worker now and wait until it has gone. Who waits gets `ModelStoppedError`."""
        self._ended_by_us = True
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
        await self._finish()

    async def close(self, *, grace_s: float) -> None:
        """Let the worker end by closing its input; kill it after `grace_s`."""
        self._ended_by_us = True
        if self._process.stdin is not None:
            self._process.stdin.close()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), grace_s)
        await self.kill()

    async def _finish(self) -> None:
        await self._process.wait()
        await asyncio.gather(self._reader, self._stderr_task, return_exceptions=True)

    async def _greet(self, timeout_s: float) -> None:
        try:
            hello = await asyncio.wait_for(asyncio.shield(self._hello), timeout_s)
        except TimeoutError as error:
            raise ModelError(
                f"The model's process did not answer within {timeout_s:.0f} s.",
                hint="Try again when the machine is less busy.",
            ) from error
        if hello.protocol != PROTOCOL:
            raise ModelError(
                f"The model's process speaks version {hello.protocol} of the protocol, "
                f"this app version {PROTOCOL}.",
                hint="Reinstall Drydock so that all of its parts are of one version.",
            )

    async def _read_events(self) -> None:
        """Hand each event to its inbox; at the end of the stream, tell everybody why."""
        stdout = self._process.stdout
        assert stdout is not None
        with contextlib.suppress(ValueError, OSError):
            # ValueError: a line over the limit, which no sound worker writes.
            while line := await stdout.readline():
                self._deliver(line)
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError, TimeoutError):
                await asyncio.wait_for(self._process.wait(), 2)
                await asyncio.wait_for(asyncio.shield(self._stderr_task), 1)
        if self._process.returncode is None:
            self._process.kill()
        self._end = self._reason()
        if not self._hello.done():
            self._hello.set_exception(self._end)
            # Whoever waited may be gone; the exception then needs no reader.
            self._hello.exception()
        for inbox in self._inboxes.values():
            inbox.put_nowait(self._end)

    def _reason(self) -> ModelError:
        """Why the worker has ended: because we wanted it, or by a crash."""
        if self._ended_by_us:
            return ModelStoppedError("The model was stopped.")
        return crash_error(self._process.returncode, "\n".join(self._stderr))

    def _deliver(self, line: bytes) -> None:
        try:
            event = EVENTS.validate_json(line)
        except ValidationError:
            log.warning("worker %d sent a line that is not an event", self.pid)
            return
        if isinstance(event, Hello):
            if not self._hello.done():
                self._hello.set_result(event)
        elif inbox := self._inboxes.get(event.id):
            inbox.put_nowait(event)

    async def _read_stderr(self) -> None:
        stderr = self._process.stderr
        assert stderr is not None
        with contextlib.suppress(ValueError, OSError):
            while line := await stderr.readline():
                self._stderr.append(line.decode(errors="replace").rstrip())
