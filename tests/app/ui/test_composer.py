"""The composer: what the keys do, how it grows, and Send against Stop."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtWidgets import QComboBox, QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

from app.ui.composer import Composer
from tests.app.ui.fake_engine import model


@pytest.fixture
def composer(qtbot: QtBot) -> Composer:
    """A composer on the screen."""
    made = Composer()
    qtbot.addWidget(made)
    made.resize(500, 200)
    made.show()
    return made


def field(composer: Composer) -> QPlainTextEdit:
    """Its text field."""
    found = composer.findChild(QPlainTextEdit)
    assert found is not None
    return found


def button(composer: Composer, name: str) -> QPushButton:
    """A button by its accessible name."""
    return next(b for b in composer.findChildren(QPushButton) if b.accessibleName() == name)


def test_enter_sends_and_empties(composer: Composer, qtbot: QtBot) -> None:
    qtbot.keyClicks(field(composer), "Sort it")
    with qtbot.waitSignal(composer.sent) as sent:
        qtbot.keyClick(field(composer), Qt.Key.Key_Return)
    assert sent.args == ["Sort it"]
    assert composer.text() == ""


def test_shift_enter_starts_a_new_line(composer: Composer, qtbot: QtBot) -> None:
    qtbot.keyClicks(field(composer), "one")
    with qtbot.assertNotEmitted(composer.sent):
        qtbot.keyClick(field(composer), Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClicks(field(composer), "two")
    assert composer.text().splitlines() == ["one", "two"]


def test_it_grows_to_eight_lines_and_no_further(composer: Composer) -> None:
    heights: list[int] = []
    for lines in (1, 2, 8, 20):
        composer.set_text("\n".join("x" * lines))
        heights.append(field(composer).height())
    assert heights[0] < heights[1] < heights[2] == heights[3]


@pytest.mark.parametrize("text", ["", "   ", "\n\n"])
def test_nothing_is_not_sent(composer: Composer, qtbot: QtBot, text: str) -> None:
    composer.set_text(text)
    with qtbot.assertNotEmitted(composer.sent):
        qtbot.keyClick(field(composer), Qt.Key.Key_Return)
    assert not button(composer, "Send").isEnabled()


def test_while_running_stop_is_there_and_nothing_is_sent(composer: Composer, qtbot: QtBot) -> None:
    composer.set_text("next")
    composer.set_running(True)
    assert button(composer, "Stop").isVisible()
    assert not button(composer, "Send").isVisible()
    with qtbot.assertNotEmitted(composer.sent):
        qtbot.keyClick(field(composer), Qt.Key.Key_Return)
    with qtbot.waitSignal(composer.stop_wanted):
        button(composer, "Stop").click()
    assert composer.text() == "next"


def test_only_models_that_are_here_can_be_chosen(composer: Composer) -> None:
    composer.set_models([model(), model("Large", model_id="local:large", present=False)])
    assert composer.model_id() == "local:qwen2.5-coder-1.5b"
    composer.set_models([model(present=False)])
    assert composer.model_id() == ""


def test_what_is_pasted_is_plain_text(composer: Composer) -> None:
    data = QMimeData()
    data.setHtml("<b>bold</b>")
    data.setText("bold")
    field(composer).insertFromMimeData(data)
    assert composer.text() == "bold"


def test_a_chats_model_that_is_not_here_is_named_as_such(composer: Composer) -> None:
    composer.set_models([model()])
    composer.set_model("local:gone")
    assert composer.model_id() == "local:gone"
    shown = composer.findChild(QComboBox)
    assert shown is not None
    assert shown.currentText() == "gone, not on this machine"
    composer.set_model("local:qwen2.5-coder-1.5b")
    assert shown.count() == 3
