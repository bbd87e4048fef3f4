"""The settings' page about undo: bounds in words, the space used, and what is saved."""

from __future__ import annotations

from decimal import Decimal

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QLabel, QSpinBox
from pytestqt.qtbot import QtBot

from app.engine.keeper import UndoSpace
from app.settings import NetworkSettings, Settings, UndoSettings, VaultSettings
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


def save(dialog: SettingsDialog) -> None:
    buttons = dialog.findChildren(QAbstractButton)
    next(one for one in buttons if one.text() == "Save settings").click()


def test_offline_proxy_and_mirrors_are_saved(dialog: SettingsDialog, qtbot: QtBot) -> None:
    dialog.network.offline.setChecked(True)
    dialog.network.proxy.setText("http://proxy.example:3128")
    dialog.network.mirrors.setText("https://one.example, https://two.example")
    with qtbot.waitSignal(dialog.chosen) as told:
        save(dialog)
    network = told.args[0].network
    assert network == NetworkSettings(
        offline=True,
        proxy="http://proxy.example:3128",
        mirrors=("https://one.example", "https://two.example"),
    )


def test_a_proxy_with_a_password_is_not_kept_in_the_settings(dialog: SettingsDialog) -> None:
    saved: list[object] = []
    dialog.chosen.connect(saved.append)
    dialog.network.proxy.setText("http://me:secret@proxy.example:3128")
    save(dialog)
    assert saved == []
    assert "without a name and password" in texts(dialog)
    assert dialog.isVisible()


def test_own_prices_and_thinking_are_saved(dialog: SettingsDialog, qtbot: QtBot) -> None:
    page = dialog.prices
    dialog.pages.setCurrentWidget(page)
    assert "None: the price list counts" in texts(dialog)
    page.thinking.setCurrentIndex(page.thinking.findData("high"))
    for model, price in (("openai:gpt-5", "1.25"), ("openai:gpt-5", "1.50")):
        page.model.setText(model)
        page.input.setText(price)
        page.output.setText("10")
        page.currency.setText("eur")
        page.date.setText("2026-11-30")
        assert page.add()
    listed = [one.text() for one in page.findChildren(QLabel) if not one.isHidden()]
    assert "openai:gpt-5: input 1.50, output 10 EUR, as of 2026-11-30" in listed
    with qtbot.waitSignal(dialog.chosen) as told:
        save(dialog)
    remote = told.args[0].remote
    assert remote.thinking == "high"
    (kept,) = remote.prices
    assert (kept.model, kept.input, kept.cached, kept.currency, kept.date) == (
        "openai:gpt-5", Decimal("1.50"), None, "EUR", "2026-11-30"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("model", "price", "currency", "words"),
    [
        ("openai:x", "cheap", "USD", "is a number"),
        ("openai:x", "-1", "USD", "no price is below 0"),
        ("openai:x", "1", "Euro", "three letters"),
        ("x", "1", "USD", "PROVIDER:NAME"),
    ],
)
def test_a_price_that_is_none_is_not_saved(
    dialog: SettingsDialog, model: str, price: str, currency: str, words: str
) -> None:
    saved: list[object] = []
    dialog.chosen.connect(saved.append)
    page = dialog.prices
    page.model.setText(model)
    page.input.setText(price)
    page.output.setText("1")
    page.currency.setText(currency)
    save(dialog)
    assert saved == []
    assert dialog.pages.currentWidget() is page
    assert words in texts(dialog)
