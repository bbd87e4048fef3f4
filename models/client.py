"""Talks to the model worker: load, generate, stop, count. One client per loaded model.

Owns the life of the worker process: started at the first use, started afresh after a crash, ended
by `close`. Requests run one after the other. It must not run llama.cpp itself: a crash of native
code has to end the child and nothing else. Thread: the engine's event loop.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from models.connection import Inbox, WorkerConnection
from models.errors import ModelError
from models.hardware import measure_hardware
from models.protocol import (
    ChatMessage,
    Count,
    Counted,
    Delta,
    Done,
    Evaluating,
    Event,
    Failed,
    Generate,
    Load,
    Loaded,
    Stop,
)

DEFAULT_CONTEXT_TOKENS = 8192
_HELLO_TIMEOUT_S = 60.0
_STOP_GRACE_S = 0.7
"""After Stop, the worker has this long to end the generation; then the process is ended."""
_CLOSE_GRACE_S = 1.0

_HINTS: dict[str, tuple[str, str]] = {
    "engine_missing": ("Reinstall Drydock; `drydock doctor` shows what is missing.", ""),
    "load_failed": (
        "Fetch the model again with `drydock models pull`, or choose another one.",
        "model.id",
    ),
    "no_memory": (
        "Lower model.context_tokens, close other programs, or choose a smaller model.",
        "model.context_tokens",
    ),
    "not_loaded": ("Send the request again.", ""),
    "context_full": (
        "Raise model.context_tokens, grant fewer folders, or start a new chat.",
        "model.context_tokens",
    ),
    "bad_request": ("Choose another model; this one cannot read the request.", "model.id"),
    "grammar_failed": ("Send the request again, or switch off model.grammar.", "model.grammar"),
    "internal": ("Send the request again; if it fails again, choose another model.", ""),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSettings:
    """What a worker loads. `threads` None: physical cores minus one, at least one.

    `fixed_messages` begin every chat and hold nobody's data: with a `prefix_folder`, a request
    that begins with them is read from there instead of being evaluated.
    """

    path: Path
    context_tokens: int = DEFAULT_CONTEXT_TOKENS
    threads: int | None = None
    gpu_layers: int = 0
    load_timeout_s: float = 300.0
    fixed_messages: tuple[ChatMessage, ...] = ()
    prefix_folder: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateRequest:
    """One generation. `seed` None: a new one each time. `stop`: texts that end the reply.

    `grammar` and `drafts`: see `protocol.Generate`.
    """

    messages: tuple[ChatMessage, ...] = ()
    prompt: str = ""
    max_tokens: int = 1024
    temperature: float = 0.2
    top_p: float = 0.95
    seed: int | None = None
    stop: tuple[str, ...] = ()
    grammar: bool = False
    drafts: bool = True


def default_command() -> tuple[str, ...]:
    """The worker as a module of this Python, with no import path from the current folder."""
    return (sys.executable, "-P", "-m", "models.worker")


def _worker_env() -> dict[str, str]:
    """This process's environment, with the folder of the `models` package importable."""
    root = str(Path(__file__).resolve().parent.parent)
    return {**os.environ, "PYTHONPATH": root, "PYTHONUNBUFFERED": "1"}


