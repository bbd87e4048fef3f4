"""The chats by day, for a list view.

Owns the rows: headings that cannot be chosen, and chats. Thread: UI.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor, QFont

from app.store.records import LIVE, ChatRecord
from app.ui import words
from app.ui.theme import FONT_BODY_PX, FONT_META_PX, tokens
from app.ui.widgets import plain_tooltip

type Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()
CHAT_ID_ROLE = int(Qt.ItemDataRole.UserRole) + 1


class ChatListModel(QAbstractListModel):
    """Headings and chats, newest first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[str | ChatRecord] = []

    def set_chats(self, chats: Sequence[ChatRecord]) -> None:
        """Take the chats, newest first."""
        rows: list[str | ChatRecord] = []
        today = datetime.now().astimezone().date()
        heading = ""
        for chat in chats:
            if (under := words.day(chat.updated, today)) != heading:
                heading = under
                rows.append(heading)
            rows.append(chat)
        if rows == self._rows:
            return
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    def chats(self) -> list[ChatRecord]:
        """The chats in order."""
        return [row for row in self._rows if isinstance(row, ChatRecord)]

    def index_of(self, chat_id: str) -> QModelIndex:
        """The row of a chat; invalid when it is not listed."""
        for number, row in enumerate(self._rows):
            if isinstance(row, ChatRecord) and row.chat_id == chat_id:
                return self.index(number, 0)
        return QModelIndex()

    def chat_at(self, index: Index) -> ChatRecord | None:
        """The chat in a row, or None for a heading."""
        if not index.isValid():
            return None
        row = self._rows[index.row()]
        return row if isinstance(row, ChatRecord) else None

    def rowCount(self, parent: Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def flags(self, index: Index) -> Qt.ItemFlag:
        if self.chat_at(index) is None:
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row = self._rows[index.row()]
        if isinstance(row, str):
            return _heading(row, role)
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return words.visible(row.title) or self.tr("New chat")
            case Qt.ItemDataRole.AccessibleTextRole:
                return words.visible(row.title) + _state(row)
            case Qt.ItemDataRole.FontRole:
                return _bold() if _state(row) else None
            case Qt.ItemDataRole.ToolTipRole:
                title = words.visible(row.title)
                return plain_tooltip(f"{title}{_state(row)}\n{words.exact(row.updated)}")
            case _ if role == CHAT_ID_ROLE:
                return row.chat_id
            case _:
                return None


def _heading(text: str, role: int) -> Any:
    match role:
        case Qt.ItemDataRole.DisplayRole:
            return text
        case Qt.ItemDataRole.FontRole:
            font = QFont()
            font.setPixelSize(FONT_META_PX)
            return font
        case Qt.ItemDataRole.ForegroundRole:
            return QColor(tokens().muted)
        case _:
            return None


def _bold() -> QFont:
    font = QFont()
    font.setPixelSize(FONT_BODY_PX)
    font.setWeight(QFont.Weight.DemiBold)
    return font


def _state(chat: ChatRecord) -> str:
    """A chat's state, where it needs the person or is at work; such chats are in bold."""
    at_work = chat.status is not None and chat.status in LIVE
    if chat.status is not None and (at_work or chat.status in ("waiting", "asking", "interrupted")):
        return f", {words.status(chat.status)}"
    return ""
