"""What a program asks and shows, in the window: read, answered, refused, never by accident."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QLineEdit, QPlainTextEdit, QPushButton, QTableWidget, QWidget
from pytestqt.qtbot import QtBot

from app.store.records import Problem
from app.ui.question_block import Answered, QuestionBlock
from app.ui.shown_block import BarChart, ShownBlock
from app.ui.turn_view import TurnView
from sandbox.effects import Effect
from sandbox.question import Composition, PersonsAnswer, Question
from sandbox.shown import Shown
from tests.app.ui import samples

SEND = Effect(kind="request", path="https://example.org/notes", size_bytes=5)


def question(**values: Any) -> Question:
    whole: dict[str, Any] = {
        "kind": "effects",
        "program_id": "p1",
        "ordinal": 3,
        "digest": "00" * 8,
        "call": "http_request",
        "line": 4,
        "effects": (SEND,),
        "composition": Composition(counts={"read": 41}),
        "exact": "POST https://example.org/notes\n\n<b>hello</b>",
    }
    return Question(**(whole | values))


def block(qtbot: QtBot, asked: Question) -> QuestionBlock:
    made = QuestionBlock(samples.turn("asking"), asked, samples.FOLDERS)
    qtbot.addWidget(made)
    made.show()
    return made


def button(widget: QWidget, text: str) -> QPushButton:
    return next(one for one in widget.findChildren(QPushButton) if one.text() == text)


def texts(widget: QWidget) -> str:
    labels = [one.text() for one in widget.findChildren(QLabel)]
    return "\n".join([*labels, *(o.toPlainText() for o in widget.findChildren(QPlainTextEdit))])


def answer_of(qtbot: QtBot, made: QuestionBlock, text: str) -> PersonsAnswer:
    with qtbot.waitSignal(made.answered) as answered:
        qtbot.mouseClick(button(made, text), Qt.MouseButton.LeftButton)
    (found,) = answered.args or []
    assert isinstance(found, Answered)
    assert found.turn_id == "t1"
    return found.answer


def test_what_would_be_sent_is_shown_as_it_is_with_what_was_done_before(qtbot: QtBot) -> None:
    said = texts(block(qtbot, question()))
    assert "waits at http_request() in line 4" in said
    assert "request https://example.org/notes" in said
    assert "<b>hello</b>" in said, "nothing is read as markup"
    assert "41 read" in said


def test_it_is_approved_once(qtbot: QtBot) -> None:
    made = block(qtbot, question())
    assert answer_of(qtbot, made, "Approve") == PersonsAnswer(approved=True)
    assert not made.isEnabled()


def test_a_refusal_takes_a_word_for_the_model(qtbot: QtBot) -> None:
    made = block(qtbot, question())
    made.findChildren(QLineEdit)[0].setText(" use the other server ")
    answer = answer_of(qtbot, made, "Refuse")
    assert answer == PersonsAnswer(approved=False, text="use the other server")


def test_the_safe_answer_has_the_focus(qtbot: QtBot) -> None:
    made = block(qtbot, question())
    assert made.focusProxy() is button(made, "Refuse")


def test_an_unknown_outcome_is_said_to_be_one(qtbot: QtBot) -> None:
    made = block(qtbot, question(kind="unknown"))
    assert "not known whether it was done" in texts(made)
    assert answer_of(qtbot, made, "Do it again").approved


def test_a_choice_is_an_answer(qtbot: QtBot) -> None:
    made = block(qtbot, question(kind="person", exact="Which?", choices=("red", "blue")))
    assert texts(made).startswith("Which?")
    assert answer_of(qtbot, made, "blue") == PersonsAnswer(approved=True, text="blue")


def test_a_text_is_an_answer_and_an_empty_one_is_none(qtbot: QtBot) -> None:
    made = block(qtbot, question(kind="person", exact="Which name?"))
    (field,) = made.findChildren(QLineEdit)
    with qtbot.assertNotEmitted(made.answered):
        qtbot.keyClick(field, Qt.Key.Key_Return)
    field.setText("sky")
    with qtbot.waitSignal(made.answered) as answered:
        qtbot.keyClick(field, Qt.Key.Key_Return)
    assert (answered.args or [])[0].answer == PersonsAnswer(approved=True, text="sky")


def test_a_turn_that_asks_shows_its_question(qtbot: QtBot) -> None:
    view = TurnView(samples.turn("asking", question=question()), samples.FOLDERS)
    qtbot.addWidget(view)
    (made,) = view.findChildren(QuestionBlock)
    with qtbot.waitSignal(view.answered):
        qtbot.mouseClick(button(made, "Refuse"), Qt.MouseButton.LeftButton)


def test_a_turn_that_cannot_go_on_offers_to_start_again(qtbot: QtBot) -> None:
    view = TurnView(samples.turn("interrupted", problem=Problem(message="No.")), samples.FOLDERS)
    qtbot.addWidget(view)
    with qtbot.waitSignal(view.restart_wanted):
        qtbot.mouseClick(button(view, "Start again"), Qt.MouseButton.LeftButton)


@pytest.mark.parametrize(
    ("shown", "said"),
    [
        (Shown(kind="text", title="Sums", text="41 <i>files</i>"), "Sums"),
        (Shown(kind="file", text=f"{samples.ROOT}/a.pdf"), "a.pdf"),
        (Shown(kind="table", columns=("a",), rows=(("1",),), left_out=3), "and 3 more"),
    ],
)
def test_what_a_program_shows_is_in_the_transcript(qtbot: QtBot, shown: Shown, said: str) -> None:
    program = samples.program(shown=(shown,))
    view = TurnView(samples.turn(programs=(program,)), samples.FOLDERS)
    qtbot.addWidget(view)
    (made,) = view.findChildren(ShownBlock)
    assert said in texts(made)


def test_a_table_has_its_columns_and_cells(qtbot: QtBot) -> None:
    shown = Shown(kind="table", columns=("name", "size"), rows=(("a", "1"), ("b", "2")))
    made = ShownBlock(shown, samples.FOLDERS)
    qtbot.addWidget(made)
    (table,) = made.findChildren(QTableWidget)
    assert (table.rowCount(), table.columnCount()) == (2, 2)
    cell = table.item(1, 0)
    assert cell is not None
    assert cell.text() == "b"


def test_a_chart_is_drawn_and_can_be_read_aloud(qtbot: QtBot) -> None:
    made = BarChart(Shown(kind="chart", rows=(("a", "1.0"), ("b", "-2.5"))))
    qtbot.addWidget(made)
    assert not made.grab().isNull()
    assert made.accessibleDescription() == "a: 1, b: -2.5"
