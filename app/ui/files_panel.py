"""The person's files in the side panel: a tree with a filter, whose selection programs may ask for.

Owns what is selected and the filter; the tree reads the disk by itself, on a thread of its own.
It must not change files. Thread: UI.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QDir, QModelIndex, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QFileSystemModel,
    QLineEdit,
    QTreeView,
    QWidget,
)

from app.store.records import Folder
from app.ui import words
from app.ui.theme import SPACE_M, SPACE_S
from app.ui.widgets import button, column, label, row

_PATTERN_MARKS = frozenset("*?[")


class FilesPanel(QWidget):
    """The files of the chat's folders. `selection_used` carries the selected paths."""

    selection_used = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._folders: tuple[Folder, ...] = ()
        self._has_model = False
        layout = column(self, margin=SPACE_M, spacing=SPACE_S)
        self._asked = label("", "strong", wrap=True)
        self._asked.hide()
        layout.addWidget(self._asked)
        self._folder = QComboBox()
        self._folder.setAccessibleName(self.tr("Folder"))
        self._folder.currentIndexChanged.connect(self._show_folder)
        layout.addWidget(self._folder)
        self.filter = QLineEdit()
        self.filter.setPlaceholderText(self.tr("Filter, such as *.jpg"))
        self.filter.setAccessibleName(self.tr("Filter by name"))
        self.filter.setClearButtonEnabled(True)
        self.filter.textChanged.connect(self._filter_changed)
        layout.addWidget(self.filter)
        self._model = QFileSystemModel(self)
        self._model.setReadOnly(True)
        self._model.setNameFilterDisables(False)
        self._model.setFilter(QDir.Filter.AllEntries | QDir.Filter.NoDotAndDotDot)
        self.tree = QTreeView()
        self.tree.setAccessibleName(self.tr("Files"))
        self.tree.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.tree.setUniformRowHeights(True)
        self.tree.setHeaderHidden(True)
        layout.addWidget(self.tree, 1)
        self._none = label(self.tr("Add a folder to this chat to see its files here."), "muted")
        self._none.setWordWrap(True)
        layout.addWidget(self._none)
        self._told = label("", "muted", wrap=True)
        layout.addWidget(self._told)
        bar = row(spacing=SPACE_S)
        bar.addStretch(1)
        self._use = button(self.tr("Use the selection"), "primary", on_click=self._send)
        self._use.hide()
        bar.addWidget(self._use)
        layout.addLayout(bar)
        layout.addStretch(0)
        self.set_folders(())

    def set_folders(self, folders: Sequence[Folder]) -> None:
        """Show the files of these folders."""
        if tuple(folders) == self._folders and self._folder.count():
            return
        self._folders = tuple(folders)
        self._folder.blockSignals(True)
        self._folder.clear()
        for folder in self._folders:
            self._folder.addItem(words.visible(Path(folder.path).name), str(folder.path))
        self._folder.blockSignals(False)
        self._folder.setVisible(len(self._folders) > 1)
        for part in (self.filter, self.tree, self._told):
            part.setVisible(bool(self._folders))
        self._none.setVisible(not self._folders)
        if self._folders:
            self._show_folder(0)

    def selection(self) -> tuple[str, ...]:
        """The selected paths, in the order of the tree."""
        if not self._has_model:
            return ()
        chosen = self.tree.selectionModel()
        rows = sorted(chosen.selectedRows(0), key=lambda index: self._model.filePath(index))
        return tuple(self._model.filePath(index) for index in rows)

    def set_filter(self, pattern: str) -> None:
        """List only files that fit; "" for all."""
        self.filter.setText(pattern)

    def reveal(self, path: str) -> None:
        """Select a file and scroll to it; say so where it is not on the disk yet."""
        for place, folder in enumerate(self._folders):
            if Path(path).is_relative_to(folder.path):
                self._folder.setCurrentIndex(place)
        index = self._model.index(path)
        if not index.isValid():
            name = words.visible(Path(path).name)
            self._told.setText(self.tr("{0} is not on disk yet; see Changes.").format(name))
            return
        self.tree.setCurrentIndex(index)
        self.tree.scrollTo(index)

    def ask(self, text: str) -> None:
        """Ask for a selection; "" when nobody asks any more."""
        self._asked.setText(text)
        self._asked.setVisible(bool(text))
        self._use.setVisible(bool(text))
        self._selection_changed()

    def _show_folder(self, place: int) -> None:
        path = self._folder.itemData(place)
        if not path:
            return
        if not self._has_model:
            self._has_model = True
            self.tree.setModel(self._model)
            for number in range(1, self._model.columnCount()):
                self.tree.hideColumn(number)
            self.tree.selectionModel().selectionChanged.connect(self._selection_changed)
        root: QModelIndex = self._model.setRootPath(path)
        self.tree.setRootIndex(root)
        self.tree.sortByColumn(0, Qt.SortOrder.AscendingOrder)
        self._selection_changed()

    def _filter_changed(self, text: str) -> None:
        wanted = text.strip()
        if wanted and not _PATTERN_MARKS & set(wanted):
            wanted = f"*{wanted}*"
        self._model.setNameFilters([wanted] if wanted else [])

    def _selection_changed(self, *_: object) -> None:
        count = len(self.selection())
        self._use.setEnabled(count > 0)
        self._told.setText(
            self.tr("{0} selected. Programs that ask for it get this selection.").format(count)
            if count
            else self.tr("Select files here for programs that ask for them.")
        )

    def _send(self) -> None:
        self.selection_used.emit(self.selection())
