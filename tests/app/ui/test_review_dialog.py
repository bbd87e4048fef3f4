"""The review: what has the focus, what the keys do, and what a decision carries."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QTabWidget
from pytestqt.qtbot import QtBot

from app.store.records import TurnRecord
from app.ui.review_dialog import Decision, PreviewWish, ReviewDialog
from tests.app.ui import samples
from tests.app.ui.fake_engine import PREVIEW
from tests.app.ui.test_change_model import find


class Clock:
    """A clock that stands until it is set."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


class Opened:
    """A review on the screen with what it said."""

    def __init__(self, qtbot: QtBot, turn: TurnRecord) -> None:
        self.clock = Clock()
        self.decisions: list[Decision] = []
        self.wishes: list[PreviewWish] = []
        self.dialog = ReviewDialog(turn, samples.FOLDERS, clock_s=self.clock)
        self.dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
        qtbot.addWidget(self.dialog)
        self.dialog.decided.connect(self.decisions.append)
        self.dialog.preview_wanted.connect(self.wishes.append)
        self.dialog.show()
        qtbot.waitExposed(self.dialog)
        self.dialog.activateWindow()


@pytest.fixture
def review(qtbot: QtBot) -> Callable[..., Opened]:
    """Opens the review of a turn that waits."""
    return lambda **values: Opened(qtbot, samples.turn("waiting", **values))


def test_reject_has_the_focus_and_approve_counts(review: Callable[..., Opened]) -> None:
    dialog = review().dialog
    assert dialog.focusWidget() is dialog.reject_button
    assert dialog.approve_button.text() == "Approve 46 changes"
    assert not dialog.isModal()


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Space, Qt.Key.Key_Escape])
def test_keys_of_the_first_half_second_are_dropped(
    review: Callable[..., Opened], qtbot: QtBot, key: Qt.Key
) -> None:
    opened = review()
    opened.clock.now_s += 0.49
    for widget in (opened.dialog.reject_button, opened.dialog.approve_button, opened.dialog.tree):
        qtbot.keyClick(widget, key)
    assert opened.dialog.isVisible()
    assert opened.decisions == []
    assert len(opened.dialog.model.chosen()) == 46


def test_enter_rejects_after_the_first_half_second(
    review: Callable[..., Opened], qtbot: QtBot
) -> None:
    opened = review()
    opened.clock.now_s += 0.51
    qtbot.keyClick(opened.dialog.reject_button, Qt.Key.Key_Return)
    assert opened.decisions == [Decision(turn_id="t1", approved=None)]
    assert not opened.dialog.isVisible()


def test_escape_and_closing_decide_nothing(review: Callable[..., Opened], qtbot: QtBot) -> None:
    opened = review()
    opened.clock.now_s += 1
    qtbot.keyClick(opened.dialog, Qt.Key.Key_Escape)
    assert not opened.dialog.isVisible()
    assert opened.decisions == []


def test_approving_carries_exactly_what_is_checked(
    review: Callable[..., Opened], qtbot: QtBot
) -> None:
    opened = review()
    opened.clock.now_s += 1
    tree, model = opened.dialog.tree, opened.dialog.model
    tree.setCurrentIndex(find(model, "m7"))
    qtbot.keyClick(tree, Qt.Key.Key_Space)
    assert opened.dialog.approve_button.text() == "Approve 45 changes"
    qtbot.mouseClick(opened.dialog.approve_button, Qt.MouseButton.LeftButton)
    everything = {change.id for change in samples.changes().changes}
    assert opened.decisions == [Decision(turn_id="t1", approved=frozenset(everything - {"m7"}))]


def test_what_goes_along_is_said(review: Callable[..., Opened], qtbot: QtBot) -> None:
    opened = review()
    opened.clock.now_s += 1
    opened.dialog.tree.setCurrentIndex(find(opened.dialog.model, "d0"))
    qtbot.keyClick(opened.dialog.tree, Qt.Key.Key_Space)
    texts = [one.text() for one in opened.dialog.findChildren(QLabel) if one.isVisible()]
    assert "14 changes that cannot be made without each other went along." in texts


def test_nothing_checked_cannot_be_approved(review: Callable[..., Opened]) -> None:
    opened = review()
    opened.dialog.model.choose_all(False)
    assert not opened.dialog.approve_button.isEnabled()


def test_the_sentence_and_what_is_unusual_come_first(review: Callable[..., Opened]) -> None:
    dialog = review(changes=samples.changes(2, deletes=3)).dialog
    texts = [one.text() for one in dialog.findChildren(QLabel)]
    assert any(text.startswith("Moves 2 items in Downloads") for text in texts)
    assert any(text.startswith("Deletes 3 files. Undo brings them back") for text in texts)


def test_the_selected_change_is_previewed(review: Callable[..., Opened]) -> None:
    opened = review()
    opened.dialog.tree.setCurrentIndex(find(opened.dialog.model, "n0"))
    wish = opened.wishes[-1]
    assert wish.change.id == "n0"
    assert opened.dialog.shows(wish.change)
    opened.dialog.preview.show_preview("notes", PREVIEW)
    assert "+oat milk" in opened.dialog.preview.text()


def test_the_programs_that_ran_are_tabs(review: Callable[..., Opened]) -> None:
    programs = (
        samples.program(program_id="a", index=1, status="error", fault=samples.FAULT),
        samples.program(program_id="b", index=2),
    )
    tabs = review(programs=programs).dialog.findChild(QTabWidget)
    assert tabs is not None
    assert [tabs.tabText(number) for number in range(tabs.count())] == ["Program"]


def test_ten_thousand_changes_are_all_offered(review: Callable[..., Opened]) -> None:
    opened = review(changes=samples.changes(10_000))
    assert opened.dialog.approve_button.text() == "Approve 10,005 changes"


def test_space_switches_the_row_from_any_column(
    review: Callable[..., Opened], qtbot: QtBot
) -> None:
    opened = review()
    opened.clock.now_s += 1
    row = find(opened.dialog.model, "m7")
    opened.dialog.tree.setCurrentIndex(row.siblingAtColumn(1))
    qtbot.keyClick(opened.dialog.tree, Qt.Key.Key_Space)
    assert "m7" not in opened.dialog.model.chosen()
    qtbot.keyClick(opened.dialog.tree, Qt.Key.Key_Space)
    assert "m7" in opened.dialog.model.chosen()
