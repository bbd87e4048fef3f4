"""The vault: the secrets there are, where they may go, and how the place that keeps them stands.

Owns the dialog and its calls to the engine through `SecretSession`. A value is in the window only
while it is typed or shown. Thread: UI.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialog,
    QInputDialog,
    QLineEdit,
    QMessageBox,
    QWidget,
)

from app.store.records import Problem
from app.ui import secret_words
from app.ui.secret_card import SecretCard
from app.ui.secret_clipboard import CLEARED_AFTER_S, SecretClipboard
from app.ui.secret_form import SecretForm
from app.ui.secret_session import NewSecret, Secrets, SecretSession
from app.ui.theme import SPACE_L, SPACE_M, SPACE_S
from app.ui.widgets import button, clear, column, frame, label, row, scrolling

if TYPE_CHECKING:
    from app.vault.keepers import Standing
    from sandbox.secrets import Binding


class VaultDialog(QDialog):
    """The secrets of this home."""

    def __init__(self, session: SecretSession, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.setWindowTitle(self.tr("Secrets"))
        self.setModal(False)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.cards: dict[str, SecretCard] = {}
        self.clipboard = SecretClipboard(self)
        layout = column(self, margin=SPACE_L, spacing=SPACE_M)
        layout.addWidget(label(self.tr("Secrets"), "heading"))
        text = self.tr(
            "Programs and models use a secret by its name and never see its value. It is sent only "
            "to the hosts named here, over an encrypted connection."
        )
        layout.addWidget(label(text, "muted", wrap=True))
        self._standing = frame("alert")
        self._standing_rows = column(self._standing, margin=SPACE_M, spacing=SPACE_S)
        self._standing.hide()
        layout.addWidget(self._standing)
        page = QWidget()
        page.setProperty("role", "ground")
        self._rows = column(page, spacing=SPACE_S)
        self._rows.addWidget(label(self.tr("Looking for secrets."), "muted"))
        self._area = area = scrolling(page)
        layout.addWidget(area, 1)
        self.form = SecretForm()
        self.form.chosen.connect(self._add)
        self.form.cancelled.connect(self._close_form)
        self.form.hide()
        layout.addWidget(self.form)
        buttons = row()
        self.new = button(self.tr("New secret"), icon="ph.plus", on_click=self.open_form)
        buttons.addWidget(self.new)
        buttons.addStretch(1)
        buttons.addWidget(button(self.tr("Close"), on_click=self.close))
        layout.addLayout(buttons)
        self.resize(720, 560)
        self.refresh()

    def refresh(self) -> None:
        """Ask what there is."""
        self._session.look(self.show_secrets, self._tell_problem, self)

    def show_secrets(self, secrets: Secrets) -> None:
        """Show the secrets and how their places stand."""
        clear(self._rows)
        self.cards.clear()
        for view in secrets.views:
            card = SecretCard(view)
            card.show_wanted.connect(self._reveal)
            card.copy_wanted.connect(self._copy)
            card.test_wanted.connect(self._test)
            card.remove_wanted.connect(self._ask_remove)
            card.rotated.connect(self._rotate)
            card.rebound.connect(self._rebind)
            self.cards[card.name] = card
            self._rows.addWidget(card)
        if not secrets.views:
            text = self.tr("There are no secrets yet. Add a token, and programs can use it.")
            self._rows.addWidget(label(text, "muted", wrap=True))
        self._rows.addStretch(1)
        self.form.offer(secrets.standings)
        self._show_standing(secrets)

    def _show_standing(self, secrets: Secrets) -> None:
        """What is wrong with a place that is needed, and what can be done."""
        clear(self._standing_rows)
        keyring, file = secrets.standings["keyring"], secrets.standings["file"]
        uses_file = any(view.record.keep == "file" for view in secrets.views)
        if keyring.trouble is not None:
            self._say_standing(keyring, self.tr("Unlock keyring"), self._unlock_keyring)
        if file.trouble == "locked" and uses_file:
            self._say_standing(file, self.tr("Unlock encrypted file"), self._ask_passphrase)
        self._standing.setVisible(self._standing_rows.count() > 0)

    def _say_standing(self, standing: Standing, text: str, unlock: Any) -> None:
        self._standing_rows.addWidget(label(standing.message, "strong", wrap=True))
        hint = secret_words.what_to_do(standing)
        self._standing_rows.addWidget(label(hint, wrap=True))
        if standing.trouble == "locked":
            made = button(text, on_click=unlock)
            self._standing_rows.addWidget(made, 0, Qt.AlignmentFlag.AlignLeft)

    # what the person does

    def open_form(self) -> None:
        """Show the form for a new secret."""
        self.form.show()
        self.new.hide()
        self.form.name.setFocus()

    def _close_form(self) -> None:
        self.form.hide()
        self.new.show()

    def _add(self, wanted: NewSecret) -> None:
        def done(_: object) -> None:
            self.form.forget()
            self._close_form()
            self.refresh()

        def failed(problem: Problem) -> None:
            self.form.refuse(f"{problem.message} {problem.hint}".strip())
            self.refresh()

        self._session.add(wanted, done, failed, self)

    def _reveal(self, name: str) -> None:
        def found(value: str) -> None:
            if (card := self.cards.get(name)) is not None:
                card.show_value(value)

        self._session.reveal(name, found, self._failing(name), self)

    def _copy(self, name: str) -> None:
        def found(value: str) -> None:
            self.clipboard.put(value)
            if (card := self.cards.get(name)) is not None:
                text = self.tr("Copied. The clipboard is cleared in {0} s.")
                card.tell(text.format(CLEARED_AFTER_S))

        self._session.reveal(name, found, self._failing(name), self)

    def _test(self, name: str) -> None:
        card = self.cards[name]
        card.test.setEnabled(False)
        card.tell(self.tr("Asking its host."))

        def done(trial: Any) -> None:
            if (card := self.cards.get(name)) is not None:
                card.show_trial(trial)

        self._session.trial(name, done, self._failing(name), self)

    def _rotate(self, name: str, value: str) -> None:
        def done(_: object) -> None:
            if (card := self.cards.get(name)) is not None:
                card.tell(self.tr("The new value is kept."))

        self._session.rotate(name, value, done, self._failing(name), self)

    def _rebind(self, binding: Binding) -> None:
        def failed(problem: Problem) -> None:
            if (card := self.cards.get(binding.name)) is not None:
                card.scope.refuse(f"{problem.message} {problem.hint}".strip())

        self._session.rebind(binding, lambda _: self.refresh(), failed, self)

    def _ask_remove(self, name: str) -> None:
        """Ask before a secret is forgotten; keeping it has the focus."""
        dialog = QMessageBox(self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setTextFormat(Qt.TextFormat.PlainText)
        dialog.setText(self.tr("Remove the secret \u201c{0}\u201d?").format(name))
        dialog.setInformativeText(
            self.tr("Its value is deleted here. Where it was issued, it stays valid.")
        )
        remove = dialog.addButton(self.tr("Remove secret"), QMessageBox.ButtonRole.DestructiveRole)
        keep = dialog.addButton(self.tr("Keep secret"), QMessageBox.ButtonRole.RejectRole)
        dialog.setDefaultButton(keep)
        dialog.setEscapeButton(keep)
        remove.clicked.connect(lambda: self._remove(name))
        dialog.open()

    def _remove(self, name: str) -> None:
        self._session.remove(name, lambda _: self.refresh(), self._failing(name), self)

    def _unlock_keyring(self) -> None:
        self._session.unlock_keyring(lambda _: self.refresh(), self._tell_problem, self)

    def _ask_passphrase(self) -> None:
        dialog = QInputDialog(self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setWindowTitle(self.tr("Unlock the encrypted file"))
        dialog.setLabelText(self.tr("Passphrase"))
        dialog.setTextEchoMode(QLineEdit.EchoMode.Password)
        dialog.setOkButtonText(self.tr("Unlock"))

        def chosen(passphrase: str) -> None:
            self._session.unlock_file(
                passphrase, lambda _: self.refresh(), self._tell_problem, self
            )

        dialog.textValueSelected.connect(chosen)
        dialog.open()

    def _failing(self, name: str) -> Any:
        """What is said at a secret when something with it went wrong."""

        def failed(problem: Problem) -> None:
            card = self.cards.get(name)
            if card is None:
                self._tell_problem(problem)
                return
            card.test.setEnabled(True)
            card.tell(f"{problem.message} {problem.hint}".strip(), caution=True)

        return failed

    def _tell_problem(self, problem: Problem) -> None:
        clear(self._standing_rows)
        self._standing_rows.addWidget(label(problem.message, "strong", wrap=True))
        if problem.hint:
            self._standing_rows.addWidget(label(problem.hint, wrap=True))
        self._standing.show()

    def closeEvent(self, event: Any) -> None:
        """Leave no value behind."""
        for card in self.cards.values():
            card.hide_value()
        self.form.forget()
        super().closeEvent(event)
