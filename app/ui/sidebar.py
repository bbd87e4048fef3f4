"""The left side: new chat, search, chats by day, and the folders of this chat with their rights.

Owns these widgets. It asks for things through signals and must not talk to the engine. Thread: UI.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Literal

from PySide6.QtCore import QModelIndex, QPoint, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import QFrame, QLineEdit, QListView, QMenu, QPushButton, QVBoxLayout, QWidget

from app.store.records import ChatRecord, Folder
from app.ui import words
from app.ui.chat_list import ChatListModel
from app.ui.theme import ROW_PX, SPACE_M, SPACE_S, SPACE_XS
from app.ui.widgets import (
    ElidedLabel,
    button,
    clear,
    column,
    frame,
    hairline,
    icon_button,
    label,
    plain_tooltip,
    row,
)

SEARCH_PAUSE_MS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatWish:
    """What the person wants done with a chat."""

    chat_id: str
    what: Literal["open", "rename", "delete"]


class Sidebar(QFrame):
    """The left side. `chat_wanted` carries a `ChatWish`, `folders_chosen` a tuple of `Folder`."""

    new_chat_wanted = Signal()
    chat_wanted = Signal(object)
    search_changed = Signal(str)
    add_folder_wanted = Signal()
    folders_chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "side")
        self.setMinimumWidth(180)
        self._search_pause = QTimer(self)
        self._search_pause.setSingleShot(True)
        self._search_pause.setInterval(SEARCH_PAUSE_MS)
        self._search_pause.timeout.connect(lambda: self.search_changed.emit(self.search.text()))

        new_chat = button(self.tr("New chat"), icon="ph.plus", on_click=self.new_chat_wanted.emit)
        self.search = QLineEdit()
        self.search.setPlaceholderText(self.tr("Search chats"))
        self.search.setAccessibleName(self.tr("Search chats"))
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._search_pause_begin)
        self.model = ChatListModel(self)
        self.chats = self._make_list()
        self._no_chats = label(self.tr("No chats yet. Ask for something to start one."), "muted",
                               wrap=True)  # fmt: skip
        layout = column(self, spacing=SPACE_S)
        layout.setContentsMargins(SPACE_M, SPACE_M, SPACE_M, SPACE_M)
        layout.addWidget(new_chat)
        layout.addWidget(self.search)
        layout.addWidget(self._no_chats)
        layout.addWidget(self.chats, 1)
        self._filler = QWidget()
        layout.addWidget(self._filler, 1)
        layout.addWidget(hairline())
        self.folders = FolderList()
        self.folders.add_wanted.connect(self.add_folder_wanted)
        self.folders.folders_chosen.connect(self.folders_chosen)
        layout.addWidget(self.folders)
        self.setTabOrder(new_chat, self.search)
        self.setTabOrder(self.search, self.chats)
        self.show_chats(())

    def show_chats(self, chats: Sequence[ChatRecord], current_id: str = "") -> None:
        """Show the chats, newest first, with the open one marked."""
        self.model.set_chats(chats)
        found = bool(chats)
        self.chats.setVisible(found)
        self._filler.setVisible(not found)
        self._no_chats.setVisible(not found)
        searching = bool(self.search.text())
        self._no_chats.setText(
            self.tr("No chat matches.")
            if searching
            else self.tr("No chats yet. Ask for something to start one.")
        )
        self.mark(current_id)

    def mark(self, chat_id: str) -> None:
        """Mark the open chat."""
        index = self.model.index_of(chat_id)
        selection = self.chats.selectionModel()
        if index.isValid():
            selection.setCurrentIndex(index, selection.SelectionFlag.ClearAndSelect)
        else:
            selection.clear()

    def _search_pause_begin(self, _text: str) -> None:
        self._search_pause.start()

    def _make_list(self) -> QListView:
        chats = QListView()
        chats.setProperty("role", "plain")
        chats.setAccessibleName(self.tr("Chats"))
        chats.setModel(self.model)
        chats.setUniformItemSizes(True)
        chats.setTextElideMode(Qt.TextElideMode.ElideRight)
        chats.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        chats.clicked.connect(self._open)
        chats.activated.connect(self._open)
        chats.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        chats.customContextMenuRequested.connect(self._show_menu)
        for key, wish in (
            ("F2", lambda: self._wish_current("rename")),
            ("Del", lambda: self._wish_current("delete")),
        ):
            shortcut = QShortcut(QKeySequence(key), chats)
            shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
            shortcut.activated.connect(wish)
        return chats

    def _open(self, index: QModelIndex) -> None:
        if (chat := self.model.chat_at(index)) is not None:
            self.chat_wanted.emit(ChatWish(chat_id=chat.chat_id, what="open"))

    def _wish_current(self, what: Literal["rename", "delete"]) -> None:
        if (chat := self.model.chat_at(self.chats.currentIndex())) is not None:
            self.chat_wanted.emit(ChatWish(chat_id=chat.chat_id, what=what))

    def _show_menu(self, where: QPoint) -> None:
        chat = self.model.chat_at(self.chats.indexAt(where))
        if chat is None:
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)

        def wish(what: Literal["open", "rename", "delete"]) -> None:
            self.chat_wanted.emit(ChatWish(chat_id=chat.chat_id, what=what))

        menu.addAction(self.tr("Open")).triggered.connect(lambda: wish("open"))
        menu.addAction(self.tr("Rename")).triggered.connect(lambda: wish("rename"))
        menu.addSeparator()
        menu.addAction(self.tr("Delete chat")).triggered.connect(lambda: wish("delete"))
        menu.popup(self.chats.viewport().mapToGlobal(where))


class FolderList(QFrame):
    """The folders of this chat. `folders_chosen` carries all of them after a change."""

    add_wanted = Signal()
    folders_chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "side")
        self._folders: tuple[Folder, ...] = ()
        layout = column(self, spacing=SPACE_XS)
        layout.addWidget(label(self.tr("Folders of this chat"), "meta"))
        self._rows: QVBoxLayout = column(spacing=SPACE_XS)
        layout.addLayout(self._rows)
        self._add = button(self.tr("Add a folder"), "row", icon="ph.folder-plus",
                           on_click=self.add_wanted.emit)  # fmt: skip
        layout.addWidget(self._add)
        self.show_folders(())

    def show_folders(self, folders: Sequence[Folder]) -> None:
        """Show the folders with their rights; the keyboard's place among them stays."""
        if self._rows.count() and tuple(folders) == self._folders:
            return
        self._folders = tuple(folders)
        focused = next((n for n, one in enumerate(self._buttons()) if one.hasFocus()), None)
        clear(self._rows)
        if not folders:
            text = self.tr("None yet: programs can touch nothing.")
            self._rows.addWidget(label(text, "muted", wrap=True))
        for folder in self._folders:
            self._rows.addWidget(self._row(folder))
        buttons = self._buttons()
        if focused is not None and buttons:
            again = buttons[min(focused, len(buttons) - 1)]
            QTimer.singleShot(0, again, again.setFocus)  # once it is shown

    def _buttons(self) -> list[QPushButton]:
        """The buttons in the rows, in order; not those of rows that are on their way out."""
        rows = (self._rows.itemAt(number) for number in range(self._rows.count()))
        widgets = [item.widget() for item in rows if item is not None]
        return [one for widget in widgets if widget for one in widget.findChildren(QPushButton)]

    def _row(self, folder: Folder) -> QWidget:
        whole = frame("side")
        layout = column(whole, spacing=0)
        name = ElidedLabel(words.home_path(folder.path), cut=Qt.TextElideMode.ElideLeft)
        name.setToolTip(plain_tooltip(words.visible(folder.path)))
        short = words.visible(PurePath(folder.path).name)
        remove = icon_button(
            "ph.x",
            self.tr("Remove {0} from this chat").format(short),
            lambda: self._remove(folder),
            size_px=ROW_PX,
            tip=self.tr("Remove from this chat; the folder itself stays"),
        )
        rights = button(
            words.rights(folder),
            "word",
            name=self.tr("Rights of {0}: {1}").format(short, words.rights(folder)),
            tip=self.tr("Switch between read and read and write"),
            on_click=lambda: self._switch(folder),
        )
        line = row(spacing=SPACE_XS)
        line.addWidget(name, 1)
        line.addWidget(remove)
        layout.addLayout(line)
        layout.addWidget(rights, 0, Qt.AlignmentFlag.AlignLeft)
        whole.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)

        def show_menu(where: QPoint) -> None:
            self._show_menu(whole, where, folder)

        whole.customContextMenuRequested.connect(show_menu)
        return whole

    def _switch(self, folder: Folder) -> None:
        other = Folder(path=folder.path, rights="read" if folder.rights == "write" else "write")
        self.folders_chosen.emit(tuple(other if f == folder else f for f in self._folders))

    def _remove(self, folder: Folder) -> None:
        self.folders_chosen.emit(tuple(f for f in self._folders if f != folder))

    def _show_menu(self, over: QWidget, where: QPoint, folder: Folder) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self.tr("Show in the file manager")).triggered.connect(
            lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(folder.path))
        )
        menu.addAction(self.tr("Copy the path")).triggered.connect(
            lambda: QGuiApplication.clipboard().setText(folder.path)
        )
        menu.addSeparator()
        menu.addAction(self.tr("Remove from this chat")).triggered.connect(
            lambda: self._remove(folder)
        )
        menu.popup(over.mapToGlobal(where))
