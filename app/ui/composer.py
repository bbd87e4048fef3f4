"""Where the person writes: grows to eight lines, Enter sends, Shift+Enter breaks.

Owns the text, the choice of model and Send or Stop. It must not talk to the engine. Thread: UI.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QComboBox, QFrame, QPlainTextEdit, QWidget

from app.ui import words
from app.ui.theme import SPACE_M, SPACE_S, SPACE_XS
from app.ui.widgets import button, column, frame, row
from models.providers import AUTO, is_remote

if TYPE_CHECKING:
    from app.engine.model_status import ModelStatus
    from app.engine.places import RemoteChoice

MAX_LINES = 8
REMOTE_WANTED = "?remote"
"""The entry that opens the settings of remote models."""


class _Input(QPlainTextEdit):
    """The text field. `entered`: Enter was pressed without Shift."""

    entered = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "bare")
        self.setTabChangesFocus(True)
        self.setAcceptDrops(False)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enter and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.entered.emit()
            return
        super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def insertFromMimeData(self, source: QMimeData) -> None:  # noqa: N802  # Qt override
        """Paste as plain text, whatever the clipboard holds."""
        self.insertPlainText(source.text())

    def _fit(self, *_size: object) -> None:
        lines = max(1, min(MAX_LINES, int(self.document().size().height())))
        margins = 2 * int(self.document().documentMargin()) + 4
        height = lines * self.fontMetrics().lineSpacing() + margins
        if height != self.height():
            self.setFixedHeight(height)


class Composer(QFrame):
    """The bar below the transcript. `sent` carries the text; `model_chosen` a model's id."""

    sent = Signal(str)
    stop_wanted = Signal()
    model_chosen = Signal(str)
    models_wanted = Signal()
    remote_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._running = False
        self._model_id = ""
        self._absent = False
        self._input = _Input()
        self._input.setAccessibleName(self.tr("Request"))
        self._input.setPlaceholderText(self.tr("Ask for something to be done with your files"))
        self._input.entered.connect(self.send)
        self._input.textChanged.connect(self._show_state)
        self._model = QComboBox()
        self._model.setProperty("role", "flat")
        self._model.setAccessibleName(self.tr("Model"))
        self._model.setToolTip(self.tr("The model that answers in this chat"))
        self._model.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self._model.activated.connect(self._activated)
        self._send = button(self.tr("Send"), "primary", icon="ph.arrow-up", on_click=self.send,
                            tip=self.tr("Enter sends, Shift+Enter starts a new line"))  # fmt: skip
        self._stop = button(self.tr("Stop"), icon="ph.stop", on_click=self.stop_wanted.emit,
                            tip=self.tr("Escape stops, too"))  # fmt: skip
        box = frame("card")
        inside = column(box, spacing=SPACE_XS)
        inside.setContentsMargins(SPACE_M, SPACE_S, SPACE_S, SPACE_S)
        inside.addWidget(self._input)
        under = row()
        under.addWidget(self._model)
        under.addStretch(1)
        under.addWidget(self._send)
        under.addWidget(self._stop)
        inside.addLayout(under)
        layout = column(self)
        layout.setContentsMargins(SPACE_M, SPACE_S, SPACE_M, SPACE_M)
        layout.addWidget(box)
        self.setTabOrder(self._input, self._model)
        self.setTabOrder(self._model, self._send)
        self.setFocusProxy(self._input)
        self._show_state()

    def text(self) -> str:
        """What is written."""
        return self._input.toPlainText()

    def set_text(self, text: str) -> None:
        """Replace what is written and put the cursor behind it."""
        self._input.setPlainText(text)
        self._input.moveCursor(self._input.textCursor().MoveOperation.End)

    def insert(self, text: str) -> None:
        """Put `text` where the cursor is."""
        self._input.insertPlainText(text)

    def set_running(self, running: bool) -> None:
        """Show Stop instead of Send while a turn is at work."""
        if running == self._running:
            return
        had_focus = self._send.hasFocus() or self._stop.hasFocus()
        self._running = running
        self._show_state()
        if had_focus:
            self._input.setFocus()

    def set_models(
        self, models: Sequence[ModelStatus], choices: Sequence[RemoteChoice] = ()
    ) -> None:
        """Offer the models that are on this machine, those elsewhere, and the way to get others.

        For one elsewhere the place that requests go to is part of its name.
        """
        self._model.clear()
        self._absent = False
        here = [model for model in models if model.present]
        for model in here:
            self._model.addItem(model.name, model.model_id)
        if choices and here:
            self._model.addItem(self.tr("Automatic, local first"), AUTO)
        for choice in choices:
            text = self.tr("{0}, at {1}").format(choice.name, choice.place)
            self._model.addItem(words.visible(text), choice.model_id)
        self._model.addItem(self.tr("Get models"), "")
        self._model.addItem(self.tr("Remote models"), REMOTE_WANTED)
        self.set_model(self._model_id)

    def set_model(self, model_id: str) -> None:
        """Show the chat's model, even if it is not on this machine."""
        self._model_id = model_id
        if self._absent:
            self._model.removeItem(0)
        self._absent = bool(self._model.count() and model_id) and (
            self._model.findData(model_id) < 0
        )
        if self._absent:
            name = model_id.partition(":")[2]
            absent = self.tr("{0}, not on this machine")
            if is_remote(model_id):
                absent, name = self.tr("{0}, at another place"), model_id
            self._model.insertItem(0, absent.format(name), model_id)
        self._model.setCurrentIndex(max(0, self._model.findData(model_id)) if model_id else 0)

    def model_id(self) -> str:
        """The chosen model's id; empty while no model is there."""
        return str(self._model.currentData() or "")

    def send(self) -> None:
        """Send what is written, if it can be sent now."""
        text = self.text().strip()
        if not text or self._running:
            return
        self._input.clear()
        self.sent.emit(text)

    def _activated(self, index: int) -> None:
        chosen = str(self._model.itemData(index) or "")
        if chosen == REMOTE_WANTED:
            self.set_model(self._model_id)
            self.remote_wanted.emit()
        elif chosen:
            self._model_id = chosen
            self.model_chosen.emit(chosen)
        else:
            self.set_model(self._model_id)
            self.models_wanted.emit()

    def _show_state(self) -> None:
        self._stop.setVisible(self._running)
        self._send.setVisible(not self._running)
        self._send.setEnabled(bool(self.text().strip()))
