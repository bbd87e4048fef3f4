"""Capabilities against models as a heat map that can be read, clicked and walked by keyboard.

A table with a delegate that paints, so that keyboard, selection and screen readers work as in any
table. It must not talk to the engine. Thread: UI.
"""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QBrush, QColor, QFont, QPainter, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from app.lab.report import ALL, Cell
from app.lab.standings import Standing, Standings
from app.ui import words
from app.ui.theme import FONT_META_PX, Tokens, contrast, tokens

Index = QModelIndex | QPersistentModelIndex
CELL = Qt.ItemDataRole.UserRole
_CELL_SIZE = QSize(72, 40)
_NAME_CHARS = 10
_STEPS = (0.25, 0.5, 0.8)


def heat(rate: float, colours: Tokens) -> str:
    """The colour of a rate: four steps of blue, told apart under the common colour-blindnesses."""
    steps = (colours.heat_1, colours.heat_2, colours.heat_3, colours.heat_4)
    return steps[sum(rate >= step for step in _STEPS)]


def ink(ground: str) -> str:
    """Black or white, whichever is read better on `ground`."""

    return max(("#101418", "#ffffff"), key=lambda colour: contrast(colour, ground))


def short_name(model_id: str) -> str:
    """A model's name without where it runs."""
    return model_id.partition(":")[2] or model_id


class HeatModel(QAbstractTableModel):
    """Rows are capabilities, the first of them all together; columns are models."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._table = Standings()
        self._current = ""

    def show_table(self, table: Standings, current_model: str) -> None:
        """Show these standings, with the chat's model marked."""
        self.beginResetModel()
        self._table, self._current = table, current_model
        self.endResetModel()

    def standing(self, column: int) -> Standing:
        """The model of a column."""
        return self._table.models[column]

    def capability(self, row: int) -> str:
        """The capability of a row."""
        return ALL if row == 0 else self._table.capabilities[row - 1]

    def cell(self, index: Index) -> Cell | None:
        """What was measured; None where nothing was."""
        item = self.standing(index.column())
        name = self.capability(index.row())
        return item.overall if name == ALL else item.cells.get(name)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008  # Qt's own default
        return 0 if parent.isValid() or self._table.empty else len(self._table.capabilities) + 1

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008  # Qt's own default
        return 0 if parent.isValid() else len(self._table.models)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        cell = self.cell(index)
        match role:
            case Qt.ItemDataRole.UserRole:
                return cell
            case Qt.ItemDataRole.DisplayRole | Qt.ItemDataRole.AccessibleTextRole:
                return _spoken(cell, self.standing(index.column()), self.capability(index.row()))
            case Qt.ItemDataRole.ToolTipRole:
                item = self.standing(index.column())
                return f"{_spoken(cell, item, self.capability(index.row()))}\n{_where(item)}"
            case _:
                return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation == Qt.Orientation.Vertical:
            return self.capability(section) if role == Qt.ItemDataRole.DisplayRole else None
        item = self.standing(section)
        name = short_name(item.model_id)
        match role:
            case Qt.ItemDataRole.DisplayRole:
                kind = "" if item.mode == "code" else f"\n{words.mode(item.mode)}"
                published = "\npublished" if item.origin == "published" else ""
                return _broken(name) + kind + published
            case Qt.ItemDataRole.ToolTipRole:
                return f"{item.model_id}\n{_where(item)}"
            case Qt.ItemDataRole.FontRole:
                font = QFont()
                font.setPixelSize(FONT_META_PX)
                font.setBold(item.model_id == self._current)
                return font
            case _:
                return None


def _spoken(cell: Cell | None, item: Standing, capability: str) -> str:
    name = short_name(item.model_id)
    if cell is None:
        return f"{name} on {capability}: not measured"
    low, high = (round(100 * end) for end in (cell.interval.low, cell.interval.high))
    return (
        f"{name} on {capability}: {round(100 * cell.rate)} %, between {low} and {high} %, "
        f"{cell.passed} of {cell.trials} trials"
    )


