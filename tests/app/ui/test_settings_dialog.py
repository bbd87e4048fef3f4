"""The settings' page about undo: bounds in words, the space used, and what is saved."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QLabel, QSpinBox
from pytestqt.qtbot import QtBot

from app.engine.keeper import UndoSpace
from app.settings import Settings, UndoSettings, VaultSettings
from app.ui.settings_dialog import SettingsDialog
from tests.app.ui.conftest import OpenWindow


@pytest.fixture
def dialog(qtbot: QtBot) -> SettingsDialog:
    """The settings on the screen, at the page about undo."""
    made = SettingsDialog(Settings(), ())
    made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(made)
    made.show()
    titles = [made.pages.tabText(number) for number in range(made.pages.count())]
    made.pages.setCurrentIndex(titles.index("Undo"))
    return made


def texts(dialog: SettingsDialog) -> str:
    """All that can be read."""
    return "\n".join(one.text() for one in dialog.findChildren(QLabel) if one.isVisible())


def field(dialog: SettingsDialog, name: str) -> QSpinBox:
    """A number by its accessible name."""
    return next(one for one in dialog.findChildren(QSpinBox) if one.accessibleName() == name)


def test_the_bounds_are_said_as_they_are_typed(dialog: SettingsDialog) -> None:
    assert "kept for 30 days, in at most 11 GB" in texts(dialog)
    field(dialog, "Keep for").setValue(0)
    assert field(dialog, "Keep for").text() == "without bound"
    assert "kept in at most 11 GB" in texts(dialog)
    assert "The latest turn always stays" in texts(dialog)


def test_the_space_used_is_said(dialog: SettingsDialog) -> None:
    dialog.show_space(UndoSpace(size_bytes=1_240_000_000, runs=14))
    assert "It takes 1.2 GB now, for 14 turns." in texts(dialog)
    dialog.show_space(UndoSpace(size_bytes=0, runs=0))
    assert "It takes nothing now" in texts(dialog)


def test_what_is_typed_is_saved(dialog: SettingsDialog, qtbot: QtBot) -> None:
    field(dialog, "Keep for").setValue(0)
    field(dialog, "Keep at most").setValue(2048)
    save = next(b for b in dialog.findChildren(QAbstractButton) if b.text() == "Save settings")
    with qtbot.waitSignal(dialog.chosen) as chosen:
        save.click()
    assert chosen.args == [Settings(undo=UndoSettings(keep_days=0, keep_mib=2048))]


def test_the_window_asks_how_much_space_undo_takes(open_window: OpenWindow, qtbot: QtBot) -> None:
    stage = open_window()
    qtbot.waitUntil(lambda: stage.window._session.settings is not None)
    stage.window.dialogs.show_settings()
    settings = stage.window.dialogs.settings
    assert settings is not None
    settings.pages.setCurrentIndex(settings.pages.count() - 1)
    qtbot.waitUntil(lambda: "It takes 1.2 GB now, for 14 turns." in texts(settings))


def test_where_secrets_are_kept_is_saved(dialog: SettingsDialog, qtbot: QtBot) -> None:
    dialog.keep.setCurrentIndex(dialog.keep.findData("file"))
    save = next(b for b in dialog.findChildren(QAbstractButton) if b.text() == "Save settings")
    with qtbot.waitSignal(dialog.chosen) as chosen:
        save.click()
    assert chosen.args == [Settings(vault=VaultSettings(keep="file"))]
