"""The review: what has the focus, what the keys do, and what a decision carries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from PySide6.QtCore import QCoreApplication, QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QComboBox, QLabel, QTabWidget
from pytestqt.qtbot import QtBot

from app.store.records import ConflictRecord, Problem, TurnRecord
from app.ui.review_dialog import Decision, PreviewWish, ReviewDialog
from app.ui.widgets import CodeBox
from sandbox.changeset import Change, ChangeSet
from sandbox.ports import Reason
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
    assert [tabs.tabText(number) for number in range(tabs.count())] == ["Program", "Flow"]


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


def choose(box: QComboBox, text: str) -> None:
    """As a person does it."""
    box.setCurrentIndex(box.findText(text))
    box.activated.emit(box.currentIndex())


def said(opened: Opened) -> list[str]:
    """All that can be read."""
    return [one.text() for one in opened.dialog.findChildren(QLabel) if one.isVisible()]


def test_the_marks_of_a_change_are_words_in_its_row(review: Callable[..., Opened]) -> None:
    model = review(changes=samples.marked_changes()).dialog.model
    rows = {one: str(find(model, one).siblingAtColumn(1).data()) for one in ("o0", "l0", "s0")}
    assert rows == {
        "o0": "renamed, replaces a file \u2192 final.txt",
        "l0": "moved, leaves its folder \u2192 Invoices/",
        "s0": "new, program file",
    }


def test_a_conflict_must_be_decided_before_anything_can_be_approved(
    review: Callable[..., Opened], qtbot: QtBot
) -> None:
    opened = review()
    dialog = opened.dialog
    dialog.show_conflicts(samples.conflicts()[:1])
    assert dialog.conflicts.isVisible()
    assert dialog.focusWidget() is dialog.reject_button
    assert not dialog.approve_button.isEnabled()
    assert "It was changed by something else meanwhile." in said(opened)
    assert "Choose what happens to the change that differs on disk, then approve." in said(opened)
    assert "differs on disk" in str(find(dialog.model, "c0").siblingAtColumn(1).data())
    choose(dialog.conflicts.box_of("c0"), "Keep both names")
    qtbot.mouseClick(dialog.approve_button, Qt.MouseButton.LeftButton)
    (decision,) = opened.decisions
    assert decision.choices == {"c0": "both"}
    assert decision.approved is not None
    assert "c0" in decision.approved


def test_only_what_a_conflict_offers_can_be_chosen(review: Callable[..., Opened]) -> None:
    dialog = review().dialog
    dialog.show_conflicts(samples.conflicts())
    box = dialog.conflicts.box_of("d2")
    assert [box.itemText(number) for number in range(box.count())] == ["Keep theirs", "Take ours"]


def test_keeping_theirs_leaves_the_change_out_and_what_needs_it_comes_back_with_ours(
    review: Callable[..., Opened],
) -> None:
    opened = review()
    dialog = opened.dialog
    dialog.show_conflicts(samples.conflicts()[:2])
    everything = dialog.model.chosen()
    choose(dialog.conflicts.box_of("c0"), "Take ours")
    choose(dialog.conflicts.box_of("d2"), "Keep theirs")
    assert not {"d2", "n0", "m2"} & dialog.model.chosen()
    assert {"c0", "m0"} <= dialog.model.chosen()
    assert dialog.approve_button.isEnabled()
    choose(dialog.conflicts.box_of("d2"), "Take ours")
    assert dialog.model.chosen() == everything


def test_unchecking_a_conflict_is_keeping_theirs_and_checking_it_asks_again(
    review: Callable[..., Opened],
) -> None:
    dialog = review().dialog
    dialog.show_conflicts(samples.conflicts()[:1])
    dialog.model.choose(["c0"], False)
    assert dialog.conflicts.box_of("c0").currentText() == "Keep theirs"
    assert dialog.approve_button.isEnabled()
    dialog.model.choose(["c0"], True)
    assert dialog.conflicts.box_of("c0").currentIndex() == -1
    assert not dialog.approve_button.isEnabled()


def test_what_can_only_be_left_out_is_left_out_and_what_hangs_on_another_is_not_asked(
    review: Callable[..., Opened],
) -> None:
    dialog = review().dialog
    dialog.show_conflicts(samples.conflicts())
    assert set(dialog.conflicts.reasons()) == {"c0", "d2", "m0"}
    assert dialog.model.chosen() == {c.id for c in samples.changes().changes} - {"m0"}
    assert dialog.conflicts.box_of("m0").currentText() == "Leave it out"
    assert dialog.conflicts.undecided() == 2


def test_one_choice_can_stand_for_thousands(review: Callable[..., Opened]) -> None:
    changes = tuple(
        Change(id=f"c{number}", kind="modify", path=f"{samples.ROOT}/{number}.txt")
        for number in range(3000)
    )
    opened = review(changes=ChangeSet(changes=changes))
    dialog = opened.dialog
    dialog.show_conflicts(
        [
            ConflictRecord(
                change_id=c.id, path=c.path, reason="It is new.", choices=("theirs", "ours")
            )
            for c in changes
        ]
    )
    assert "2,950 more are marked in the table: choose for all of them above." in said(opened)
    choose(dialog.conflicts.boxes()[0], "Take ours")
    assert dialog.conflicts.undecided() == 0
    assert dialog.approve_button.text() == "Approve 3,000 changes"
    choose(dialog.conflicts.boxes()[0], "Keep theirs")
    assert dialog.model.chosen() == frozenset()


def test_a_review_whose_changes_no_longer_fit_keeps_its_choices_and_asks_for_the_rest(
    review: Callable[..., Opened], qtbot: QtBot
) -> None:
    opened = review()
    dialog = opened.dialog
    dialog.show_conflicts(samples.conflicts()[:1])
    choose(dialog.conflicts.box_of("c0"), "Take ours")
    dialog.model.choose(["m7"], False)
    qtbot.mouseClick(dialog.approve_button, Qt.MouseButton.LeftButton)
    assert dialog.isVisible()
    assert not dialog.approve_button.isEnabled()
    assert not dialog.reject_button.isEnabled()
    dialog.decide_again(samples.turn("waiting", conflicts=samples.conflicts()[1:2]))
    assert dialog.focusWidget() is dialog.reject_button
    qtbot.keyClick(dialog.reject_button, Qt.Key.Key_Return)
    assert len(opened.decisions) == 1, "a key of the first half second decides nothing"
    choose(dialog.conflicts.box_of("d2"), "Take ours")
    qtbot.mouseClick(dialog.approve_button, Qt.MouseButton.LeftButton)
    assert opened.decisions[-1].choices == {"c0": "ours", "d2": "ours"}
    assert opened.decisions[-1].approved == frozenset(
        {change.id for change in samples.changes().changes} - {"m7"}
    )


def test_scrolling_the_conflicts_chooses_nothing(review: Callable[..., Opened]) -> None:
    dialog = review().dialog
    dialog.show_conflicts(samples.conflicts()[:1])
    box = dialog.conflicts.box_of("c0")
    box.setFocus()
    at = QPointF(5, 5)
    wheel = QWheelEvent(
        at,
        box.mapToGlobal(at),
        QPoint(),
        QPoint(0, -120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QCoreApplication.sendEvent(box, wheel)
    assert box.currentIndex() == -1
    assert dialog.conflicts.undecided() == 1


def test_conflicts_come_before_the_changes_in_the_tab_order(
    review: Callable[..., Opened], qtbot: QtBot
) -> None:
    opened = review()
    opened.clock.now_s += 1
    opened.dialog.show_conflicts(samples.conflicts()[:2])
    opened.dialog.conflicts.box_of("d2").setFocus()
    qtbot.keyClick(opened.dialog.conflicts.box_of("d2"), Qt.Key.Key_Tab)
    assert opened.dialog.focusWidget() is opened.dialog.tree


def test_what_the_disk_refused_is_said_and_the_rest_can_be_applied(
    review: Callable[..., Opened], qtbot: QtBot
) -> None:
    opened = review()
    dialog = opened.dialog
    qtbot.mouseClick(dialog.approve_button, Qt.MouseButton.LeftButton)
    refused = Problem(
        message="Nothing was changed: Device or resource busy (/f/a).",
        hint="Close the programs that use it, then try again.",
        can_keep=True,
    )
    dialog.decide_again(replace(samples.turn("waiting"), problem=refused))
    assert dialog.fault.isVisible()
    assert "busy" in dialog.fault.text()
    assert dialog.focusWidget() is dialog.reject_button
    qtbot.mouseClick(dialog.fault.keep_button, Qt.MouseButton.LeftButton)
    assert [one.keep for one in opened.decisions] == [False, True]
    dialog.decide_again(replace(samples.turn("waiting"), problem=replace(refused, can_keep=False)))
    assert dialog.fault.keep_button.isHidden()


def test_what_the_gate_named_comes_first_and_its_lines_are_marked(
    review: Callable[..., Opened],
) -> None:
    reason = Reason(code="many-folders", data={"count": 9, "line": 3})
    dialog = review(reasons=(reason,)).dialog
    texts = [one.text() for one in dialog.findChildren(QLabel)]
    assert "Deletes 9 folders. (line 3)" in texts
    tabs = dialog.findChild(QTabWidget)
    assert tabs is not None
    assert tabs.tabText(tabs.currentIndex()) == "Flow"
    code = tabs.widget(0)
    assert isinstance(code, CodeBox)
    assert [one.cursor.blockNumber() for one in code.extraSelections()] == [2]  # pyright: ignore


def test_a_standing_grant_is_offered_where_nothing_is_unusual(
    review: Callable[..., Opened],
) -> None:
    opened = review()
    button = opened.dialog.standing_button
    assert button is not None
    assert "50 files are moved" in button.accessibleName()
    given: list[tuple[str, ...]] = []
    opened.dialog.grants_wanted.connect(given.append)
    button.click()
    assert given
    assert given[0][-1].startswith("move:50,folder=")
    assert opened.decisions[-1].approved
    unusual = review(reasons=(Reason(code="many-folders", data={"count": 9}),)).dialog
    assert unusual.standing_button is None
