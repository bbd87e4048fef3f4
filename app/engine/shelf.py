"""The local models of this machine: what is here, what can be had, and what is done with them.

Owns the catalog with its imports, the queue of fetches, and what was measured. Thread: engine;
files are looked at by worker threads.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.engine.fetches import Fetches
from app.engine.mailbox import Mailbox
from app.engine.model_status import Measured, ModelStatus, model_status
from app.engine.router import Rate
from app.engine.warm import LocalModels, ModelSource, Probe, ReadyModel
from app.errors import AppError
from app.settings import Settings
from app.store.downloads import DownloadStore
from app.store.probes import ProbeStore
from models.catalog import Catalog, CatalogEntry
from models.hardware import machine_name
from models.imports import (
    OWNERS,
    Found,
    find_models,
    forget_imported,
    import_model,
    is_here,
    with_imported,
)
from models.library import remove_model
from sandbox.builtin_tools import builtin_tools
from sandbox.errors import ProgramFaultError
from sandbox.program import prepare

if TYPE_CHECKING:
    from app.store.database import Tables

PROBE_TOKENS = 48
_HELLO = "Say hello in one short sentence."
_TASK = "How many files are there of each type? Print a line for each type."
_LISTING = "notes.txt (1.2 kB)\nplan.txt (310 bytes)\nphoto.jpg (2.1 MB)"
_HELLO_TOKENS, _PROGRAM_TOKENS = 48, 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What a model said when it was tried. `problem`: why its program cannot run; empty: it can."""

    hello: str
    program: str
    problem: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Elsewhere:
    """A model file of another program. `here_as`: the model that is linked to it already."""

    found: Found
    here_as: str = ""


class ModelShelf:
    """What the models dialog and the command line ask about local models."""

    def __init__(
        self,
        *,
        catalog: Catalog,
        folder: Path,
        tables: Tables,
        settings: Callable[[], Settings],
        mailbox: Mailbox,
        rates: Callable[[], list[Rate]],
        busy: Callable[[], bool],
    ) -> None:
        """`rates`: what the lab measured here; `busy`: whether a turn is under way."""
        folder.mkdir(parents=True, exist_ok=True)
        self._own_catalog = catalog
        self._folder = folder
        self._settings = settings
        self._rates = rates
        self._busy = busy
        self._models: ModelSource | None = None
        self._probes = ProbeStore(tables)
        self.catalog = with_imported(catalog, folder)
        self.fetches = Fetches(
            catalog=lambda: self.catalog,
            folder=folder,
            mailbox=mailbox,
            store=DownloadStore(tables),
            settings=settings,
        )

    def serve(self, models: ModelSource) -> None:
        """Say where local models are made ready."""
        self._models = models

    async def models(self) -> list[ModelStatus]:
        """The catalog with what is here."""
        speeds, rates = self._probes.of_machine(machine_name()), self._rates()
        found: list[ModelStatus] = []
        for entry in self.catalog.entries:
            model_id = f"local:{entry.id}"
            measured = Measured(
                speed=speeds.get(model_id),
                rates=tuple(rate for rate in rates if rate.model_id == model_id),
            )
            download = self.fetches.download(model_id)
            found.append(
                await asyncio.to_thread(
                    model_status, entry, self._folder, self._settings(),
                    download=download, measured=measured,
                )
            )  # fmt: skip
        return found

    async def fetch(self, model_id: str) -> None:
        """Put a model into the queue; returns at once. Raises: `ModelError`."""
        self.fetches.begin(model_id)

    async def elsewhere(self) -> list[Elsewhere]:
        """The model files that other programs have on this machine."""

        def look() -> list[Elsewhere]:
            return [
                Elsewhere(found=found, here_as=is_here(self._folder, self.catalog, found.path))
                for owner in OWNERS
                for found in find_models(owner)
            ]

        return await asyncio.to_thread(look)

    async def take_in(self, path: Path, name: str = "") -> CatalogEntry:
        """Use a model file that is on this machine, by a link. Raises: `ModelError`."""
        entry = await asyncio.to_thread(import_model, self._folder, self.catalog, path, name)
        self._use_catalog()
        return entry

    async def remove(self, model_id: str) -> int | None:
        """Delete a model's file, or its link; the bytes freed, None when it was not here.

        Raises: `AppError` while a turn may be using it.
        """
        self._refuse_busy()
        if self._models is not None:
            await self._models.close()  # on some systems a file that is loaded cannot be deleted
        await self.fetches.cancel(model_id)
        freed = await asyncio.to_thread(remove_model, self._folder, model_id)
        forget_imported(self._folder, model_id)
        self._probes.remove(f"local:{model_id.removeprefix('local:')}")
        self._use_catalog()
        return freed

    def _use_catalog(self) -> None:
        self.catalog = with_imported(self._own_catalog, self._folder)

    async def probe(self, model_id: str, *, tokens: int = PROBE_TOKENS) -> Probe:
        """Load a model and measure it; remembered for this machine. Raises: `ModelError`."""
        if not isinstance(self._models, LocalModels):
            raise AppError("Only local models can be probed.")
        self._refuse_busy()
        probe = await self._models.probe(model_id, tokens=tokens)
        self._probes.put(
            model_id,
            tokens_per_s=probe.tokens_per_s,
            first_token_s=probe.first_token_s,
            load_s=probe.load_s,
            threads=probe.threads,
            machine=machine_name(),
        )
        return probe

    async def sample(self, model_id: str) -> Sample:
        """Let a model say hello and write one program, which is checked and not run.

        Raises: `ModelError` when it cannot be loaded or does not answer.
        """
        self._refuse_busy()
        if self._models is None:
            raise AppError("There are no local models here.")
        loop = asyncio.get_running_loop()
        began = loop.time()
        ready = await self._models.ready(model_id)
        hello = await _said(ready, _HELLO, tokens=_HELLO_TOKENS)
        text = await _said(
            ready,
            ready.prompt.task_text(_LISTING, _TASK),
            tokens=_PROGRAM_TOKENS,
            system=ready.prompt.system_text(),
        )
        program, problem = await asyncio.to_thread(_checked, text)
        return Sample(
            hello=" ".join(hello.split()),
            program=program,
            problem=problem,
            seconds=loop.time() - began,
        )

    def _refuse_busy(self) -> None:
        if self._busy():
            raise AppError(
                "A turn is under way, and one local model is loaded at a time.",
                hint="Wait until it is done, or stop it.",
            )


async def _said(ready: ReadyModel, text: str, *, tokens: int, system: str = "") -> str:
    from pydantic_ai.direct import model_request
    from pydantic_ai.messages import ModelRequest, SystemPromptPart, UserPromptPart
    from pydantic_ai.settings import ModelSettings

    parts: list[Any] = [SystemPromptPart(content=system)] if system else []
    parts.append(UserPromptPart(content=text))
    reply = await model_request(
        ready.model,
        [ModelRequest(parts=parts)],
        model_settings=ModelSettings(max_tokens=tokens, temperature=0.0),
    )
    return reply.text or ""


def _checked(text: str) -> tuple[str, str]:
    """The program in a reply, and why it cannot run; empty when it can."""
    from models.extract import extract_program

    found = extract_program(text)
    if not found.found:
        return "", "The reply holds no program."
    try:
        prepare(found.source, builtin_tools())
    except ProgramFaultError as error:
        return found.source.strip(), error.fault.brief()
    return found.source.strip(), ""
