"""Cost against quality as a scatter, with the models that no other beats joined by a line.

Paints by itself from `Standings`. It must not talk to the engine. Thread: UI.
"""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.lab.standings import Axis, Standing, Standings, frontier
from app.ui import words
from app.ui.heat_map import short_name
from app.ui.theme import FONT_META_PX, tokens

_LEFT, _RIGHT, _TOP, _BOTTOM = 40, 16, 12, 34
_DOT = 5.0


class FrontierChart(QWidget):
    """The scatter. The vertical axis is the share of tasks done right."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._table = Standings()
        self._axis: Axis = "seconds"
        self._current = ""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(self.tr("Cost against quality"))

    def show_table(self, table: Standings, axis: Axis, current_model: str) -> None:
        """Show these standings over this kind of cost."""
        self._table, self._axis, self._current = table, axis, current_model
        self.setAccessibleDescription(self._in_words())
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(260, 200)

    def minimumSizeHint(self) -> QSize:
        return QSize(180, 200)

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        font = painter.font()
        font.setPixelSize(FONT_META_PX)
        painter.setFont(font)
        area = QRectF(self.rect()).adjusted(_LEFT, _TOP, -_RIGHT, -_BOTTOM)
        known = [(cost, item) for item in self._table.models if (cost := item.cost(self._axis))]
        self._paint_axes(painter, area, max((cost for cost, _ in known), default=0.0))
        if not known:
            painter.setPen(QColor(tokens().muted))
            painter.drawText(area, Qt.AlignmentFlag.AlignCenter, self.tr("cost unknown"))
            return
        most = max(cost for cost, _ in known)
        places = {
            id(item): QPointF(
                area.left() + area.width() * 0.92 * cost / most,
                area.bottom() - area.height() * item.overall.rate,
            )
            for cost, item in known
        }
        best = [item for item in frontier(self._table.models, self._axis) if id(item) in places]
        painter.setPen(QPen(QColor(tokens().accent), 1.5, Qt.PenStyle.DashLine))
        painter.drawPolyline([places[id(item)] for item in best])
        for _, item in known:
            self._paint_point(painter, area, places[id(item)], item, on_line=item in best)

    def _paint_axes(self, painter: QPainter, area: QRectF, most: float) -> None:
        colours = tokens()
        for share in (0.0, 0.5, 1.0):
            y = area.bottom() - area.height() * share
            painter.setPen(QPen(QColor(colours.line), 1))
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
            painter.setPen(QColor(colours.muted))
            box = QRectF(0, y - 8, _LEFT - 6, 16)
            flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(box, flags, f"{round(100 * share)} %")
        painter.setPen(QColor(colours.muted))
        below = QRectF(area.left(), area.bottom() + 4, area.width(), _BOTTOM - 6)
        top = Qt.AlignmentFlag.AlignTop
        painter.drawText(below, Qt.AlignmentFlag.AlignLeft | top, "0")
        if most:
            painter.drawText(below, Qt.AlignmentFlag.AlignRight | top, self._cost_text(most))
        painter.drawText(
            below, Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignBottom, self._axis_name()
        )

    def _paint_point(
        self, painter: QPainter, area: QRectF, at: QPointF, item: Standing, *, on_line: bool
    ) -> None:
        colours = tokens()
        painter.setPen(QPen(QColor(colours.accent), 1.5))
        painter.setBrush(QColor(colours.accent if on_line else colours.raised))
        painter.drawEllipse(at, _DOT, _DOT)
        name = short_name(item.model_id)
        if item.mode != "code":
            name += f", {words.mode(item.mode)}"
        font = painter.font()
        font.setBold(item.model_id == self._current)
        painter.setFont(font)
        painter.setPen(QColor(colours.text))
        width = painter.fontMetrics().horizontalAdvance(name)
        right = at.x() + 10 + width <= area.right() + _RIGHT
        left = at.x() + 9 if right else max(0.0, at.x() - 9 - width)
        above = at.y() - 3 > area.top() + 8
        painter.drawText(QPointF(left, at.y() - 4 if above else at.y() + 12), name)
        font.setBold(False)
        painter.setFont(font)

    def _axis_name(self) -> str:
        return {
            "seconds": self.tr("seconds a task"),
            "tokens": self.tr("tokens a task"),
            "money": self.tr("US dollars a task"),
        }[self._axis]

    def _cost_text(self, cost: float) -> str:
        return f"{cost:.4f}" if self._axis == "money" else f"{cost:,.0f}"

    def _in_words(self) -> str:
        words = [
            f"{short_name(item.model_id)}: {round(100 * item.overall.rate)} % at "
            f"{self._cost_text(cost)} {self._axis_name()}"
            for item in self._table.models
            if (cost := item.cost(self._axis)) is not None
        ]
        return "; ".join(words)
