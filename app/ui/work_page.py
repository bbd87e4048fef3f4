"""What the person and a program work on together in the side panel: files, or a table.

Owns which of them is in view, what programs wanted shown there, and the answers to what they ask.
Thread: UI.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.store.records import LIVE, Folder, TurnRecord
from app.ui.files_panel import FilesPanel
from app.ui.question_block import Answered
from app.ui.table_panel import TablePanel
from sandbox.asked_table import table_from
from sandbox.question import PersonsAnswer, Question


class WorkPage(QStackedWidget):
    """Files or a table. `answered` carries an `Answered`; `wanted`: it should be in view."""

    answered = Signal(object)
    wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.files = FilesPanel()
        self.table = TablePanel()
        self.addWidget(self.files)
        self.addWidget(self.table)
        self._turn_id = ""
        self._done: set[tuple[str, int]] = set()
        self._asked: tuple[str, str, int] | None = None
        self.files.selection_used.connect(self._selected)
        self.table.edited.connect(self._edited)
        self.table.refused.connect(lambda: self._answer(approved=False))

    @property
    def has_table(self) -> bool:
        """Whether a table is in view."""
        return self.currentWidget() is self.table

    def show_turn(self, turn: TurnRecord | None, folders: Sequence[Folder]) -> None:
        """Follow a turn: what its programs show here, and what they ask."""
        self.files.set_folders(folders)
        self._show(turn)
        question = turn.question if turn is not None and turn.status == "asking" else None
        if turn is None or question is None or question.call not in ("ui_table", "ui_selection"):
            self._asked = None
            self.files.ask("")
            self.setCurrentWidget(self.files)
            return
        key = (turn.turn_id, question.program_id, question.ordinal)
        if key != self._asked:
            self._asked = key
            self._ask(question)

    def _show(self, turn: TurnRecord | None) -> None:
        """Do what programs wanted, each once, and not again for a turn that is long over."""
        turn_id = "" if turn is None else turn.turn_id
        past = turn is not None and turn_id != self._turn_id and turn.status not in LIVE
        self._turn_id = turn_id
        for program in turn.programs if turn is not None else ():
            for place, shown in enumerate(program.shown):
                key = (program.program_id, place)
                if shown.kind not in ("open", "filter") or key in self._done:
                    continue
                self._done.add(key)
                if past:
                    continue
                if shown.kind == "open":
                    self.files.reveal(shown.text)
                else:
                    self.files.set_filter(shown.text)
                self.wanted.emit()

    def _ask(self, question: Question) -> None:
        if question.call == "ui_table":
            self.table.show_table(table_from(question.exact))
            self.setCurrentWidget(self.table)
        else:
            self.setCurrentWidget(self.files)
            selection = self.files.selection()
            if selection:
                self._selected(selection)
                return
            self.files.ask(self.tr("The program waits for you to select files."))
        self.wanted.emit()

    def _selected(self, paths: Sequence[str]) -> None:
        self._answer(approved=True, text="\n".join(paths))

    def _edited(self, text: str) -> None:
        self._answer(approved=True, text=text)

    def _answer(self, *, approved: bool, text: str = "") -> None:
        if self._asked is None:
            return
        answer = PersonsAnswer(approved=approved, text=text)
        self.answered.emit(Answered(turn_id=self._asked[0], answer=answer))
