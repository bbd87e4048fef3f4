"""The picture of a turn's flow: from what was read, through the program, to what happens.

Owns the layout and the painting of three columns of boxes; what is unusual is drawn heavier and
in the colour of caution, never by colour alone. Thread: UI.
"""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app.ui.flow_picture import FlowPicture, Node
from app.ui.theme import SPACE_L, SPACE_M, SPACE_S, tokens

_BOX_HEIGHT = 28
_GAP = SPACE_S
_RADIUS = 6
_HEAD = 22
_ARROW = 6.0


class FlowView(QWidget):
    """Shows one picture; scales with the font."""

    def __init__(self, picture: FlowPicture, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._picture = picture
        self._titles = (self.tr("Comes from"), self.tr("Goes through"), self.tr("Ends in"))
        self.setAccessibleName(self.tr("Flow"))
        self.setAccessibleDescription(picture.told())
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setMinimumHeight(self.sizeHint().height())

    def sizeHint(self) -> QSize:
        rows = max((self._rows(column) for column in range(3)), default=1)
        unit = self._unit()
        return QSize(560, int(_HEAD * unit + max(rows, 1) * (_BOX_HEIGHT + _GAP) * unit + SPACE_L))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        boxes = self._boxes()
        colours = tokens()
        painter.setPen(QColor(colours.muted))
        for column, title in enumerate(self._titles):
            left = self._left(column)
            area = QRectF(left, 0, self._box_width(), _HEAD * self._unit())
            painter.drawText(area, Qt.AlignmentFlag.AlignVCenter, title)
        for line in sorted(self._picture.lines, key=lambda one: one.marked):
            self._draw_line(painter, boxes[line.start], boxes[line.end], marked=line.marked)
        for node, box in zip(self._picture.nodes, boxes, strict=True):
            self._draw_box(painter, node, box)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(colours.accent), 1, Qt.PenStyle.DotLine))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()

    def _draw_box(self, painter: QPainter, node: Node, box: QRectF) -> None:
        colours = tokens()
        edge = QColor(colours.caution if node.marked else colours.line)
        painter.setPen(QPen(edge, 2 if node.marked else 1))
        painter.setBrush(QColor(colours.raised))
        painter.drawRoundedRect(box, _RADIUS, _RADIUS)
        painter.setPen(QColor(colours.text))
        font = painter.font()
        font.setBold(node.marked)
        painter.setFont(font)
        inside = box.adjusted(SPACE_S, 0, -SPACE_S, 0)
        text = QFontMetricsF(font).elidedText(
            node.text, Qt.TextElideMode.ElideMiddle, inside.width()
        )
        painter.drawText(inside, Qt.AlignmentFlag.AlignVCenter, text)
        font.setBold(False)
        painter.setFont(font)

    def _draw_line(self, painter: QPainter, start: QRectF, end: QRectF, *, marked: bool) -> None:
        colours = tokens()
        colour = QColor(colours.caution if marked else colours.muted)
        colour.setAlphaF(1.0 if marked else 0.55)
        painter.setPen(QPen(colour, 2.4 if marked else 1.0))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        begin = QPointF(start.right(), start.center().y())
        finish = QPointF(end.left() - 1, end.center().y())
        bend = (finish.x() - begin.x()) / 2
        path = QPainterPath(begin)
        path.cubicTo(
            begin + QPointF(bend, 0), finish - QPointF(bend, 0), finish - QPointF(_ARROW, 0)
        )
        painter.drawPath(path)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        size = _ARROW * (1.3 if marked else 1.0)
        painter.drawPolygon(
            [finish, finish + QPointF(-size, -size / 2), finish + QPointF(-size, size / 2)]
        )

    def _boxes(self) -> list[QRectF]:
        unit = self._unit()
        height, gap = _BOX_HEIGHT * unit, _GAP * unit
        most = max((self._rows(column) for column in range(3)), default=1)
        used = [0, 0, 0]
        found: list[QRectF] = []
        for node in self._picture.nodes:
            row = used[node.column]
            used[node.column] += 1
            shift = (most - self._rows(node.column)) * (height + gap) / 2
            top = _HEAD * unit + shift + row * (height + gap)
            found.append(QRectF(self._left(node.column), top, self._box_width(), height))
        return found

    def _rows(self, column: int) -> int:
        return sum(node.column == column for node in self._picture.nodes)

    def _unit(self) -> float:
        return max(self.fontMetrics().height() / 17, 1.0)

    def _box_width(self) -> float:
        return max((self.width() - 2 * SPACE_M) / 3 - 2 * SPACE_L, 80)

    def _left(self, column: int) -> float:
        room = self.width() - 2 * SPACE_M - self._box_width()
        return SPACE_M + column * room / 2
