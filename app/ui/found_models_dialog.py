"""The model files that other programs have on this machine, and taking one of them in.

Owns the list. A file is used where it is: nothing is copied. Thread: UI.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QWidget

from app.ui import words
from app.ui.theme import SPACE_L, SPACE_M, SPACE_S, SPACE_XS
from app.ui.widgets import ElidedLabel, button, clear, column, frame, label, row, scrolling

if TYPE_CHECKING:
    from app.engine.shelf import Elsewhere

_OWNERS = {
    "lm-studio": "LM Studio",
    "ollama": "Ollama",
    "huggingface": "Hugging Face",
    "llama.cpp": "llama.cpp",
}


class FoundModelsDialog(QDialog):
    """Lists what was found. `use_wanted` carries a file's path."""

    use_wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Models of other programs"))
        self.setModal(False)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        layout = column(self, margin=SPACE_L, spacing=SPACE_M)
        layout.addWidget(label(self.tr("Models of other programs"), "heading"))
        text = self.tr("Drydock uses them where they are, without a copy.")
        layout.addWidget(label(text, "muted", wrap=True))
        page = QWidget()
        page.setProperty("role", "ground")
        self._rows = column(page, spacing=SPACE_S)
        self._rows.addWidget(label(self.tr("Looking for model files."), "muted"))
        layout.addWidget(scrolling(page, sideways=False), 1)
        buttons = row()
        buttons.addStretch(1)
        buttons.addWidget(button(self.tr("Close"), on_click=self.close))
        layout.addLayout(buttons)
        self.resize(560, 420)

    def show_found(self, found: Sequence[Elsewhere]) -> None:
        """Show what there is."""
        clear(self._rows)
        if not found:
            text = self.tr(
                "There are no model files of LM Studio, Ollama, llama.cpp or the Hugging Face "
                "cache here. A file from elsewhere: Use a model file, or drop it on the models."
            )
            self._rows.addWidget(label(text, "muted", wrap=True))
        for item in found:
            self._rows.addWidget(self._row(item))
        self._rows.addStretch(1)

    def _row(self, item: Elsewhere) -> QWidget:
        card = frame("card")
        line = row(card, margin=SPACE_M, spacing=SPACE_M)
        texts = column(spacing=SPACE_XS)
        texts.addWidget(ElidedLabel(item.found.name, "strong"))
        owner, size = _OWNERS[item.found.owner], words.size(item.found.size_bytes)
        texts.addWidget(label(f"{owner}, {size}", "muted"))
        where = ElidedLabel(str(item.found.path), "meta", Qt.TextElideMode.ElideMiddle)
        texts.addWidget(where)
        line.addLayout(texts, 1)
        if item.here_as:
            line.addWidget(label(self.tr("here already"), "meta"))
        else:
            path = str(item.found.path)
            line.addWidget(
                button(
                    self.tr("Use"),
                    name=self.tr("Use {0}").format(item.found.name),
                    on_click=lambda: self.use_wanted.emit(path),
                )
            )
        return card
