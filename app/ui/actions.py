"""Every action of the window: its words, its shortcut, and when it can be used.

Owns the list that the command palette shows. What an action does belongs to the window.
Thread: UI.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One action. `available` None: always."""

    text: str
    run: Callable[[], object]
    shortcut: str = ""
    available: Callable[[], bool] | None = None


class Actions:
    """The window's actions. `refresh` says again which can be used."""

    def __init__(self, window: QWidget, commands: list[Command]) -> None:
        self._pairs: list[tuple[QAction, Command]] = []
        for command in commands:
            action = QAction(QCoreApplication.translate("actions", command.text), window)
            if command.shortcut:
                action.setShortcut(QKeySequence(command.shortcut))
            action.triggered.connect(_without_argument(command.run))
            window.addAction(action)
            self._pairs.append((action, command))
        self.refresh()

    def all(self) -> list[QAction]:
        """The actions in order."""
        return [action for action, _ in self._pairs]

    def refresh(self) -> None:
        """Enable what can be used now."""
        for action, command in self._pairs:
            action.setEnabled(command.available is None or command.available())


def _without_argument(run: Callable[[], object]) -> Callable[[bool], None]:
    """`run` as a slot of `QAction.triggered`, which says whether the action is checked."""

    def slot(_checked: bool) -> None:
        run()

    return slot
