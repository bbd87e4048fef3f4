"""The line above a chat: title, where code runs, where requests go, and the panels' switches.

Thread: UI.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import QFrame, QWidget

from app.engine.events import Notice
from app.ui.theme import SPACE_M, SPACE_S
from app.ui.widgets import ElidedLabel, button, icon_button, plain_tooltip, row

if TYPE_CHECKING:
    from sandbox.workspace.ladder import RungState


class ChatHeader(QFrame):
    """Title and badges. `explained` carries a `Notice` with what a badge means."""

    sidebar_wanted = Signal()
    panel_wanted = Signal()
    commands_wanted = Signal()
    explained = Signal(object)
    place_wanted = Signal()
    costs_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "bar")
        self._place_words = ""
        self._shell: RungState | None = None
        sidebar = icon_button("ph.list", self.tr("Show or hide the chats"),
                              self.sidebar_wanted.emit,
                              tip=self.tr("Show or hide the chats, Ctrl+B"))  # fmt: skip
        panel = icon_button("ph.columns", self.tr("Show or hide run and changes"),
                            self.panel_wanted.emit,
                            tip=self.tr("Show or hide run and changes, Ctrl+J"))  # fmt: skip
        commands = icon_button("ph.command", self.tr("Commands"), self.commands_wanted.emit,
                               tip=self.tr("All commands, Ctrl+K"))  # fmt: skip
        self._title = ElidedLabel("", "heading", Qt.TextElideMode.ElideRight)
        self.shell_badge = button(self.tr("Sandbox: no shell"), "badge",
                               name=self.tr("Where code runs: sandbox, no shell"),
                               on_click=self._explain_sandbox)  # fmt: skip
        self._place = button("", "badge", on_click=self.place_wanted.emit)
        self._cost = button("", "badge", on_click=self.costs_wanted.emit,
                            tip=self.tr("What this chat has cost; opens the overview"))  # fmt: skip
        self._cost.hide()
        layout = row(self, spacing=SPACE_S)
        layout.setContentsMargins(SPACE_M, SPACE_S, SPACE_M, SPACE_S)
        layout.addWidget(sidebar)
        layout.addWidget(self._title, 1)
        for widget in (self._cost, self.shell_badge, self._place, commands, panel):
            layout.addWidget(widget)
        self.set_place(
            self.tr("local"),
            self.tr("The model runs on this machine. Nothing of this chat leaves it."),
        )

    def set_title(self, title: str) -> None:
        """Show the chat's title."""
        self._title.set_whole(title)

    def set_place(self, text: str, tip: str) -> None:
        """Say where requests go, in a few words and in full."""
        self._place_words = tip
        self._place.setText(text)
        self._place.setToolTip(plain_tooltip(tip))
        self._place.setAccessibleName(self.tr("Where requests go: {0}").format(text))

    def set_cost(self, text: str) -> None:
        """Say what this chat has cost; empty hides it."""
        self._cost.setText(text)
        self._cost.setAccessibleName(self.tr("Cost of this chat: {0}").format(text))
        self._cost.setVisible(bool(text))

    def explain_place(self) -> None:
        """Say in full where requests go."""
        self.explained.emit(Notice(severity="info", message=self._place_words))

    def place_corner(self) -> QPoint:
        """Where a menu under the place belongs."""
        return self._place.mapToGlobal(self._place.rect().bottomLeft())

    def set_shell(self, shell: RungState | None) -> None:
        """Show where shell commands run; None: they cannot be run."""
        self._shell = shell
        match shell.rung if shell is not None else None:
            case None:
                text, name = self.tr("Sandbox: no shell"), self.tr("sandbox, no shell")
            case "bubblewrap":
                text, name = self.tr("Shell: bubblewrap, weaker"), self.tr("bubblewrap, weaker")
            case "smol" | "qemu":
                text, name = self.tr("Shell: microVM"), self.tr("sandbox, shell in a microVM")
        self.shell_badge.setText(text)
        self.shell_badge.setAccessibleName(self.tr("Where code runs: {0}").format(name))

    def _explain_sandbox(self) -> None:
        text = self.tr(
            "Programs run in an interpreter that has no shell and no network. They reach "
            "the folders of this chat, and work on a copy of them."
        )
        weaker = self._shell is not None and self._shell.rung == "bubblewrap"
        if weaker:
            text += " " + self.tr(
                "Shell commands run in bubblewrap, which shares this computer's kernel: it stops "
                "accidents, not an attacker. They have no network, and copies of the folders."
            )
        elif self._shell is not None:
            text += " " + self.tr(
                "Shell commands run in a machine of their own, without a network, that has copies "
                "of the folders. What they change is reviewed like everything else."
            )
        self.explained.emit(Notice(severity="caution" if weaker else "info", message=text))
