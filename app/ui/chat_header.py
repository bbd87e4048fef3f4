"""The line above a chat: title, where code runs, where requests go, and the panels' switches.

Thread: UI.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QWidget

from app.engine.events import Notice
from app.ui.theme import SPACE_M, SPACE_S
from app.ui.widgets import ElidedLabel, button, icon_button, row


class ChatHeader(QFrame):
    """Title and badges. `explained` carries a `Notice` with what a badge means."""

    sidebar_wanted = Signal()
    panel_wanted = Signal()
    commands_wanted = Signal()
    explained = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "bar")
        self._local = True
        sidebar = icon_button("ph.list", self.tr("Show or hide the chats"),
                              self.sidebar_wanted.emit,
                              tip=self.tr("Show or hide the chats, Ctrl+B"))  # fmt: skip
        panel = icon_button("ph.columns", self.tr("Show or hide run and changes"),
                            self.panel_wanted.emit,
                            tip=self.tr("Show or hide run and changes, Ctrl+J"))  # fmt: skip
        commands = icon_button("ph.command", self.tr("Commands"), self.commands_wanted.emit,
                               tip=self.tr("All commands, Ctrl+K"))  # fmt: skip
        self._title = ElidedLabel("", "heading", Qt.TextElideMode.ElideRight)
        self._sandbox = button(self.tr("Sandbox: no shell"), "badge",
                               name=self.tr("Where code runs: sandbox, no shell"),
                               on_click=self._explain_sandbox)  # fmt: skip
        self._place = button("", "badge", on_click=self._explain_place)
        layout = row(self, spacing=SPACE_S)
        layout.setContentsMargins(SPACE_M, SPACE_S, SPACE_M, SPACE_S)
        layout.addWidget(sidebar)
        layout.addWidget(self._title, 1)
        for widget in (self._sandbox, self._place, commands, panel):
            layout.addWidget(widget)
        self.set_model("")

    def set_title(self, title: str) -> None:
        """Show the chat's title."""
        self._title.set_whole(title)

    def set_model(self, model_id: str) -> None:
        """Show where requests of `model_id` go; empty: the default, a local one."""
        provider = model_id.partition(":")[0] or "local"
        self._local = provider == "local"
        self._place.setText(self.tr("local") if self._local else provider)
        self._place.setAccessibleName(self.tr("Where requests go: {0}").format(self._place.text()))

    def _explain_sandbox(self) -> None:
        self.explained.emit(
            Notice(
                severity="info",
                message=self.tr(
                    "Programs run in an interpreter that has no shell and no network. They reach "
                    "the folders of this chat, and work on a copy of them."
                ),
            )
        )

    def _explain_place(self) -> None:
        if self._local:
            text = self.tr("The model runs on this machine. Nothing of this chat leaves it.")
        else:
            text = self.tr("Requests, and what programs print, are sent to {0}.").format(
                self._place.text()
            )
        self.explained.emit(Notice(severity="info", message=text))
