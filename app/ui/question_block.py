"""What a program asks the person, in the transcript: the question and the ways to answer it.

Owns the block and what was typed; what follows from an answer is the engine's. The safe answer has
the focus, and no key press meant for something else sends anything. Thread: UI.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QLineEdit, QWidget

from app.engine.reason_words import reason_sentence
from app.store.records import Folder, TurnRecord
from app.ui import words
from app.ui.theme import SPACE_M, SPACE_S
from app.ui.widgets import CodeBox, button, column, label, row
from sandbox.question import DONE, PersonsAnswer, Question

_EFFECTS_SHOWN = 12
_EXACT_LINES = 12
_IN_PANEL = frozenset({"ui_table", "ui_selection"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What the person answered to the question of a turn."""

    turn_id: str
    answer: PersonsAnswer


class QuestionBlock(QFrame):
    """The question of one turn. `answered` carries an `Answered`, once."""

    answered = Signal(object)

    def __init__(
        self,
        turn: TurnRecord,
        question: Question,
        folders: Sequence[Folder],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setProperty("role", "alert")
        self.setAccessibleName(self.tr("The program asks you"))
        self._turn_id = turn.turn_id
        self._question = question
        self._layout = column(self, margin=SPACE_M, spacing=SPACE_S)
        self._layout.addWidget(label(self._title(), "strong", wrap=True))
        self._text = QLineEdit()
        if question.kind == "person" and question.call in _IN_PANEL:
            self._add_panel_answers()
        elif question.kind == "person":
            self._add_answers()
        else:
            self._add_effects(folders)
            self._add_decision()

    def _title(self) -> str:
        question = self._question
        call = words.visible(f"{question.call}()")
        where = "" if question.line is None else self.tr(" in line {0}").format(question.line)
        match question.kind:
            case "effects":
                return self.tr("The program waits at {0}{1}. May it do this?").format(call, where)
            case "unknown":
                return self.tr(
                    "Drydock ended while {0}{1} was under way. It is not known whether it was "
                    "done. Do it again?"
                ).format(call, where)
            case "person" if question.call == "ui_table":
                return self.tr("The program asks you to edit the table in the side panel.")
            case "person" if question.call == "ui_selection":
                return self.tr("The program asks you to select files in the side panel.")
            case "person":
                return words.visible(question.exact)

    def _add_effects(self, folders: Sequence[Folder]) -> None:
        question = self._question
        for effect in question.effects[:_EFFECTS_SHOWN]:
            path = words.short_path(effect.path, folders)
            self._layout.addWidget(label(f"{effect.kind} {path}", wrap=True, selectable=True))
        left = len(question.effects) - _EFFECTS_SHOWN
        if left > 0:
            self._layout.addWidget(label(self.tr("and {0} more").format(left), "muted"))
        for reason in question.reasons:
            self._layout.addWidget(label(reason_sentence(reason, self.tr), wrap=True))
        if question.exact:
            box = CodeBox(self.tr("What would be sent"), max_lines=_EXACT_LINES)
            box.setPlainText(words.visible(question.exact))
            self._layout.addWidget(box)
        counts = ", ".join(f"{n} {kind}" for kind, n in question.composition.counts.items())
        if counts:
            self._layout.addWidget(
                label(self.tr("So far in this run: {0}").format(counts), "muted", wrap=True)
            )

    def _add_decision(self) -> None:
        again = self._question.kind == "unknown"
        self._text.setPlaceholderText(self.tr("A word for the model, if you refuse"))
        self._text.setAccessibleName(self._text.placeholderText())
        self._layout.addWidget(self._text)
        bar = row(spacing=SPACE_S)
        bar.addStretch(1)
        approve = button(self.tr("Do it again") if again else self.tr("Approve"))
        refuse = button(self.tr("Refuse"), "primary")
        approve.clicked.connect(lambda: self._send(PersonsAnswer(approved=True)))
        refuse.clicked.connect(
            lambda: self._send(PersonsAnswer(approved=False, text=self._text.text().strip()))
        )
        if again:
            done = button(self.tr("It was done"))
            done.clicked.connect(lambda: self._send(PersonsAnswer(approved=True, text=DONE)))
            bar.addWidget(done)
        bar.addWidget(approve)
        bar.addWidget(refuse)
        self._layout.addLayout(bar)
        self.setFocusProxy(refuse)

    def _add_answers(self) -> None:
        bar = row(spacing=SPACE_S)
        choices = self._question.choices
        for choice in choices:
            made = button(words.visible(choice))
            made.clicked.connect(
                lambda _=False, text=choice: self._send(PersonsAnswer(approved=True, text=text))
            )
            bar.addWidget(made)
        if not choices:
            self._text.setAccessibleName(self.tr("Your answer"))
            self._text.returnPressed.connect(self._send_text)
            bar.addWidget(self._text, 1)
            send = button(self.tr("Answer"), "primary")
            send.clicked.connect(self._send_text)
            bar.addWidget(send)
            self.setFocusProxy(self._text)
        refuse = button(self.tr("Do not answer"), "flat")
        refuse.clicked.connect(lambda: self._send(PersonsAnswer(approved=False)))
        bar.addWidget(refuse)
        bar.addStretch(1)
        self._layout.addLayout(bar)
        if choices:
            self.setFocusProxy(refuse)

    def _add_panel_answers(self) -> None:
        bar = row(spacing=SPACE_S)
        if self._question.call == "ui_table":
            same = button(self.tr("Leave the table as it is"))
            same.clicked.connect(lambda: self._send(PersonsAnswer(approved=True, text="ok")))
            bar.addWidget(same)
        refuse = button(self.tr("Do not answer"), "flat")
        refuse.clicked.connect(lambda: self._send(PersonsAnswer(approved=False)))
        bar.addWidget(refuse)
        bar.addStretch(1)
        self._layout.addLayout(bar)
        self.setFocusProxy(refuse)

    def _send_text(self) -> None:
        text = self._text.text().strip()
        if text:
            self._send(PersonsAnswer(approved=True, text=text))

    def _send(self, answer: PersonsAnswer) -> None:
        self.setEnabled(False)
        self.answered.emit(Answered(turn_id=self._turn_id, answer=answer))