class WorkerClient:
    """A model in a child process, as an async object.

    Every method may raise `ModelCrashedError` (the child ended; the next call starts a fresh one)
    or `ModelError` (with the next step). Not safe to use from several event loops.
    """

    def __init__(self, settings: WorkerSettings, *, command: Sequence[str] | None = None) -> None:
        """`command`: the child's argument list; a frozen app gives its own."""
        self._settings = settings
        self._command = tuple(command) if command is not None else default_command()
        self._connection: WorkerConnection | None = None
        self._loaded: Loaded | None = None
        self._ids = itertools.count(1)
        self._lock = asyncio.Lock()
        self._running: int | None = None
        self._ending: asyncio.Task[None] | None = None

    @property
    def settings(self) -> WorkerSettings:
        """What this client loads."""
        return self._settings

    @property
    def pid(self) -> int | None:
        """The child's process id, or None when none runs."""
        connection = self._connection
        return connection.pid if connection is not None and connection.alive else None

    @property
    def context_tokens(self) -> int:
        """The context as loaded, or as set when nothing is loaded yet."""
        return self._loaded.context_tokens if self._loaded else self._settings.context_tokens

    async def load(self) -> Loaded:
        """Start the child and load the model, if that is not done already."""
        async with self._lock:
            _, loaded = await self._ready()
            return loaded

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[Evaluating | Delta | Done]:
        """Stream one reply; the last item is `Done`. Leaving early or cancelling stops it.

        Iterate inside `contextlib.aclosing`, so that leaving early is noticed at once.
        """
        async with self._lock:
            connection, _ = await self._ready()
            request_id = next(self._ids)
            inbox = connection.inbox(request_id)
            self._running = request_id
            ended = False
            try:
                fixed = self._settings.fixed_messages
                connection.send(_generate_line(request_id, request, fixed))
                while True:
                    event = _checked(await inbox.get())
                    if isinstance(event, Done):
                        ended = True
                        yield event
                        return
                    if isinstance(event, Delta | Evaluating):
                        yield event
            except ModelError:
                ended = True
                raise
            finally:
                self._running = None
                if ended:
                    connection.forget(request_id)
                else:
                    self._abandon(connection, request_id, inbox)

    async def complete(self, request: GenerateRequest) -> tuple[str, Done]:
        """One reply as a whole, with what it cost."""
        texts: list[str] = []
        async with aclosing(self.generate(request)) as events:
            async for event in events:
                if isinstance(event, Delta):
                    texts.append(event.text)
                elif isinstance(event, Done):
                    return "".join(texts), event
        raise ModelError("The model's process ended a reply without saying so.")

    async def stop(self) -> None:
        """Stop the generation that runs, if one does; its `Done` says ``stopped``.

        A worker that does not obey within 0.7 s is ended.
        """
        connection, request_id = self._connection, self._running
        if connection is None or request_id is None:
            return
        connection.send(Stop(id=request_id))
        deadline = asyncio.get_running_loop().time() + _STOP_GRACE_S
        while self._running == request_id and connection.alive:
            if asyncio.get_running_loop().time() >= deadline:
                await connection.kill()
                return
            await asyncio.sleep(0.02)

    async def count_tokens(self, text: str = "", *, messages: Sequence[ChatMessage] = ()) -> int:
        """Tokens of `text`, or of `messages` as the chat template renders them.

        Waits for a generation that runs; so never await it while iterating over one.
        """
        async with self._lock:
            connection, _ = await self._ready()
            request_id = next(self._ids)
            line = Count(id=request_id, text=text, messages=tuple(messages))
            event = await self._ask(connection, line, request_id)
            if not isinstance(event, Counted):
                raise ModelError("The model's process gave a wrong answer to a count.")
            return event.tokens

    async def close(self) -> None:
        """End the child. A generation that runs ends with `ModelStoppedError`.

        The next call starts a fresh child.
        """
        await self._await_ending()
        connection, self._connection, self._loaded = self._connection, None, None
        if connection is not None:
            await connection.close(grace_s=_CLOSE_GRACE_S)

    async def _ready(self) -> tuple[WorkerConnection, Loaded]:
        """A connection with the model loaded; a fresh one after a crash. Holds the lock."""
        await self._await_ending()
        connection, loaded = self._connection, self._loaded
        if connection is not None and loaded is not None and connection.alive:
            return connection, loaded
        if connection is not None:
            await connection.kill()
        self._connection = self._loaded = None
        connection = await WorkerConnection.open(
            self._command, _worker_env(), timeout_s=_HELLO_TIMEOUT_S
        )
        try:
            loaded = await self._load(connection)
        except BaseException:
            await connection.kill()
            raise
        self._connection, self._loaded = connection, loaded
        return connection, loaded

    async def _load(self, connection: WorkerConnection) -> Loaded:
        settings = self._settings
        request_id = next(self._ids)
        line = Load(
            id=request_id,
            path=str(settings.path),
            context_tokens=settings.context_tokens,
            threads=settings.threads or measure_hardware().default_threads,
            gpu_layers=settings.gpu_layers,
            prefix_folder=str(settings.prefix_folder or ""),
        )
        try:
            async with asyncio.timeout(settings.load_timeout_s):
                event = await self._ask(connection, line, request_id)
        except TimeoutError as error:
            raise ModelError(
                f"The model was not loaded within {settings.load_timeout_s:.0f} s.",
                hint="Choose a smaller model, or free memory and try again.",
                setting="model.id",
            ) from error
        if not isinstance(event, Loaded):
            raise ModelError("The model's process gave a wrong answer to a load.")
        return event

    async def _ask(
        self, connection: WorkerConnection, line: Load | Count, request_id: int
    ) -> Event:
        """Send a command that has one answer and wait for it."""
        inbox = connection.inbox(request_id)
        try:
            connection.send(line)
            return _checked(await inbox.get())
        finally:
            connection.forget(request_id)

    def _abandon(self, connection: WorkerConnection, request_id: int, inbox: Inbox) -> None:
        """Nobody listens any more: stop the generation, and end the child if it does not obey."""
        connection.send(Stop(id=request_id))
        self._ending = asyncio.create_task(
            _end_generation(connection, request_id, inbox), name="model worker stop"
        )

    async def _await_ending(self) -> None:
        ending = self._ending
        if ending is not None:
            await asyncio.shield(ending)
            if self._ending is ending:
                self._ending = None


async def _end_generation(connection: WorkerConnection, request_id: int, inbox: Inbox) -> None:
    """Wait for the stopped generation's end; kill the child after `_STOP_GRACE_S`."""
    try:
        async with asyncio.timeout(_STOP_GRACE_S):
            while True:
                event = await inbox.get()
                if isinstance(event, Done | Failed | ModelError):
                    return
    except TimeoutError:
        await connection.kill()
    finally:
        connection.forget(request_id)


def _generate_line(
    request_id: int, request: GenerateRequest, fixed: tuple[ChatMessage, ...]
) -> Generate:
    # Only when all of them lead and more follows: a part of them is not worth a file.
    begins_fixed = len(request.messages) > len(fixed) and request.messages[: len(fixed)] == fixed
    return Generate(
        id=request_id,
        messages=request.messages,
        prompt=request.prompt,
        max_tokens=request.max_tokens,
        temperature=request.temperature,
        top_p=request.top_p,
        seed=request.seed,
        stop=request.stop,
        grammar=request.grammar,
        drafts=request.drafts,
        prefix_messages=len(fixed) if begins_fixed else 0,
    )


def _checked(event: Event | ModelError) -> Event:
    """The event, unless it is a failure: then the error with its next step."""
    if isinstance(event, ModelError):
        raise event
    if isinstance(event, Failed):
        hint, setting = _HINTS.get(event.code, ("", ""))
        raise ModelError(event.message, hint=hint, setting=setting)
    return event
