"""The window's dialogs: each is opened, never executed, and closes by itself.

Owns which dialogs are open and their wiring to the session. Thread: UI.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFileDialog, QInputDialog, QMessageBox, QWidget
from shiboken6 import isValid

from app.store.records import ChatRecord, Problem, TurnRecord
from app.ui import words
from app.ui.command_palette import CommandPalette
from app.ui.heat_map import short_name
from app.ui.model_dialogs import ModelDialogs
from app.ui.review_dialog import Decision, PreviewWish, ReviewDialog
from app.ui.session import Session
from app.ui.settings_dialog import SettingsDialog
from app.ui.trials_dialog import TrialsDialog
from app.ui.vault_dialog import VaultDialog

if TYPE_CHECKING:
    from app.engine.previews import Preview
    from app.lab.standings import Standing
    from app.ui.models_dialog import ModelsDialog


class Dialogs(QObject):
    """Opens dialogs over `window`."""

    def __init__(self, session: Session, window: QWidget) -> None:
        super().__init__(window)
        self._session = session
        self._window = window
        self.review: ReviewDialog | None = None
        self.palette: CommandPalette | None = None
        self.settings: SettingsDialog | None = None
        self.vault: VaultDialog | None = None
        self.shelf = ModelDialogs(session, window)

    def show_palette(self, actions: Sequence[QAction]) -> None:
        """Open the command palette."""
        if self.palette is not None:
            self.palette.close()
        palette = CommandPalette(actions, self._window)
        palette.finished.connect(self._forgetting("palette", palette))
        self.palette = palette
        palette.show()

    @property
    def models(self) -> ModelsDialog | None:
        """The list of models, while it is open."""
        return self.shelf.models

    def show_models(self) -> None:
        """Open the list of models."""
        self.shelf.show()

    def show_trials(self, standing: Standing, capability: str) -> None:
        """Open the trials behind a cell of the heat map."""
        name = short_name(standing.model_id)
        title = self.tr("Trials of {0} on {1}").format(name, capability)
        dialog = TrialsDialog(title, self._window)
        dialog.show()
        self._session.lab.trials(standing, capability, dialog.show_trials)

    def show_settings(self) -> None:
        """Open the settings, once they are known."""
        if self._session.settings is None or self.settings is not None:
            return
        dialog = SettingsDialog(self._session.settings, self._session.models, self._window)
        dialog.chosen.connect(self._session.change_settings)

        def revoke(grant_id: str) -> None:
            self._session.revoke_grant(grant_id, dialog.grants.show_grants, dialog)

        dialog.grants.revoked.connect(revoke)
        self._session.grants(dialog.grants.show_grants, dialog)
        dialog.finished.connect(self._forgetting("settings", dialog))
        self.settings = dialog
        dialog.show()
        self._session.undo_space(dialog.show_space, dialog)

    def show_vault(self) -> None:
        """Open the secrets."""
        if self.vault is not None:
            self.vault.raise_()
            return
        dialog = VaultDialog(self._session.secrets, self._window)
        dialog.finished.connect(self._forgetting("vault", dialog))
        self.vault = dialog
        dialog.show()

    def show_review(self, turn: TurnRecord) -> None:
        """Open the review of a turn that waits."""
        if self.review is not None:
            if self.review.turn_id == turn.turn_id:
                self.review.raise_()
                return
            self.review.close()
        dialog = ReviewDialog(turn, self._session.folders, self._window)
        dialog.finished.connect(self._forgetting("review", dialog))

        def decide(decision: Decision) -> None:
            self._decide(dialog, decision)

        dialog.decided.connect(decide)
        dialog.grants_wanted.connect(self._session.add_grants)

        def show_preview(wish: PreviewWish) -> None:
            self._show_preview(dialog, wish)

        dialog.preview_wanted.connect(show_preview)
        self.review = dialog
        dialog.show()
        dialog.ask_preview()
        self._session.conflicts(turn.turn_id, dialog.show_conflicts, dialog)

    def close_review(self, turn_id: str = "") -> None:
        """Close the open review, or only that of `turn_id`; decides nothing."""
        if self.review is not None and turn_id in ("", self.review.turn_id):
            self.review.close()

    def pick_folder(self) -> None:
        """Let the person choose a folder for this chat."""
        dialog = QFileDialog(self._window, self.tr("Add a folder to this chat"), str(Path.home()))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self._session.add_folder)
        dialog.open()

    def rename(self, chat: ChatRecord) -> None:
        """Ask for a new title."""
        dialog = QInputDialog(self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setWindowTitle(self.tr("Rename the chat"))
        dialog.setLabelText(self.tr("Title"))
        dialog.setTextValue(chat.title)
        dialog.setOkButtonText(self.tr("Rename"))

        def chosen(title: str) -> None:
            self._session.rename(chat.chat_id, title)

        dialog.textValueSelected.connect(chosen)
        dialog.open()

    def delete(self, chat: ChatRecord) -> None:
        """Ask before a chat is deleted; keeping it has the focus."""
        dialog = QMessageBox(self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setTextFormat(Qt.TextFormat.PlainText)
        title = words.visible(chat.title) or self.tr("New chat")
        dialog.setText(self.tr("Delete the chat \u201c{0}\u201d?").format(title))
        dialog.setInformativeText(
            self.tr("Its requests, answers and the means to undo are removed. Your folders stay.")
        )
        remove = dialog.addButton(self.tr("Delete chat"), QMessageBox.ButtonRole.DestructiveRole)
        keep = dialog.addButton(self.tr("Keep chat"), QMessageBox.ButtonRole.RejectRole)
        dialog.setDefaultButton(keep)
        dialog.setEscapeButton(keep)
        remove.clicked.connect(lambda: self._session.delete(chat.chat_id))
        dialog.open()

    def _decide(self, dialog: ReviewDialog, decision: Decision) -> None:
        """Carry a decision; a review whose changes no longer fit the disk stays open."""

        def settled(turn: TurnRecord) -> None:
            if not isValid(dialog):
                return
            if turn.status == "waiting" and (turn.conflicts or turn.problem is not None):
                dialog.decide_again(turn)
            else:
                dialog.close()

        def failed(_problem: Problem) -> None:
            if isValid(dialog):
                dialog.close()

        self._session.decide(decision, settled, failed)

    def _show_preview(self, dialog: ReviewDialog, wish: PreviewWish) -> None:
        title = dialog.title_of(wish.change)

        def found(preview: Preview) -> None:
            if dialog.shows(wish.change):
                dialog.preview.show_preview(title, preview)

        def failed(problem: Problem) -> None:
            if dialog.shows(wish.change):
                dialog.preview.show_message(title, f"{problem.message} {problem.hint}".strip())

        self._session.preview(wish, found, failed, dialog)

    def _forgetting(
        self, name: Literal["review", "palette", "settings", "vault"], dialog: QObject
    ) -> Callable[[int], None]:
        """What is done when `dialog` has closed."""

        def forget(_result: int) -> None:
            if getattr(self, name) is dialog:
                setattr(self, name, None)

        return forget
