"""Bars by day: what was spent, or how many tokens went, one colour a model.

Owns the drawing, with pyqtgraph, which is loaded when the first chart is shown. Thread: UI.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QWidget

from app.ui import words
from app.ui.theme import SPACE_XS, tokens
from app.ui.widgets import column, label, row

if TYPE_CHECKING:
    from app.store.costs import DayTotal, Total

_HEIGHT_PX = 170
_BAR_WIDTH = 0.7
_MOST_DAYS = 31


class DayChart(QWidget):
    """One chart. `value`: what of a day's total is drawn."""

    def __init__(self, title: str, value: Callable[[Total], float]) -> None:
        super().__init__()
        self.setProperty("role", "plain")
        self._value = value
        self._layout = column(self, spacing=SPACE_XS)
        self._layout.addWidget(label(title, "strong"))
        self._legend = row()
        self._layout.addLayout(self._legend)
        self._plot: Any = None
        self.setAccessibleName(title)

    def show_days(self, days: Sequence[DayTotal]) -> None:
        """Draw the last month of days."""
        pyqtgraph: Any = importlib.import_module("pyqtgraph")
        if self._plot is None:
            self._plot = _empty_plot(pyqtgraph)
            self._layout.addWidget(self._plot)
        self._plot.clear()
        if not days:
            return
        last = max(item.day for item in days)
        first = max(min(item.day for item in days), last - timedelta(days=_MOST_DAYS - 1))
        models = sorted({item.model_id for item in days if item.day >= first})
        under: dict[int, float] = {}
        for number, model_id in enumerate(models):
            self._draw(pyqtgraph, days, first, model_id, _colour(number), under)
        self._label_days(first, last)
        self._plot.setYRange(0, max(under.values(), default=1) * 1.08 or 1, padding=0)
        self._show_legend(models)
        self.setAccessibleDescription(self._as_text(days))

    def _draw(
        self,
        pyqtgraph: Any,
        days: Sequence[DayTotal],
        first: date,
        model_id: str,
        colour: str,
        under: dict[int, float],
    ) -> None:
        at: list[int] = []
        low: list[float] = []
        high: list[float] = []
        for item in days:
            place = (item.day - first).days
            if item.model_id != model_id or place < 0:
                continue
            value = self._value(item.total)
            at.append(place)
            low.append(under.get(place, 0.0))
            high.append(value)
            under[place] = under.get(place, 0.0) + value
        bars = pyqtgraph.BarGraphItem(
            x=at, y0=low, height=high, width=_BAR_WIDTH, brush=colour, pen=tokens().ground
        )
        self._plot.addItem(bars)

    def _label_days(self, first: date, last: date) -> None:
        count = (last - first).days + 1
        step = max(1, count // 7)
        ticks = [
            (place, f"{first + timedelta(days=place):%d.%m.}") for place in range(0, count, step)
        ]
        self._plot.getAxis("bottom").setTicks([ticks])
        self._plot.setXRange(-0.6, max(6.6, count - 0.4), padding=0)

    def _show_legend(self, models: Sequence[str]) -> None:
        while self._legend.count():
            item = self._legend.takeAt(0)
            if item is not None and (widget := item.widget()) is not None:
                widget.deleteLater()
        for number, model_id in enumerate(models[:5]):
            mark = label("\u25a0")
            mark.setStyleSheet(f"color: {_colour(number)}")
            self._legend.addWidget(mark)
            self._legend.addWidget(label(words.visible(model_id), "meta"))
        self._legend.addStretch(1)

    def _as_text(self, days: Sequence[DayTotal]) -> str:
        return "; ".join(
            f"{item.day}: {item.model_id} {self._value(item.total):g}" for item in days[-20:]
        )


def _empty_plot(pyqtgraph: Any) -> Any:
    plot = pyqtgraph.PlotWidget()
    colours = tokens()
    plot.setBackground(colours.ground)
    plot.setFixedHeight(_HEIGHT_PX)
    plot.setMenuEnabled(False)
    plot.setMouseEnabled(x=False, y=False)
    plot.hideButtons()
    for side in ("left", "bottom"):
        axis = plot.getAxis(side)
        axis.setPen(colours.line)
        axis.setTextPen(colours.muted)
        axis.enableAutoSIPrefix(False)
    plot.getAxis("left").setWidth(64)
    return plot


def _colour(number: int) -> str:
    """A colour that is told apart by its lightness, too."""
    colours = tokens()
    palette = (colours.heat_4, colours.heat_2, colours.heat_3, colours.heat_1, colours.muted)
    return palette[number % len(palette)]
