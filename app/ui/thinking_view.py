"""What a model thought aloud: folded, one click away.

Thread: UI.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.ui.theme import SPACE_XS
from app.ui.widgets import CodeBox, button, column

_LINES = 12


class ThinkingView(QWidget):
    """Hidden while there is nothing; folded until the person opens it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "plain")
        self._live = False
        self._switch = button(self.tr("Thinking"), "word", on_click=self._toggle)
        self._box = CodeBox(self.tr("What the model thought"), max_lines=_LINES, wrap=True)
        self._box.setFont(self.font())
        self._box.hide()
        layout = column(self, spacing=SPACE_XS)
        layout.addWidget(self._switch, 0, Qt.AlignmentFlag.AlignLeft)
        layout.addWidget(self._box)
        self.hide()

    def text(self) -> str:
        """All of it, shown or folded."""
        return self._box.toPlainText()

    def is_open(self) -> bool:
        """Whether it is unfolded."""
        return self._box.isVisibleTo(self)

    def set_text(self, text: str, *, live: bool) -> None:
        """Show what a record holds; while a reply is `live`, what has streamed stays."""
        self._live = live
        if live and text == "" and self.text():
            # A new reply begins: what was thought for the one before is with its program.
            self._box.setPlainText("")
        elif text and text != self.text():
            self._box.setPlainText(text)
            self._box.fit()
        elif not live and text != self.text():
            self._box.setPlainText(text)
        self._tell()

    def append(self, text: str) -> None:
        """Add what has just arrived."""
        self._live = True
        self._box.append_live(text)
        self._tell()

    def _toggle(self) -> None:
        self._box.setVisible(not self.is_open())
        if self.is_open():
            self._box.fit()
        self._tell()

    def _tell(self) -> None:
        count = len(self.text().split())
        self.setVisible(count > 0)
        what = self.tr("Thinking, {0} words so far") if self._live else self.tr("Thought {0} words")
        fold = self.tr("fold") if self.is_open() else self.tr("show")
        self._switch.setText(f"{what.format(count)}, {fold}")
