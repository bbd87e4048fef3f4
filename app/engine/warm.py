"""Keeps what is slow to start: the loaded model, the sandbox's pool, heavy imports.

One local model is loaded at a time; switching unloads the former. Thread: engine.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from app.engine.events import ModelActivity
from app.engine.mailbox import Mailbox
from app.settings import Settings
from models.errors import ModelError
from models.fit import fit_of, need_of_file
from models.gguf import read_gguf
from models.hardware import measure_hardware
from models.prompt import Prompt, load_prompt

if TYPE_CHECKING:
    from pydantic_ai.models import Model
    from pydantic_ai.settings import ModelSettings

    from app.engine.accounts import Tab
    from models.catalog import Catalog
    from models.client import WorkerClient, WorkerSettings

_log = logging.getLogger(__name__)
_importing = threading.Lock()
_imported = threading.Event()
_PROBE_TEXT = "Count from one to one hundred in words: one, two, three,"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyModel:
    """A model that can be asked.

    `one_program`: its answer is the program's result, so a program that ran ends the turn (small
    local models); `sees`: it is shown pictures; `context_tokens`: what fits into a request with its
    reply; `settings`: what its requests are sent with, None: the turn's own; `tab`: the turn's
    accounts; `explain`: puts an error of the agent loop into words.
    """

    model: Model
    prompt: Prompt
    context_tokens: int
    one_program: bool
    sees: bool = False
    settings: ModelSettings | None = None
    tab: Tab | None = None
    explain: Callable[[BaseException], ModelError] | None = None


class ModelSource(Protocol):
    """Where the engine gets models from; tests give scripted ones."""

    async def ready(self, model_id: str) -> ReadyModel:
        """Load and return a model. Raises: `ModelError`."""
        ...

    async def close(self) -> None:
        """End what was started."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A model measured: seconds and tokens a second of generation."""

    load_s: float
    first_token_s: float
    tokens_per_s: float
    threads: int


class LocalModels:
    """Local models through one worker process."""

    def __init__(
        self,
        *,
        catalog: Callable[[], Catalog],
        folder: Path,
        settings: Callable[[], Settings],
        mailbox: Mailbox,
        command: tuple[str, ...] | None = None,
    ) -> None:
        self._catalog = catalog
        self._folder = folder
        self._settings = settings
        self._mailbox = mailbox
        self._command = command
        self._lock = asyncio.Lock()
        self._client: WorkerClient | None = None

    async def ready(self, model_id: str) -> ReadyModel:
        """Load the model if it is not the loaded one.

        Raises: `ModelError` for an unknown id, a missing file, or a load that failed.
        """
        await asyncio.to_thread(import_heavy)  # here it would hold up the loop, and so the window
        from models.client import WorkerSettings
        from models.library import prefix_folder, require_model
        from models.local import LocalModel

        entry = self._catalog().get(model_id)
        # In a thread: a file that was never verified is read to its end.
        path = (await asyncio.to_thread(require_model, self._folder, entry)).path
        prompt = load_prompt(entry.family, entry.id)
        settings = self._settings().model_for(model_id)
        context_tokens = min(settings.context_tokens, entry.context_tokens)
        await asyncio.to_thread(check_file, path, entry.name, context_tokens)
        wanted = WorkerSettings(
            # The parts of a split model lie next to the file that a link leads to.
            path=path.resolve(),
            context_tokens=context_tokens,
            threads=settings.threads or None,
            fixed_messages=prompt.fixed_messages(),
            prefix_folder=prefix_folder(self._folder),
        )
        client = await self._load(model_id, wanted)
        return ReadyModel(
            model=LocalModel(client, entry.id, grammar=settings.grammar),
            prompt=prompt,
            context_tokens=context_tokens,
            one_program=True,
        )

    async def probe(self, model_id: str, *, tokens: int) -> Probe:
        """Load a model and let it write `tokens` tokens. Raises: `ModelError`."""
        from models.client import GenerateRequest
        from models.local import LocalModel

        began = time.perf_counter()
        ready = await self.ready(model_id)
        load_s = time.perf_counter() - began
        assert isinstance(ready.model, LocalModel)
        request = GenerateRequest(prompt=_PROBE_TEXT, max_tokens=tokens, temperature=0.0)
        _, done = await ready.model.client.complete(request)
        first_token_s = done.first_token_s or done.total_s
        writing_s = max(1e-6, done.total_s - first_token_s)
        return Probe(
            load_s=load_s,
            first_token_s=first_token_s,
            tokens_per_s=max(0, done.completion_tokens - 1) / writing_s,
            threads=self._settings().model_for(model_id).threads
            or measure_hardware().default_threads,
        )

    async def _load(self, model_id: str, wanted: WorkerSettings) -> WorkerClient:
        async with self._lock:
            client = await self._client_for(wanted)
            self._mailbox.post(ModelActivity(model_id=model_id, state="loading"))
            try:
                await client.load()
            except ModelError as error:
                self._mailbox.post(
                    ModelActivity(model_id=model_id, state="failed", detail=error.message)
                )
                raise
            self._mailbox.post(ModelActivity(model_id=model_id, state="ready"))
            return client

    async def _client_for(self, wanted: WorkerSettings) -> WorkerClient:
        """The client that has `wanted` loaded or will load it; ends the one before."""
        from models.client import WorkerClient

        if self._client is not None and self._client.settings != wanted:
            await self._client.close()
            self._client = None
        if self._client is None:
            self._client = WorkerClient(wanted, command=self._command)
        return self._client

    async def close(self) -> None:
        """End the worker."""
        if self._client is not None:
            await self._client.close()
            self._client = None


def check_file(path: Path, name: str, context_tokens: int) -> None:
    """Read a model file's header before native code does, and see whether the memory is enough.

    Raises: `ModelError` for a damaged file, and for one that this machine cannot hold at all.
    """
    header = read_gguf(path)
    total = measure_hardware().total_memory_bytes
    fit = fit_of(need_of_file(header), context_tokens, total)
    if fit.label != "fits":
        raise ModelError(
            f"{name} does not fit into this machine's memory with a context of "
            f"{context_tokens:,} tokens.",
            hint=fit.advice,
            setting="model.context_tokens",
        )


def import_heavy() -> None:
    """Import what the first turn needs, then take it out of the collector's sight; once.

    Full collections over these modules would otherwise pause the window for up to 240 ms. A second
    caller waits for the first. Thread: a worker.
    """
    with _importing:
        if _imported.is_set():
            return
        for name in ("pydantic_ai", "pydantic_ai.messages", "models.local", "pydantic_monty"):
            importlib.import_module(name)
        gc.collect()
        gc.freeze()
        _imported.set()
