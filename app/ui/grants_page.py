"""The page of standing grants in the settings: each explained, how often it was used, taken back.

Owns the list. A grant taken back is gone at once, without saving. Thread: UI.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from app.store.grants import GrantRecord
from app.ui import words
from app.ui.theme import SPACE_M, SPACE_S
from app.ui.widgets import button, clear, column, label, row
from sandbox.grant_budgets import explained

_HEIGHT = 240


class GrantsPage(QWidget):
    """The standing grants. `revoked` carries the id of one that is taken back."""

    revoked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "plain")
        layout = column(self, margin=0, spacing=SPACE_S)
        self._note = label(self.tr("Reading"), "muted", wrap=True)
        layout.addWidget(self._note)
        inside = QWidget()
        inside.setProperty("role", "plain")
        self._list = column(inside, margin=0, spacing=SPACE_M)
        self._list.setAlignment(Qt.AlignmentFlag.AlignTop)
        area = QScrollArea()
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidgetResizable(True)
        area.setMinimumHeight(_HEIGHT)
        area.setWidget(inside)
        layout.addWidget(area, 1)

    def show_grants(self, grants: Sequence[GrantRecord]) -> None:
        """Show these, and no others."""
        clear(self._list)
        self._note.setText(
            self.tr("Allowed without asking, except for what the review names as unusual.")
            if grants
            else self.tr("Nothing is allowed without asking. The review offers to allow more.")
        )
        for grant in grants:
            self._list.addWidget(self._entry(grant))

    def _entry(self, grant: GrantRecord) -> QWidget:
        entry = QWidget()
        entry.setProperty("role", "plain")
        line = row(entry)
        texts = column()
        texts.addWidget(label(explained(grant.text), wrap=True))
        where = self.tr("In all chats") if grant.scope == "always" else self.tr("In one chat")
        used = words.count(grant.uses, "use", "uses")
        texts.addWidget(label(f"{where} · {used} · {grant.text}", "meta", wrap=True))
        line.addLayout(texts, 1)
        line.addWidget(
            button(
                self.tr("Take back"),
                on_click=lambda: self._take_back(grant, entry),
                name=self.tr("Take back: {0}").format(explained(grant.text)),
            )
        )
        return entry

    def _take_back(self, grant: GrantRecord, entry: QWidget) -> None:
        entry.setEnabled(False)
        self.revoked.emit(grant.grant_id)
