"""The capability tab: which model is good enough here, and what it costs.

Owns the tab's layout and its choices. It must not talk to the engine. Thread: UI.
"""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QFrame, QProgressBar, QScrollArea, QWidget

from app.engine.events import LabEnded, LabProgressed
from app.lab.report import ALL
from app.lab.standings import GOOD_ENOUGH, Axis, Standings, cheapest
from app.ui import words
from app.ui.frontier_chart import FrontierChart
from app.ui.heat_map import HeatMap, short_name
from app.ui.theme import SPACE_L, SPACE_M, SPACE_S, SPACE_XS
from app.ui.widgets import button, column, label, row

_NOT_MEASURED = frozenset({"oracle", "nothing"})


class CapabilityPanel(QScrollArea):
    """The tab. `measure_wanted` carries a model's id and whether the quick way is meant."""

    measure_wanted = Signal(str, bool)
    stop_wanted = Signal()
    cell_wanted = Signal(object, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "plain")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._table = Standings()
        self._model_id = ""
        page = QWidget()
        page.setProperty("role", "ground")
        layout = column(page, margin=SPACE_M, spacing=SPACE_S)
        self._title = label("", "strong", wrap=True)
        self._advice = label("", "muted", wrap=True)
        layout.addWidget(self._title)
        layout.addWidget(self._advice)
        layout.addWidget(self._make_measuring())
        layout.addWidget(self._make_results())
        layout.addStretch(1)
        self.setWidget(page)
        self.show_standings(Standings(), "")

    def _make_results(self) -> QWidget:
        self._results = QWidget()
        layout = column(self._results, spacing=SPACE_S)
        self._map = HeatMap()
        self._map.cell_wanted.connect(self.cell_wanted)
        legend = self.tr("Share of tasks done right; below it the range that chance allows.")
        self._axis = QComboBox()
        self._axis.setAccessibleName(self.tr("Kind of cost"))
        for axis, text in (
            ("seconds", self.tr("Time against quality")),
            ("tokens", self.tr("Tokens against quality")),
            ("money", self.tr("Money against quality")),
        ):
            self._axis.addItem(text, axis)
        self._axis.currentIndexChanged.connect(self._show_chart)
        self._chart = FrontierChart()
        layout.addWidget(self._map)
        layout.addWidget(label(legend, "meta", wrap=True))
        layout.addSpacing(SPACE_L)
        layout.addWidget(self._axis)
        layout.addWidget(self._chart)
        return self._results

    def _make_measuring(self) -> QWidget:
        part = QWidget()
        layout = column(part, spacing=SPACE_XS)
        self._quick = button(
            self.tr("Measure for 3 minutes"),
            on_click=lambda: self._measure(quick=True),
            tip=self.tr("One task of each kind, on this machine."),
        )
        self._full = button(
            self.tr("Measure in full"),
            on_click=lambda: self._measure(quick=False),
            tip=self.tr("Every task three times. This can take hours; it goes on after a stop."),
        )
        buttons = column(spacing=SPACE_XS)
        buttons.addWidget(self._quick)
        buttons.addWidget(self._full)
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName(self.tr("Measurement"))
        self._state = label("", "meta", wrap=True)
        self._stop = button(self.tr("Stop measuring"), "word", on_click=self.stop_wanted.emit)
        under = row()
        under.addWidget(self._state, 1)
        under.addWidget(self._stop)
        layout.addLayout(buttons)
        layout.addWidget(self._bar)
        layout.addLayout(under)
        self._set_measuring(on=False)
        return part

    # what is shown

    def show_standings(self, table: Standings, model_id: str) -> None:
        """Show what was measured, with the chat's model marked."""
        models = tuple(item for item in table.models if item.model_id not in _NOT_MEASURED)
        self._table = Standings(models=models, capabilities=table.capabilities)
        self._map.show_table(self._table, model_id)
        self._results.setVisible(not self._table.empty)
        self.set_model(model_id)

    def set_model(self, model_id: str) -> None:
        """Mark another model as the chat's."""
        self._model_id = model_id
        name = words.visible(short_name(model_id))
        if self._table.empty:
            self._title.setText(self.tr("Nothing was measured yet."))
            self._advice.setText(
                self.tr("A measurement shows which kinds of task a model can do on this machine.")
            )
        else:
            self._title.setText(self._best())
            measured = any(item.model_id == model_id for item in self._table.models)
            self._advice.setText(
                self.tr("This chat uses {0}.").format(name)
                if measured
                else self.tr("This chat uses {0}, which was not measured yet.").format(name)
            )
        self._quick.setEnabled(bool(model_id))
        self._full.setEnabled(bool(model_id))
        self._show_chart()

    def _best(self) -> str:
        found = cheapest(self._table, ALL)
        share = round(100 * GOOD_ENOUGH)
        if found is None:
            return self.tr("No model measured here does {0} % of the tasks.").format(share)
        name = words.visible(short_name(found.model_id))
        return self.tr("The cheapest model that does {0} % of the tasks here: {1}").format(
            share, name
        )

    def _show_chart(self) -> None:
        axis = cast("Axis", self._axis.currentData())
        self._chart.show_table(self._table, axis, self._model_id)

    # measuring

    def show_progress(self, progress: LabProgressed) -> None:
        """Show how far a measurement is."""
        self._set_measuring(on=True)
        self._bar.setRange(0, max(progress.total, 1))
        self._bar.setValue(progress.done)
        text = self.tr("{0} of {1} trials, {2} passed").format(
            progress.done, progress.total, progress.passed
        )
        if progress.seconds_left is not None:
            text += self.tr(", {0} left").format(words.seconds(progress.seconds_left))
        self._state.setText(text)

    def show_end(self, ended: LabEnded) -> None:
        """Show how a measurement ended."""
        self._set_measuring(on=False)
        self._state.setText(ended.problem)
        self._state.setVisible(bool(ended.problem))

    def _measure(self, *, quick: bool) -> None:
        self._set_measuring(on=True)
        self._bar.setRange(0, 0)
        self._state.setText(self.tr("Starting"))
        self.measure_wanted.emit(self._model_id, quick)

    def _set_measuring(self, *, on: bool) -> None:
        for part in (self._bar, self._state, self._stop):
            part.setVisible(on)
        self._quick.setVisible(not on)
        self._full.setVisible(not on)
