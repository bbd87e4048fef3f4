"""What a program put in view with `show()`: a text, a table, a chart or a file, in the transcript.

Owns how each looks; everything is shown as plain text. Thread: UI.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QTableWidget, QTableWidgetItem, QWidget

from app.store.records import Folder
from app.ui import words
from app.ui.theme import SPACE_M, SPACE_S, SPACE_XS
from app.ui.widgets import CutText, column, label
from sandbox.shown import Shown

_ROW_PX = 22
_TABLE_ROWS = 12
_BARS = 40
_NAME_SHARE = 0.3


class ShownBlock(QFrame):
    """One thing that a program showed."""

    def __init__(
        self, shown: Shown, folders: Sequence[Folder], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        layout = column(self, margin=SPACE_M, spacing=SPACE_XS)
        if shown.title:
            layout.addWidget(label(words.visible(shown.title), "strong", wrap=True))
        match shown.kind:
            case "text":
                text = CutText()
                text.set_text(shown.text)
                layout.addWidget(text)
            case "file":
                path = words.short_path(shown.text, folders)
                layout.addWidget(label(path, wrap=True, selectable=True))
            case "open":
                path = words.short_path(shown.text, folders)
                text = self.tr("In the side panel: {0}").format(path)
                layout.addWidget(label(text, wrap=True, selectable=True))
            case "filter":
                pattern = words.visible(shown.text)
                text = self.tr("The side panel lists {0}").format(pattern or self.tr("all files"))
                layout.addWidget(label(text, "muted", wrap=True))
            case "table":
                layout.addWidget(_table(shown))
            case "chart":
                layout.addWidget(BarChart(shown))
        if shown.left_out:
            layout.addWidget(label(self.tr("and {0} more").format(shown.left_out), "muted"))


def _table(shown: Shown) -> QTableWidget:
    wide = max((len(line) for line in shown.rows), default=0)
    table = QTableWidget(len(shown.rows), max(wide, len(shown.columns)))
    table.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
    table.verticalHeader().setVisible(False)
    if shown.columns:
        table.setHorizontalHeaderLabels([words.visible(name) for name in shown.columns])
    else:
        table.horizontalHeader().setVisible(False)
    for place, line in enumerate(shown.rows):
        for number, cell in enumerate(line):
            table.setItem(place, number, QTableWidgetItem(words.visible(cell)))
    table.resizeColumnsToContents()
    rows = min(len(shown.rows), _TABLE_ROWS) + 1
    table.setFixedHeight(rows * max(_ROW_PX, table.rowHeight(0)) + SPACE_S)
    return table


class BarChart(QWidget):
    """Labels and values as bars, one under the other."""

    def __init__(self, shown: Shown, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._points = [(name, float(value)) for name, value in shown.rows[:_BARS]]
        said = ", ".join(f"{name}: {value:g}" for name, value in self._points)
        self.setAccessibleName(self.tr("Chart"))
        self.setAccessibleDescription(words.visible(said))
        self.setFixedHeight(self.sizeHint().height())

    def sizeHint(self) -> QSize:
        return QSize(320, max(1, len(self._points)) * _ROW_PX)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        most = max((abs(value) for _, value in self._points), default=0.0) or 1.0
        names = self.width() * _NAME_SHARE
        room = max(1.0, self.width() - names - 80)
        palette = self.palette()
        for place, (name, value) in enumerate(self._points):
            top = place * _ROW_PX
            painter.setPen(palette.windowText().color())
            painter.drawText(
                QRectF(0, top, names - SPACE_S, _ROW_PX),
                int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight),
                words.visible(name),
            )
            length = abs(value) / most * room
            painter.fillRect(QRectF(names, top + 4, length, _ROW_PX - 8), palette.highlight())
            painter.drawText(
                QRectF(names + length + SPACE_XS, top, 76, _ROW_PX),
                int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft),
                f"{value:g}",
            )
        painter.end()