def _where(item: Standing) -> str:
    word = "published, measured on" if item.origin == "published" else "measured here, on"
    return f"{word} {item.machine or 'an unknown machine'}, {item.day or 'unknown day'}"


def _broken(name: str) -> str:
    """A model's name over several short lines, broken at its hyphens."""
    lines = [""]
    for part in name.split("-"):
        joined = f"{lines[-1]}-{part}" if lines[-1] else part
        if len(joined) <= _NAME_CHARS or not lines[-1]:
            lines[-1] = joined
        else:
            lines.append(part)
    return "\n".join(lines)


class _HeatDelegate(QStyledItemDelegate):
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        cell: Cell | None = index.data(CELL)
        colours = tokens()
        rect: QRect = option.rect.adjusted(1, 1, -1, -1)  # pyright: ignore[reportAttributeAccessIssue]  # the stubs leave fields out
        selected = bool(option.state & QStyle.StateFlag.State_Selected)  # pyright: ignore[reportAttributeAccessIssue]  # as above
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if cell is None:
            painter.setPen(QPen(QColor(colours.line), 1, Qt.PenStyle.DashLine))
            painter.drawRoundedRect(rect.adjusted(1, 1, -1, -1), 4, 4)
            painter.setPen(QColor(colours.muted))
            painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, "not yet")
        else:
            ground = heat(cell.rate, colours)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QBrush(QColor(ground)))
            painter.drawRoundedRect(rect, 4, 4)
            _write_rate(painter, rect, cell, ink(ground))
        if selected:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(colours.accent), 2))
            painter.drawRoundedRect(rect, 4, 4)
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        del option, index
        return _CELL_SIZE


def _write_rate(painter: QPainter, rect: QRect, cell: Cell, colour: str) -> None:
    painter.setPen(QColor(colour))
    font = painter.font()
    font.setBold(True)
    painter.setFont(font)
    half = rect.height() // 2
    top = QRect(rect.left(), rect.top() + 2, rect.width(), half)
    painter.drawText(top, Qt.AlignmentFlag.AlignCenter, f"{round(100 * cell.rate)} %")
    font.setBold(False)
    font.setPixelSize(FONT_META_PX)
    painter.setFont(font)
    low, high = (round(100 * end) for end in (cell.interval.low, cell.interval.high))
    below = QRect(rect.left(), rect.top() + half - 1, rect.width(), half)
    painter.drawText(below, Qt.AlignmentFlag.AlignCenter, f"{low} to {high}")


class HeatMap(QTableView):
    """The map. `cell_wanted` carries a `Standing` and a capability's name."""

    cell_wanted = Signal(object, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("What models can do here"))
        self._model = HeatModel(self)
        self.setModel(self._model)
        self.setItemDelegate(_HeatDelegate(self))
        self.setShowGrid(False)
        self.setCornerButtonEnabled(False)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTabKeyNavigation(False)
        for header in (self.horizontalHeader(), self.verticalHeader()):
            header.setHighlightSections(False)
            header.setSectionsClickable(False)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.horizontalHeader().setDefaultSectionSize(_CELL_SIZE.width())
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setDefaultSectionSize(_CELL_SIZE.height())
        self.activated.connect(self._open)
        self.clicked.connect(self._open)

    def show_table(self, table: Standings, current_model: str) -> None:
        """Show these standings, with the chat's model marked."""
        self._model.show_table(table, current_model)
        rows = self._model.rowCount()
        head = self.horizontalHeader().sizeHint().height()
        bar = self.horizontalScrollBar().sizeHint().height()
        self.setFixedHeight(head + rows * _CELL_SIZE.height() + bar + 4)

    def _open(self, index: QModelIndex) -> None:
        if self._model.cell(index) is not None:
            standing = self._model.standing(index.column())
            self.cell_wanted.emit(standing, self._model.capability(index.row()))
