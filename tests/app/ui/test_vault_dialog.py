"""The vault's dialog over a real engine: added, shown for ten seconds, copied, removed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QLineEdit, QMessageBox, QPushButton
from pytestqt.qtbot import QtBot

from app.engine.engine import Engine
from app.engine.mailbox import Mailbox
from app.paths import Paths
from app.ui.vault_dialog import VaultDialog
from app.vault.keepers import Item, Standing
from tests.app.ui.conftest import OpenWindow
from tests.app.vault.canaries import TOKEN, DictKeyring
from tests.fakes import ScriptedModels

LONG_MS = 60_000


class Locked(DictKeyring):
    """A keyring that is locked until somebody is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.locked = True

    def standing(self) -> Standing:
        if not self.locked:
            return super().standing()
        return Standing(
            label="the keyring", trouble="locked", message="The keyring is locked.", hint="Unlock."
        )

    def unlock(self) -> None:
        self.locked = False


class Absent(DictKeyring):
    """No keyring at all."""

    def standing(self) -> Standing:
        return Standing(label="none", trouble="missing", message="There is no keyring.", hint="x")


def dialog_over(
    keyring: DictKeyring, open_window: OpenWindow, qtbot: QtBot, home: Path
) -> VaultDialog:
    """The dialog over an engine with this keyring, once it knows what there is."""

    def make(mailbox: Mailbox) -> Any:
        return Engine(Paths(home=home), mailbox, models=ScriptedModels(), keyring=keyring)

    stage = open_window(make)
    stage.window.dialogs.show_vault()
    dialog = stage.window.dialogs.vault
    assert dialog is not None
    qtbot.waitUntil(lambda: dialog.form.keep.count() > 0, timeout=LONG_MS)
    return dialog


def texts(dialog: VaultDialog) -> str:
    return "\n".join(one.text() for one in dialog.findChildren(QLabel) if one.isVisibleTo(dialog))


def fill(dialog: VaultDialog, **fields: str) -> None:
    dialog.open_form()
    for name, text in fields.items():
        getattr(dialog.form, name).setText(text)


def add(dialog: VaultDialog, qtbot: QtBot, keep: str = "keyring") -> None:
    fill(dialog, name="github", hosts="api.github.com, 127.0.0.1", value=TOKEN)
    dialog.form.keep.setCurrentIndex(dialog.form.keep.findData(keep))
    dialog.form.save.click()
    qtbot.waitUntil(lambda: "github" in dialog.cards, timeout=LONG_MS)


@pytest.fixture
def keyring() -> DictKeyring:
    return DictKeyring()


@pytest.fixture
def dialog(
    keyring: DictKeyring, open_window: OpenWindow, qtbot: QtBot, drydock_home: Path
) -> VaultDialog:
    return dialog_over(keyring, open_window, qtbot, drydock_home)


def test_a_secret_is_added_and_its_value_is_nowhere_in_the_window(
    dialog: VaultDialog, keyring: DictKeyring, qtbot: QtBot
) -> None:
    assert "There are no secrets yet" in texts(dialog)
    add(dialog, qtbot)

    assert list(keyring.values.values()) == [TOKEN]
    qtbot.waitUntil(lambda: "Goes to api.github.com, 127.0.0.1." in texts(dialog), timeout=LONG_MS)
    assert "Not used yet." in texts(dialog)
    assert TOKEN not in texts(dialog)
    assert not [one for one in dialog.findChildren(QLineEdit) if one.text() == TOKEN]
    assert not dialog.form.isVisible()


def test_hosts_and_methods_are_changed_and_the_value_stays(
    dialog: VaultDialog, keyring: DictKeyring, qtbot: QtBot
) -> None:
    add(dialog, qtbot)
    card = dialog.cards["github"]
    assert card.scope.isHidden()
    card.change.click()
    assert card.scope.hosts.text() == "api.github.com, 127.0.0.1"
    card.scope.hosts.setText("*.github.com")
    card.scope.save.click()
    assert card.scope._problem.text()
    card.scope.hosts.setText("uploads.github.com:8443")
    card.scope.methods.setCurrentIndex(1)
    card.scope.save.click()
    wanted = "Goes to uploads.github.com:8443 with GET, HEAD."
    qtbot.waitUntil(lambda: wanted in texts(dialog), timeout=LONG_MS)
    assert list(keyring.values.values()) == [TOKEN]


def test_a_value_is_shown_on_purpose_and_for_ten_seconds(dialog: VaultDialog, qtbot: QtBot) -> None:
    add(dialog, qtbot)
    card = dialog.cards["github"]
    card.reveal.click()
    qtbot.waitUntil(lambda: card.shown_value == TOKEN, timeout=LONG_MS)
    assert "Hidden again in 10 s." in texts(dialog)
    assert card.reveal.text() == "Hide"

    card._timer.stop()
    for _ in range(9):
        card._tick()
    assert card.shown_value == TOKEN
    card._tick()
    assert card.shown_value == ""
    assert TOKEN not in texts(dialog)
    assert card.reveal.text() == "Show"


def test_hiding_by_hand_or_by_closing_ends_it_at_once(dialog: VaultDialog, qtbot: QtBot) -> None:
    add(dialog, qtbot)
    card = dialog.cards["github"]
    for end in (card.reveal.click, card.hide):
        card.show()
        card.show_value(TOKEN)
        assert card.shown_value == TOKEN
        end()
        assert card.shown_value == ""


