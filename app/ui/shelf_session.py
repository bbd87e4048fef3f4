"""The window's way to the local models: every wish of the models' dialog as a call into the engine.

Thread: UI.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.store.records import Problem

if TYPE_CHECKING:
    from app.bridge import Bridge
    from app.engine.shelf import Elsewhere, Sample
    from app.engine.warm import Probe
    from models.catalog import CatalogEntry

OnProblem = Callable[[Problem], object]


class ShelfSession(QObject):
    """Calls into the engine; each answer comes back on this thread, or not when `owner` is gone."""

    def __init__(self, bridge: Bridge, parent: QObject) -> None:
        super().__init__(parent)
        self._bridge = bridge

    def fetch(self, model_id: str) -> None:
        """Put a model into the queue of downloads, or go on with it."""
        self._bridge.call(lambda engine: engine.shelf.fetch(model_id))

    def pause(self, model_id: str) -> None:
        """Stop a download and keep what is here."""
        self._bridge.call(lambda engine: engine.shelf.fetches.pause(model_id))

    def cancel(self, model_id: str) -> None:
        """Give a download up."""
        self._bridge.call(lambda engine: engine.shelf.fetches.cancel(model_id))

    def take_in(
        self,
        path: str,
        on_done: Callable[[CatalogEntry], object],
        on_error: OnProblem,
        owner: QObject,
    ) -> None:
        """Use a model file that is on this machine."""
        self._bridge.call(
            lambda engine: engine.shelf.take_in(Path(path)), on_done, on_error, owner=owner
        )

    def remove(
        self,
        model_id: str,
        on_done: Callable[[int | None], object],
        on_error: OnProblem,
        owner: QObject,
    ) -> None:
        """Delete a model's file; gives the bytes freed."""
        self._bridge.call(
            lambda engine: engine.shelf.remove(model_id), on_done, on_error, owner=owner
        )

    def sample(
        self,
        model_id: str,
        on_done: Callable[[Sample], object],
        on_error: OnProblem,
        owner: QObject,
    ) -> None:
        """Let a model say hello and write a program."""
        self._bridge.call(
            lambda engine: engine.shelf.sample(model_id), on_done, on_error, owner=owner
        )

    def probe(
        self,
        model_id: str,
        on_done: Callable[[Probe], object],
        on_error: OnProblem,
        owner: QObject,
    ) -> None:
        """Measure a model's speed."""
        self._bridge.call(
            lambda engine: engine.shelf.probe(model_id), on_done, on_error, owner=owner
        )

    def elsewhere(self, on_done: Callable[[Sequence[Elsewhere]], object], owner: QObject) -> None:
        """The model files of other programs."""
        self._bridge.call(lambda engine: engine.shelf.elsewhere(), on_done, owner=owner)
