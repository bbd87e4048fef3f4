"""What the programs of this chat have defined for the next one, and the button that forgets it.

Owns one line below the run. Thread: UI.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFrame, QWidget

from app.store.records import Problem
from app.ui import words
from app.ui.theme import SPACE_M, SPACE_S
from app.ui.widgets import button, column, hairline, label, row

if TYPE_CHECKING:
    from app.engine.chat_sessions import ChatSession
    from app.ui.session import Session

_NAMES = 4


class DefinedBar(QFrame):
    """Hidden while nothing is defined."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "ground")
        self.setAccessibleName(self.tr("Defined in this chat"))
        self._session: Session | None = None
        self._chat_id = ""
        layout = column(self, spacing=SPACE_S)
        layout.addWidget(hairline())
        line = row(spacing=SPACE_S)
        line.setContentsMargins(SPACE_M, 0, SPACE_M, SPACE_S)
        self.text = label("", "muted", wrap=True)
        self.forget = button(self.tr("Forget"), on_click=self._forget)
        self.forget.setToolTip(self.tr("The next program of this chat starts fresh"))
        line.addWidget(self.text, 1)
        line.addWidget(self.forget)
        layout.addLayout(line)
        self.hide()

    def look(self, session: Session, *, live: bool) -> None:
        """Ask what is defined in the chat that is shown; `live`: a turn of it is at work."""
        chat = session.chat
        if live and chat is not None and chat.chat_id == self._chat_id:
            return
        if chat is None:
            self.hide()
            return
        self._session, self._chat_id = session, chat.chat_id
        session.call(lambda engine: engine.sessions.of(chat.chat_id), self._show, owner=self)

    def _show(self, found: ChatSession) -> None:
        names = [*found.variables, *(f"{name}()" for name in found.functions)]
        self.setVisible(bool(names or found.problem))
        self.forget.setEnabled(True)
        if found.problem:
            self.text.setText(found.problem)
            return
        text = ", ".join(words.visible(name) for name in names[:_NAMES])
        if len(names) > _NAMES:
            text = self.tr("{0} and {1} more").format(text, len(names) - _NAMES)
        self.text.setText(self.tr("Defined for the next program: {0}").format(text))
        self.text.setToolTip(words.visible(", ".join(names)))

    def _forget(self) -> None:
        session, chat_id = self._session, self._chat_id
        if session is None:
            return
        self.forget.setEnabled(False)
        session.call(
            lambda engine: engine.sessions.reset(chat_id), lambda _: self.hide(), self._failed
        )

    def _failed(self, problem: Problem) -> None:
        self.forget.setEnabled(True)
        self.text.setText(f"{problem.message} {problem.hint}".strip())
