"""One line above the composer for what belongs to no turn: a notice, or a problem.

Thread: UI.
"""

from __future__ import annotations

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QWidget

from app.engine.events import Notice
from app.store.records import Problem
from app.ui.theme import SPACE_M, SPACE_S
from app.ui.widgets import button, label, row


class NoticeBar(QFrame):
    """Shows the latest notice until it is closed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("Notice"))
        self._details = ""
        self._text = label("", wrap=True, selectable=True)
        self._copy = button(self.tr("Copy details"), "word", on_click=self._copy_details)
        layout = row(self, spacing=SPACE_S)
        layout.setContentsMargins(SPACE_M, SPACE_S, SPACE_S, SPACE_S)
        layout.addWidget(self._text, 1)
        layout.addWidget(self._copy)
        layout.addWidget(button(self.tr("Close"), "word", on_click=self.hide,
                                name=self.tr("Close the notice")))  # fmt: skip
        self.hide()

    def show_notice(self, notice: Notice) -> None:
        """Show a notice."""
        role = "card" if notice.severity == "info" else "alert"
        self._show(f"{notice.message} {notice.hint}".strip(), role, "")

    def show_problem(self, problem: Problem) -> None:
        """Show an error: what happened, then what to do."""
        self._show(f"{problem.message} {problem.hint}".strip(), "alert", problem.details)

    def text(self) -> str:
        """What is on the screen."""
        return self._text.text()

    def _show(self, text: str, role: str, details: str) -> None:
        self._details = details
        self._text.setText(text)
        self._copy.setVisible(bool(details))
        self.setProperty("role", role)
        self.style().unpolish(self)
        self.style().polish(self)
        self.show()

    def _copy_details(self) -> None:
        QGuiApplication.clipboard().setText(f"{self._text.text()}\n\n{self._details}")
