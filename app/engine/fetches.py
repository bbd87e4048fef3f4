"""Fetching model files while the app runs: one task a model, progress as events.

Thread: engine.
"""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import TYPE_CHECKING

from app.engine.events import FetchEnded, FetchProgressed
from app.engine.mailbox import Mailbox
from models.errors import ModelError, ModelStoppedError

if TYPE_CHECKING:
    from models.catalog import Catalog
    from models.fetch import FetchProgress

_log = logging.getLogger(__name__)


class Fetches:
    """The fetches that are under way."""

    def __init__(self, catalog: Catalog, folder: Path, mailbox: Mailbox) -> None:
        self._catalog = catalog
        self._folder = folder
        self._mailbox = mailbox
        self._tasks: dict[str, asyncio.Task[FetchEnded]] = {}

    def active(self, model_id: str) -> bool:
        """Whether `model_id` is being fetched."""
        return model_id in self._tasks

    def begin(self, model_id: str) -> None:
        """Start fetching; does nothing when it is under way. Raises: `ModelError` (unknown id)."""
        if model_id in self._tasks:
            return
        self._catalog.get(model_id)
        task = asyncio.create_task(self.run(model_id), name=f"fetch-{model_id}")
        self._tasks[model_id] = task

    async def run(self, model_id: str) -> FetchEnded:
        """Fetch and wait; how it ended is posted as an event too."""
        ended = await self._fetch(model_id)
        self._tasks.pop(model_id, None)
        self._mailbox.post(ended)
        return ended

    async def _fetch(self, model_id: str) -> FetchEnded:
        from models.fetch import fetch

        try:
            entry = self._catalog.get(model_id)
            await fetch(entry, self._folder, lambda progress: self._progress(model_id, progress))
        except (asyncio.CancelledError, ModelStoppedError):
            return FetchEnded(model_id=model_id, cancelled=True)
        except ModelError as error:
            return FetchEnded(model_id=model_id, problem=error.message, hint=error.hint)
        except Exception as error:
            _log.exception("fetch of %s ended by an error of ours", model_id)
            return FetchEnded(model_id=model_id, problem=f"{type(error).__name__}: {error}")
        return FetchEnded(model_id=model_id)

    async def cancel(self, model_id: str) -> None:
        """Stop a fetch; what has arrived is kept for the next time."""
        task = self._tasks.get(model_id)
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    async def close(self) -> None:
        """Stop all fetches."""
        for model_id in list(self._tasks):
            await self.cancel(model_id)

    def _progress(self, model_id: str, progress: FetchProgress) -> None:
        self._mailbox.post(
            FetchProgressed(
                model_id=model_id,
                done_bytes=progress.done_bytes,
                total_bytes=progress.total_bytes or None,
                bytes_per_s=progress.speed_bytes_s or None,
                seconds_left=_seconds_left(progress),
                source=progress.source,
            )
        )


def _seconds_left(progress: FetchProgress) -> float | None:
    if not progress.total_bytes or progress.speed_bytes_s <= 0:
        return None
    return max(0, progress.total_bytes - progress.done_bytes) / progress.speed_bytes_s
