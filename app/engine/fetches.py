"""The queue of model files that are fetched: one at a time, kept in the store, progress as events.

A model stays in the queue until it is here or was given up; what was waiting when the app ended
goes on when it starts again. Offline nothing begins and what is under way ends; it waits then.
Thread: engine.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from app.engine.events import FetchEnded, FetchesChanged, FetchProgressed
from app.engine.mailbox import Mailbox
from app.engine.offline import is_offline, refuse_offline
from app.settings import Settings
from app.store.downloads import DownloadStore
from models.catalog import with_mirrors
from models.errors import ModelError, ModelStoppedError
from models.library import discard_partial, partial_bytes

if TYPE_CHECKING:
    from models.catalog import Catalog
    from models.fetch import FetchProgress

_log = logging.getLogger(__name__)

FetchState = Literal["waiting", "downloading", "verifying", "paused", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Download:
    """A model of the queue. `done_bytes`: what is here; `ahead`: how many come before it."""

    state: FetchState
    done_bytes: int
    ahead: int = 0
    problem: str = ""
    hint: str = ""


class Fetches:
    """Fetches models, in the order in which they were asked for."""

    def __init__(
        self,
        *,
        catalog: Callable[[], Catalog],
        folder: Path,
        mailbox: Mailbox,
        store: DownloadStore,
        settings: Callable[[], Settings],
    ) -> None:
        self._catalog = catalog
        self._folder = folder
        self._mailbox = mailbox
        self._store = store
        self._settings = settings
        self._current = ""
        self._task: asyncio.Task[None] | None = None
        self._verifying = False
        self._open = True

    def go_on(self) -> None:
        """Begin with the first that waits, if nothing is under way and it may be."""
        if self._task is not None or not self._open or is_offline(self._settings()):
            return
        waiting = [one.model_id for one in self._store.all() if one.state == "waiting"]
        if not waiting:
            return
        self._current, self._verifying = waiting[0], False
        self._task = asyncio.create_task(self._next(waiting[0]), name=f"fetch-{waiting[0]}")
        self._mailbox.post(FetchesChanged())

    def download(self, model_id: str) -> Download | None:
        """How a model of the queue stands; None: it is not in the queue."""
        queue = self._store.all()
        row = next((one for one in queue if one.model_id == model_id), None)
        if row is None:
            return None
        done = partial_bytes(self._folder, model_id.removeprefix("local:"))
        state: FetchState = row.state
        if model_id == self._current:
            state = "verifying" if self._verifying else "downloading"
        before = queue[: queue.index(row)]
        ahead = sum(one.state == "waiting" or one.model_id == self._current for one in before)
        return Download(
            state=state, done_bytes=done, ahead=ahead, problem=row.problem, hint=row.hint
        )

    def begin(self, model_id: str) -> None:
        """Put a model into the queue, or go on with one that was paused or has failed.

        Raises: `ModelError` for an id that is not known, `OfflineError`.
        """
        self._catalog().get(model_id)
        refuse_offline(self._settings(), "nothing is downloaded")
        if model_id != self._current:
            self._store.put(model_id, "waiting")
        self._mailbox.post(FetchesChanged())
        self.go_on()

    async def pause(self, model_id: str) -> None:
        """Stop a fetch until `begin`; what has arrived is kept."""
        if self._store.find(model_id) is not None:
            self._store.put(model_id, "paused")
            await self._stop(model_id)
            self._mailbox.post(FetchesChanged())
            self.go_on()

    async def cancel(self, model_id: str) -> None:
        """Give a fetch up; what has arrived is removed."""
        self._store.remove(model_id)
        await self._stop(model_id)
        await asyncio.to_thread(discard_partial, self._folder, model_id.removeprefix("local:"))
        self._mailbox.post(FetchEnded(model_id=model_id, cancelled=True))
        self.go_on()

    async def settings_changed(self) -> None:
        """Go offline, or on again."""
        if is_offline(self._settings()):
            await self._stop(self._current)
            self._mailbox.post(FetchesChanged())
        else:
            self.go_on()

    async def run(self, model_id: str) -> FetchEnded:
        """Fetch now, beside the queue, and wait; how it ended is posted as an event too."""
        ended = await self._fetch(model_id)
        self._mailbox.post(ended)
        return ended

    async def close(self) -> None:
        """Stop what is under way; it goes on at the next start."""
        self._open = False
        await self._stop(self._current)

    async def _stop(self, model_id: str) -> None:
        if self._task is not None and model_id == self._current:
            task = self._task
            task.cancel()
            await asyncio.wait([task])

    async def _next(self, model_id: str) -> None:
        """Fetch one model of the queue; then the next one begins."""
        try:
            ended = await self._fetch(model_id)
            if ended.problem:
                self._store.put(model_id, "failed", problem=ended.problem, hint=ended.hint)
            elif not ended.cancelled:
                self._store.remove(model_id)
        finally:
            self._task, self._current = None, ""
        if not ended.cancelled:
            self._mailbox.post(ended)
            self.go_on()

    async def _fetch(self, model_id: str) -> FetchEnded:
        from models.fetch import fetch

        try:
            settings = self._settings()
            refuse_offline(settings, "nothing is downloaded")
            entry = with_mirrors(self._catalog().get(model_id), settings.network.mirrors)
            await fetch(entry, self._folder, lambda progress: self._progress(model_id, progress))
        except (asyncio.CancelledError, ModelStoppedError):
            return FetchEnded(model_id=model_id, cancelled=True)
        except ModelError as error:
            return FetchEnded(model_id=model_id, problem=error.message, hint=error.hint)
        except Exception as error:
            _log.exception("fetch of %s ended by an error of ours", model_id)
            return FetchEnded(model_id=model_id, problem=f"{type(error).__name__}: {error}")
        return FetchEnded(model_id=model_id)

    def _progress(self, model_id: str, progress: FetchProgress) -> None:
        if model_id == self._current:
            self._verifying = progress.stage == "verifying"
        self._mailbox.post(
            FetchProgressed(
                model_id=model_id,
                done_bytes=progress.done_bytes,
                total_bytes=progress.total_bytes or None,
                bytes_per_s=progress.speed_bytes_s or None,
                seconds_left=_seconds_left(progress),
                source=progress.source,
                verifying=progress.stage == "verifying",
            )
        )


def _seconds_left(progress: FetchProgress) -> float | None:
    if not progress.total_bytes or progress.speed_bytes_s <= 0:
        return None
    return max(0, progress.total_bytes - progress.done_bytes) / progress.speed_bytes_s
