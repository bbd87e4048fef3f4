"""A program's table in the side panel, which the person edits and gives back.

Owns the cells while they are edited. Thread: UI.
"""

from __future__ import annotations

import json

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHeaderView, QTableWidget, QTableWidgetItem, QWidget

from app.ui import words
from app.ui.theme import SPACE_M, SPACE_S
from app.ui.widgets import button, column, label, row
from sandbox.asked_table import MOST_ROWS, AskedTable, Cell

_WIDEST_PX = 240


class TablePanel(QWidget):
    """An editable table. `edited` carries the rows as JSON text, `refused` nothing."""

    edited = Signal(str)
    refused = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._table: AskedTable | None = None
        layout = column(self, margin=SPACE_M, spacing=SPACE_S)
        self._title = label("", "strong", wrap=True)
        layout.addWidget(self._title)
        self._hint = label(self.tr("Double-click a cell to change it."), "muted", wrap=True)
        layout.addWidget(self._hint)
        self.cells = QTableWidget()
        self.cells.setAccessibleName(self.tr("Table of the program"))
        self.cells.setAlternatingRowColors(True)
        layout.addWidget(self.cells, 1)
        changes = row(spacing=SPACE_S)
        self._add = button(self.tr("Add a row"), "flat", on_click=self._add_row)
        self._remove = button(self.tr("Remove rows"), "flat", on_click=self._remove_rows)
        changes.addWidget(self._add)
        changes.addWidget(self._remove)
        changes.addStretch(1)
        layout.addLayout(changes)
        bar = row(spacing=SPACE_S)
        bar.addStretch(1)
        bar.addWidget(button(self.tr("Do not answer"), "flat", on_click=self.refused.emit))
        self._send = button(self.tr("Use this table"), "primary", on_click=self._give)
        bar.addWidget(self._send)
        layout.addLayout(bar)

    def show_table(self, table: AskedTable) -> None:
        """Show a table to be edited; what was typed into the same table is kept."""
        if table == self._table:
            return
        self._table = table
        self._title.setText(words.visible(table.title) or self.tr("The program asks for a table"))
        self.cells.clear()
        self.cells.setColumnCount(len(table.columns))
        self.cells.setHorizontalHeaderLabels([words.visible(name) for name in table.columns])
        self.cells.setRowCount(len(table.rows))
        for place, line in enumerate(table.rows):
            for number, cell in enumerate(line):
                self._put(place, number, cell)
        self.cells.resizeColumnsToContents()
        for number in range(self.cells.columnCount()):
            self.cells.setColumnWidth(number, min(self.cells.columnWidth(number), _WIDEST_PX))
        header = self.cells.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setStretchLastSection(True)
        self._add.setEnabled(True)

    def rows_text(self) -> str:
        """The rows as they are now, as JSON; cells that nobody changed keep their kind."""
        lines = [
            [self._cell(place, number) for number in range(self.cells.columnCount())]
            for place in range(self.cells.rowCount())
        ]
        return json.dumps(lines, ensure_ascii=False)

    def _put(self, place: int, number: int, cell: Cell) -> None:
        text = "" if cell is None else str(cell)
        item = QTableWidgetItem(text)
        item.setData(Qt.ItemDataRole.UserRole, (text, cell))
        if isinstance(cell, int | float) and not isinstance(cell, bool):
            item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.cells.setItem(place, number, item)

    def _cell(self, place: int, number: int) -> Cell:
        item = self.cells.item(place, number)
        if item is None:
            return None
        kept: tuple[str, Cell] | None = item.data(Qt.ItemDataRole.UserRole)
        return kept[1] if kept is not None and kept[0] == item.text() else item.text()

    def _add_row(self) -> None:
        place = self.cells.rowCount()
        self.cells.insertRow(place)
        for number in range(self.cells.columnCount()):
            self._put(place, number, None)
        self.cells.setCurrentCell(place, 0)
        self._add.setEnabled(place + 1 < MOST_ROWS)

    def _remove_rows(self) -> None:
        for place in sorted({index.row() for index in self.cells.selectedIndexes()}, reverse=True):
            self.cells.removeRow(place)

    def _give(self) -> None:
        self.edited.emit(self.rows_text())
