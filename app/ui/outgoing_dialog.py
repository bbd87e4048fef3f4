"""What would be sent, before it is: where to, every message, the tools, and the exact bytes.

Thread: UI.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QTabWidget, QWidget

from app.ui import money_words, words
from app.ui.theme import SPACE_L, SPACE_M, SPACE_S, SPACE_XS
from app.ui.widgets import CodeBox, button, column, frame, label, row, scrolling

if TYPE_CHECKING:
    from app.engine.outgoing import Outgoing

_ROLES = {
    "user": "You, with the listing",
    "assistant": "The model",
    "tool": "What a program printed",
}


class OutgoingDialog(QDialog):
    """Shows one `Outgoing`. Nothing is sent from here."""

    def __init__(self, outgoing: Outgoing, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("What would be sent"))
        self.setModal(False)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        layout = column(self, margin=SPACE_L, spacing=SPACE_M)
        layout.addWidget(label(self._sentence(outgoing), "heading", wrap=True))
        layout.addWidget(label(words.visible(outgoing.url), "muted", wrap=True, selectable=True))
        cost = money_words.cost_range(outgoing)
        layout.addWidget(label(cost, wrap=True))
        for budget in outgoing.budgets:
            layout.addWidget(label(money_words.budget_left(budget), "muted", wrap=True))
        if outgoing.held:
            alert = frame("alert")
            inside = column(alert, margin=SPACE_M)
            text = self.tr("It would not be sent: this chat or one of its folders is local only.")
            inside.addWidget(label(text, "strong", wrap=True))
            layout.addWidget(alert)
        self.pages = QTabWidget()
        self.pages.setDocumentMode(True)
        self.pages.tabBar().setDrawBase(False)
        self.pages.setAccessibleName(self.tr("Parts of the request"))
        self.pages.addTab(self._conversation(outgoing), self.tr("Messages"))
        self.pages.addTab(self._plain(self.tr("System text"), outgoing.system), self.tr("System"))
        self.pages.addTab(self._bytes(outgoing), self.tr("Exact request"))
        layout.addWidget(self.pages, 1)
        rest = self.tr(
            "Later requests of the same turn add the model's programs and what they print. "
            "Contents that a program does not print stay here."
        )
        layout.addWidget(label(rest, "muted", wrap=True))
        buttons = row()
        buttons.addStretch(1)
        buttons.addWidget(button(self.tr("Close"), on_click=self.close))
        layout.addLayout(buttons)
        self.resize(760, 640)

    def _sentence(self, outgoing: Outgoing) -> str:
        return self.tr("{0} to {1}").format(
            words.size(len(outgoing.body)), words.visible(outgoing.place)
        )

    def _conversation(self, outgoing: Outgoing) -> QWidget:
        page = QWidget()
        page.setProperty("role", "ground")
        rows = column(page, spacing=SPACE_S)
        rows.setContentsMargins(0, SPACE_M, 0, 0)
        for role, text in outgoing.messages:
            card = frame("card")
            inside = column(card, margin=SPACE_M, spacing=SPACE_XS)
            inside.addWidget(label(self.tr(_ROLES.get(role, role)), "strong"))
            box = CodeBox(self.tr("Message"), max_lines=18, wrap=True)
            box.setPlainText(text)
            box.fit()
            inside.addWidget(box)
            rows.addWidget(card)
        tools = self.tr("Tools that it may call: {0}").format(", ".join(outgoing.tools) or "none")
        rows.addWidget(label(tools, "muted", wrap=True))
        rows.addStretch(1)
        return scrolling(page)

    def _plain(self, name: str, text: str) -> QWidget:
        box = CodeBox(name, max_lines=26, wrap=True)
        box.setPlainText(text)
        return _page(box)

    def _bytes(self, outgoing: Outgoing) -> QWidget:
        box = CodeBox(self.tr("Exact request"), max_lines=26)
        box.setPlainText(json.dumps(json.loads(outgoing.body), indent=2, ensure_ascii=False))
        return _page(box)


def _page(box: CodeBox) -> QWidget:
    page = QWidget()
    page.setProperty("role", "ground")
    layout = column(page)
    layout.setContentsMargins(0, SPACE_M, 0, 0)
    box.fit()
    layout.addWidget(box)
    layout.addStretch(1)
    return page
