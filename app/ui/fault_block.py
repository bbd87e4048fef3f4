"""What the disk refused while changes were applied, in a review that is still open.

Owns how it is said and the offer to keep what can be applied. Thread: UI.
"""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QWidget

from app.store.records import Problem
from app.ui.theme import SPACE_S
from app.ui.widgets import button, column, label, row


class FaultBlock(QFrame):
    """Hidden until something was refused. `keep_wanted`: apply what can be applied."""

    keep_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "alert")
        self.setAccessibleName(self.tr("The disk refused a change"))
        self._message = label("", "strong", wrap=True)
        self._hint = label("", wrap=True)
        self.keep_button = button(
            self.tr("Apply what can be applied"), on_click=self.keep_wanted.emit
        )
        self.keep_button.setToolTip(
            self.tr("What the disk refuses, and what needs it, is left out and listed.")
        )
        layout = column(self, margin=SPACE_S, spacing=SPACE_S)
        layout.addWidget(self._message)
        under = row()
        under.addWidget(self._hint, 1)
        under.addWidget(self.keep_button)
        layout.addLayout(under)
        self.hide()

    def show_problem(self, problem: Problem | None) -> None:
        """Show why nothing was applied; None hides it."""
        self.setVisible(problem is not None)
        if problem is None:
            return
        self._message.setText(problem.message)
        self._hint.setText(problem.hint)
        self.keep_button.setVisible(problem.can_keep)

    def text(self) -> str:
        """What is said, for tests."""
        return f"{self._message.text()} {self._hint.text()}".strip()
