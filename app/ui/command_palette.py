"""Every action of the window in one list, with its shortcut: type, choose, Enter.

Owns the palette. The actions belong to the window. Thread: UI.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import (
    QDialog,
    QHeaderView,
    QLineEdit,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from app.ui.theme import SPACE_M, SPACE_S
from app.ui.widgets import column, label

_ACTION_ROLE = int(Qt.ItemDataRole.UserRole)
_STEPS: dict[int, int] = {
    Qt.Key.Key_Down: 1,
    Qt.Key.Key_Up: -1,
    Qt.Key.Key_PageDown: 8,
    Qt.Key.Key_PageUp: -8,
}


class CommandPalette(QDialog):
    """A filtered list of actions; choosing one closes it and triggers the action."""

    def __init__(self, actions: Sequence[QAction], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Commands"))
        self.setModal(False)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._actions = list(actions)
        self.query = QLineEdit()
        self.query.setPlaceholderText(self.tr("Type a command"))
        self.query.setAccessibleName(self.tr("Type a command"))
        self.query.textChanged.connect(self._filter)
        self.query.returnPressed.connect(self._run)
        self.query.installEventFilter(self)
        self.list = QTreeWidget()
        self.list.setAccessibleName(self.tr("Commands"))
        self.list.setColumnCount(2)
        self.list.setHeaderHidden(True)
        self.list.setRootIsDecorated(False)
        self.list.setUniformRowHeights(True)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.header().setStretchLastSection(False)
        self.list.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.list.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self.list.itemClicked.connect(self._clicked)
        self._nothing = label(self.tr("No command matches."), "muted")
        layout = column(self, margin=SPACE_M, spacing=SPACE_S)
        layout.addWidget(self.query)
        layout.addWidget(self.list, 1)
        layout.addWidget(self._nothing)
        self.resize(480, 420)
        self._filter("")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Steer the list from the text field."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            step = _STEPS.get(event.key(), 0)
            self._move(step)
            if step:
                return True
        return super().eventFilter(watched, event)

    def shown(self) -> list[str]:
        """The texts of the actions on the screen, in order."""
        tops = (self.list.topLevelItem(row) for row in range(self.list.topLevelItemCount()))
        return [item.text(0) for item in tops if item is not None]

    def _clicked(self, _item: QTreeWidgetItem, _column: int) -> None:
        self._run()

    def _move(self, step: int) -> None:
        last = self.list.topLevelItemCount() - 1
        current = self.list.currentItem()
        if current is not None:
            self._mark(max(0, min(last, self.list.indexOfTopLevelItem(current) + step)))

    def _mark(self, number: int) -> None:
        if (item := self.list.topLevelItem(number)) is not None:
            self.list.setCurrentItem(item)

    def _filter(self, text: str) -> None:
        self.list.clear()
        wanted = text.casefold().split()
        for action in self._actions:
            name = action.text().casefold()
            if action.isEnabled() and all(word in name for word in wanted):
                item = QTreeWidgetItem([action.text(), action.shortcut().toString(
                    action.shortcut().SequenceFormat.NativeText)])  # fmt: skip
                item.setData(0, _ACTION_ROLE, self._actions.index(action))
                self.list.addTopLevelItem(item)
        self._nothing.setVisible(self.list.topLevelItemCount() == 0)
        self._mark(0)

    def _run(self) -> None:
        item = self.list.currentItem()
        if item is None:
            return
        action = self._actions[int(item.data(0, _ACTION_ROLE))]
        self.close()
        action.trigger()
