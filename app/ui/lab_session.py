"""The window's side of the lab: what was measured, a measurement that runs, the trials of a cell.

Owns the calls into the lab and the routing of its events. It must not make widgets. Thread: UI.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.bridge import Bridge, EventBatch
from app.engine.events import LabEnded, LabProgressed

if TYPE_CHECKING:
    from app.engine.engine import Engine
    from app.lab.desk import Measurement
    from app.lab.standings import Shown, Standing, Standings


class LabSession(QObject):
    """Each signal carries one typed record."""

    standings_changed = Signal(object)  # Standings
    progressed = Signal(object)  # LabProgressed
    ended = Signal(object)  # LabEnded

    def __init__(self, bridge: Bridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._running: Measurement | None = None
        bridge.arrived.connect(self._take)

    def refresh(self) -> None:
        """Ask what was measured."""

        async def read(engine: Engine) -> Standings:
            from app.lab.desk import read_standings

            return await read_standings(engine)

        self._bridge.call(read, self.standings_changed.emit, owner=self)

    def measure(self, model_id: str, quick: bool) -> None:
        """Begin to measure a model, unless a measurement runs."""
        if self._running is not None:
            return

        async def start(engine: Engine) -> Measurement:
            from app.lab.desk import Measurement

            return await Measurement.start(engine, model_id, quick=quick)

        self._bridge.call(start, self._started, owner=self)

    def stop(self) -> None:
        """Stop the measurement that runs; what was measured counts."""
        running = self._running
        if running is not None:
            self._bridge.call(lambda _engine: running.stop(), owner=self)

    def trials(
        self, standing: Standing, capability: str, show: Callable[[list[Shown]], object]
    ) -> None:
        """Ask for the trials behind a cell."""

        async def read(engine: Engine) -> list[Shown]:
            from app.lab.desk import read_trials

            return await read_trials(engine, standing.model_id, standing.mode, capability)

        self._bridge.call(read, show, owner=self)

    def _started(self, measurement: Measurement) -> None:
        self._running = measurement

    def _take(self, batch: EventBatch) -> None:
        for event in batch.events:
            match event:
                case LabProgressed():
                    self.progressed.emit(event)
                case LabEnded():
                    self._running = None
                    self.ended.emit(event)
                    self.refresh()
                case _:
                    pass
