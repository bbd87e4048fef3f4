"""Files and tables in the side panel: what is selected and edited there comes back to programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

import pytest
from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot
from pytestqt.wait_signal import SignalBlocker

from app.store.records import Folder, TurnRecord
from app.ui.question_block import Answered
from app.ui.run_panel import RunPanel
from sandbox.asked_table import table_of
from sandbox.question import PersonsAnswer, Question
from sandbox.shown import Shown
from tests.app.ui import samples

PATIENT_MS = 30_000
TABLE = table_of([{"name": "Ann", "age": 31}, {"name": "Bob", "age": 27}], "People")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "Work"
    path.mkdir()
    for name in ("a.jpg", "b.txt", "c.jpg"):
        (path / name).write_text(name, encoding="utf-8")
    return path


@pytest.fixture
def panel(qtbot: QtBot) -> RunPanel:
    made = RunPanel()
    qtbot.addWidget(made)
    made.resize(360, 600)
    made.show()
    return made


def asking(call: str, exact: str, turn_id: str = "t1") -> TurnRecord:
    question = Question(
        kind="person",
        program_id="p1",
        ordinal=1,
        digest="00",
        call=call,
        line=2,
        effects=(),
        exact=exact,
    )
    return samples.turn("asking", turn_id=turn_id, question=question)


def press(qtbot: QtBot, widget: QWidget, text: str) -> None:
    found = next(one for one in widget.findChildren(QPushButton) if one.text() == text)
    qtbot.mouseClick(found, Qt.MouseButton.LeftButton)


def answer_of(blocker: SignalBlocker) -> Answered:
    (found,) = cast("list[object]", blocker.args)
    assert isinstance(found, Answered)
    return found


def listed(panel: RunPanel) -> list[str]:
    tree = panel.work.files.tree
    model = tree.model()
    root = tree.rootIndex()
    return sorted(model.index(n, 0, root).data() for n in range(model.rowCount(root)))


def select(panel: RunPanel, name: str) -> None:
    tree = panel.work.files.tree
    root = tree.rootIndex()
    for place in range(tree.model().rowCount(root)):
        index = tree.model().index(place, 0, root)
        if index.data() == name:
            flags = QItemSelectionModel.SelectionFlag
            tree.selectionModel().select(index, flags.Select | flags.Rows)


def test_an_edited_table_goes_back_with_its_kinds(qtbot: QtBot, panel: RunPanel) -> None:
    panel.show_turn(asking("ui_table", TABLE.text()), ())
    assert panel.currentWidget() is panel.work
    assert panel.tabText(panel.currentIndex()) == "Table"
    cells = panel.work.table.cells
    item = cells.item(0, 1)
    assert item is not None
    item.setText("32")
    cells.selectRow(1)
    press(qtbot, panel, "Remove rows")
    press(qtbot, panel, "Add a row")
    added = cells.item(1, 0)
    assert added is not None
    added.setText("Cy")
    panel.show_turn(asking("ui_table", TABLE.text()), ())  # the turn is told again meanwhile
    with qtbot.waitSignal(panel.answered, timeout=PATIENT_MS) as answered:
        press(qtbot, panel, "Use this table")
    found = answer_of(answered)
    assert found.answer.approved
    assert json.loads(found.answer.text) == [["Ann", "32"], ["Cy", None]]
    assert TABLE.edited(found.answer.text) == [
        {"name": "Ann", "age": 32},
        {"name": "Cy", "age": None},
    ]


def test_a_table_need_not_be_answered(qtbot: QtBot, panel: RunPanel) -> None:
    panel.show_turn(asking("ui_table", TABLE.text()), ())
    with qtbot.waitSignal(panel.answered, timeout=PATIENT_MS) as answered:
        press(qtbot, panel.work.table, "Do not answer")
    assert answered.args == [Answered(turn_id="t1", answer=PersonsAnswer(approved=False))]
    panel.show_turn(samples.turn("done"), ())
    assert not panel.work.has_table


def test_the_filter_of_a_program_and_of_the_person_lists_what_fits(
    qtbot: QtBot, panel: RunPanel, folder: Path
) -> None:
    folders = (Folder(path=str(folder)),)
    panel.show_turn(samples.turn("running", turn_id="t2"), folders)
    panel.setCurrentWidget(panel.work)
    qtbot.waitUntil(lambda: listed(panel) == ["a.jpg", "b.txt", "c.jpg"], timeout=PATIENT_MS)
    program = samples.program(shown=(Shown(kind="filter", text="*.jpg"),))
    panel.show_turn(samples.turn("running", turn_id="t2", programs=(program,)), folders)
    qtbot.waitUntil(lambda: listed(panel) == ["a.jpg", "c.jpg"], timeout=PATIENT_MS)
    panel.work.files.filter.setText("b")
    qtbot.waitUntil(lambda: listed(panel) == ["b.txt"], timeout=PATIENT_MS)
    panel.show_turn(samples.turn("done", turn_id="t2", programs=(program,)), folders)
    assert panel.work.files.filter.text() == "b", "what was shown once is not shown again"


def test_what_is_selected_answers_a_program_at_once_and_else_it_waits(
    qtbot: QtBot, panel: RunPanel, folder: Path
) -> None:
    folders = (Folder(path=str(folder)),)
    panel.show_turn(asking("ui_selection", "Select files."), folders)
    qtbot.waitUntil(lambda: len(listed(panel)) == 3, timeout=PATIENT_MS)
    select(panel, "b.txt")
    with qtbot.waitSignal(panel.answered, timeout=PATIENT_MS) as answered:
        press(qtbot, panel, "Use the selection")
    found = answer_of(answered)
    assert Path(found.answer.text) == folder / "b.txt"
    panel.show_turn(samples.turn("running"), folders)
    select(panel, "c.jpg")
    with qtbot.waitSignal(panel.answered, timeout=PATIENT_MS) as answered:
        panel.show_turn(asking("ui_selection", "Select files.", turn_id="t3"), folders)
    found = answer_of(answered)
    assert [Path(line).name for line in found.answer.text.splitlines()] == ["b.txt", "c.jpg"]
    assert found.turn_id == "t3"


def test_a_file_that_a_program_opens_is_selected_but_not_that_of_a_turn_long_over(
    qtbot: QtBot, panel: RunPanel, folder: Path
) -> None:
    folders = (Folder(path=str(folder)),)
    shown = Shown(kind="open", text=str(folder / "c.jpg"))
    program = samples.program(shown=(shown,))
    panel.show_turn(samples.turn("done", turn_id="old", programs=(program,)), folders)
    assert panel.work.files.selection() == ()
    panel.show_turn(samples.turn("running", turn_id="new"), folders)
    newer = samples.program(program_id="p9", shown=(shown,))
    with qtbot.waitSignal(panel.wanted, timeout=PATIENT_MS):
        panel.show_turn(samples.turn("done", turn_id="new", programs=(newer,)), folders)
    assert [Path(path).name for path in panel.work.files.selection()] == ["c.jpg"]