def test_the_clipboard_is_cleared_unless_something_else_was_copied(
    dialog: VaultDialog, qtbot: QtBot
) -> None:
    add(dialog, qtbot)
    clipboard = QGuiApplication.clipboard()
    dialog.cards["github"].copy.click()
    qtbot.waitUntil(lambda: clipboard.text() == TOKEN, timeout=LONG_MS)
    assert clipboard.mimeData().data("x-kde-passwordManagerHint") == b"secret"
    assert "The clipboard is cleared in 30 s." in texts(dialog)
    dialog.clipboard.clear()
    assert clipboard.text() == ""

    dialog.clipboard.put(TOKEN)
    clipboard.setText("something else")
    dialog.clipboard.clear()
    assert clipboard.text() == "something else"


def test_a_value_is_replaced(dialog: VaultDialog, keyring: DictKeyring, qtbot: QtBot) -> None:
    add(dialog, qtbot)
    card = dialog.cards["github"]
    assert not card.new_value.isVisible()
    card.rotate.click()
    assert card.new_value.echoMode() is QLineEdit.EchoMode.Password
    qtbot.keyClicks(card.new_value, "another-value")
    qtbot.keyClick(card.new_value, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: list(keyring.values.values()) == ["another-value"], timeout=LONG_MS)
    assert card.new_value.text() == ""


def test_removing_asks_first_and_keeping_has_the_focus(
    dialog: VaultDialog, keyring: DictKeyring, qtbot: QtBot
) -> None:
    add(dialog, qtbot)
    dialog.cards["github"].remove.click()
    (question,) = dialog.findChildren(QMessageBox)
    assert question.defaultButton().text() == "Keep secret"
    question.defaultButton().click()
    assert "github" in dialog.cards

    dialog.cards["github"].remove.click()
    question = dialog.findChildren(QMessageBox)[-1]
    next(one for one in question.buttons() if one.text() == "Remove secret").click()
    qtbot.waitUntil(lambda: not dialog.cards, timeout=LONG_MS)
    assert keyring.values == {}


def test_what_cannot_be_added_is_said_and_what_was_typed_stays(
    dialog: VaultDialog, qtbot: QtBot
) -> None:
    fill(dialog, name="git hub", hosts="api.github.com", value=TOKEN)
    dialog.form.save.click()
    qtbot.waitUntil(lambda: "is no name for a secret" in texts(dialog), timeout=LONG_MS)
    assert dialog.form.value.text() == TOKEN
    dialog.form.hosts.setText("*.github.com")
    qtbot.waitUntil(dialog.form.save.isEnabled, timeout=LONG_MS)
    dialog.form.save.click()
    assert "is no host" in texts(dialog)


def test_only_what_a_kind_needs_is_asked(dialog: VaultDialog) -> None:
    form = dialog.form
    dialog.open_form()
    assert not form.user.isVisible()
    form.kind.setCurrentIndex(form.kind.findData("password"))
    assert form.user.isVisible()
    form.kind.setCurrentIndex(form.kind.findData("header"))
    assert form.header.isVisible()
    assert not form.user.isVisible()
    form.kind.setCurrentIndex(form.kind.findData("model-key"))
    assert not form.methods.isVisible()


def test_a_locked_keyring_is_said_and_unlocked_by_a_button(
    open_window: OpenWindow, qtbot: QtBot, drydock_home: Path
) -> None:
    keyring = Locked()
    dialog = dialog_over(keyring, open_window, qtbot, drydock_home)
    assert "The keyring is locked." in texts(dialog)
    unlock = next(b for b in dialog.findChildren(QPushButton) if b.text() == "Unlock keyring")
    assert dialog.form.keep.findData("keyring") < 0
    unlock.click()
    qtbot.waitUntil(lambda: dialog.form.keep.findData("keyring") >= 0, timeout=LONG_MS)
    assert "The keyring is locked." not in texts(dialog)


def test_without_a_keyring_there_are_the_file_and_this_run_only(
    open_window: OpenWindow, qtbot: QtBot, drydock_home: Path
) -> None:
    dialog = dialog_over(Absent(), open_window, qtbot, drydock_home)
    form = dialog.form
    assert "an encrypted file with a passphrase of yours, or for this run only" in texts(dialog)
    assert [form.keep.itemData(n) for n in range(form.keep.count())] == ["file", "memory"]
    dialog.open_form()
    assert form.passphrase.isVisible()
    assert form.again.isVisible()
    fill(dialog, name="github", hosts="h", value=TOKEN, passphrase="one", again="other")
    form.save.click()
    assert "not the same" in texts(dialog)
    form.again.setText("one")
    form.save.click()
    qtbot.waitUntil(lambda: "github" in dialog.cards, timeout=LONG_MS)
    qtbot.waitUntil(lambda: "Kept in the encrypted file." in texts(dialog), timeout=LONG_MS)
    assert (drydock_home / "vault.sealed").exists()

    fill(dialog, name="other", hosts="h", value=TOKEN[::-1])
    form.keep.setCurrentIndex(form.keep.findData("memory"))
    assert not form.passphrase.isVisible()
    form.save.click()
    qtbot.waitUntil(lambda: "other" in dialog.cards, timeout=LONG_MS)
    qtbot.waitUntil(lambda: "Kept for this run only." in texts(dialog), timeout=LONG_MS)


def test_a_test_says_what_the_host_answered(
    dialog: VaultDialog, keyring: DictKeyring, qtbot: QtBot
) -> None:
    fill(dialog, name="local", hosts="127.0.0.1:1", value=TOKEN)
    dialog.form.save.click()
    qtbot.waitUntil(lambda: "local" in dialog.cards, timeout=LONG_MS)
    dialog.cards["local"].test.click()
    qtbot.waitUntil(lambda: "could not be asked" in texts(dialog), timeout=LONG_MS)
    assert keyring.get(Item(item_id="none", name="none")) is None
