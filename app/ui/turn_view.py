"""One turn on the screen: request, reply as it streams, programs, answer, changes, what to do next.

Owns the widgets of a turn and changes only what a new record changes. It asks for things through
signals and must not talk to the engine. Thread: UI.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QMenu, QWidget

from app.store.records import LIVE, CallGroup, Folder, Offer, TurnRecord, TurnStatus
from app.ui import words
from app.ui.highlight import PythonHighlighter
from app.ui.offer_bar import OfferBar
from app.ui.program_view import ProgramView
from app.ui.question_block import QuestionBlock
from app.ui.shown_block import ShownBlock
from app.ui.theme import SPACE_L, SPACE_M, SPACE_S, SPACE_XS
from app.ui.thinking_view import ThinkingView
from app.ui.transcript_model import FenceSplitter
from app.ui.widgets import (
    CodeBox,
    CutText,
    ProblemBlock,
    button,
    clear,
    column,
    frame,
    label,
    plain_tooltip,
    row,
)
from sandbox.shown import Shown

LIVE_LINES = 12
CONFLICTS_SHOWN = 8


class LiveReply(QWidget):
    """The reply while the model writes: prose above, the program below. Grows, never re-flows."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "plain")
        self._splitter = FenceSplitter()
        self._prose = CodeBox(self.tr("The model's words"), max_lines=LIVE_LINES, wrap=True)
        self._prose.setFont(self.font())
        self._prose.setProperty("role", "bare")
        self._code: CodeBox | None = None
        self._layout = column(self, spacing=SPACE_S)
        self._layout.addWidget(self._prose)
        self._prose.hide()

    def append(self, text: str) -> None:
        """Add a piece of the reply."""
        for segment in self._splitter.feed(text):
            if segment.kind == "prose":
                if segment.text.strip() or self._prose.isVisibleTo(self):
                    self._prose.show()
                    self._prose.append_live(segment.text)
            else:
                self._code_box().append_live(segment.text)

    def text(self) -> str:
        """What is on the screen."""
        code = "" if self._code is None else self._code.toPlainText()
        return self._prose.toPlainText() + code

    def _code_box(self) -> CodeBox:
        if self._code is None:
            self._code = CodeBox(self.tr("The program so far"), max_lines=LIVE_LINES)
            PythonHighlighter(self._code.document())
            self._layout.addWidget(self._code)
        return self._code


class TurnView(QFrame):
    """The widgets of one turn. Signals carry the turn's id, `answered` an `Answered`."""

    review_wanted = Signal(str)
    undo_wanted = Signal(str)
    redo_wanted = Signal(str)
    resume_wanted = Signal(str)
    restart_wanted = Signal(str)
    answered = Signal(object)
    offer_taken = Signal(object)  # TurnRecord
    offer_looked_at = Signal(object)  # TurnRecord

    def __init__(
        self, turn: TurnRecord, folders: Sequence[Folder], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setProperty("role", "plain")
        self._turn = turn
        self._folders = tuple(folders)
        self._live: LiveReply | None = None
        self._programs: dict[str, ProgramView] = {}
        self._foot_key: tuple[object, ...] | None = None
        layout = column(self, spacing=SPACE_S)
        layout.setContentsMargins(SPACE_L, SPACE_M, SPACE_L, SPACE_M)

        you = row()
        you.addWidget(label(self.tr("You"), "strong"))
        self._when = label("", "meta")
        you.addWidget(self._when)
        you.addStretch(1)
        layout.addLayout(you)
        self._request = CutText()
        self._request.set_text(turn.request)
        layout.addWidget(self._request)

        drydock = row()
        drydock.setContentsMargins(0, SPACE_S, 0, 0)
        drydock.addWidget(label(self.tr("Drydock"), "strong"))
        model = label(words.visible(turn.model_id.partition(":")[2]), "meta")
        if turn.routed:
            model.setText(self.tr("{0}, chosen: {1}").format(model.text(), turn.routed))
        drydock.addWidget(model)
        self._status = label("", "meta")
        drydock.addWidget(self._status)
        drydock.addStretch(1)
        self._meta = label("", "meta")
        drydock.addWidget(self._meta)
        layout.addLayout(drydock)

        self._thinking = ThinkingView()
        layout.addWidget(self._thinking)
        self._reply_place = column(spacing=SPACE_S)
        layout.addLayout(self._reply_place)
        self._cards = column(spacing=SPACE_S)
        layout.addLayout(self._cards)
        self._answer = CutText()
        self._answer.setAccessibleName(self.tr("Answer"))
        layout.addWidget(self._answer)
        self._shown_place = column(spacing=SPACE_S)
        layout.addLayout(self._shown_place)
        self._shown: tuple[Shown, ...] = ()
        self._foot = column(spacing=SPACE_S)
        layout.addLayout(self._foot)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.DefaultContextMenu)
        self.update_turn(turn)
        self.tell_time(datetime.now(UTC))

    @property
    def turn(self) -> TurnRecord:
        """The record on the screen."""
        return self._turn

    def update_turn(self, turn: TurnRecord) -> None:
        """Show a new state of the same turn."""
        self._turn = turn
        self._status.setText(words.status(turn.status))
        self._status.setProperty("role", _status_role(turn.status))
        self._status.style().polish(self._status)
        self._meta.setText("" if turn.status in LIVE else words.meta(turn))
        self.setAccessibleName(self.tr("Turn, {0}").format(words.status(turn.status)))
        self._thinking.set_text(turn.thinking, live=turn.status == "writing")
        self._update_reply(turn)
        self._update_programs(turn)
        self._answer.set_text(turn.answer)
        self._answer.setVisible(bool(turn.answer.strip()))
        self._update_shown(turn)
        self._update_foot(turn)

    def append_reply(self, text: str) -> None:
        """Show a piece of the reply that has just arrived."""
        if self._turn.status == "writing":
            self._live_reply().append(text)

    def append_thinking(self, text: str) -> None:
        """Add to what the model thinks aloud."""
        self._thinking.append(text)

    def update_calls(self, program_id: str, calls: Sequence[CallGroup]) -> None:
        """Show the calls of a running program so far."""
        if (view := self._programs.get(program_id)) is not None:
            view.update_calls(calls)

    def tell_time(self, now: datetime) -> None:
        """Say again how long ago the turn was."""
        self._when.setText(words.ago(self._turn.started, now))
        self._when.setToolTip(words.exact(self._turn.started))

    def live_text(self) -> str:
        """The streamed reply on the screen; empty when there is none."""
        return "" if self._live is None else self._live.text()

    def program_views(self) -> list[ProgramView]:
        """The cards, oldest first."""
        return list(self._programs.values())

    def contextMenuEvent(self, event: object) -> None:
        menu = QMenu(self)
        clipboard = QGuiApplication.clipboard()
        menu.addAction(self.tr("Copy the request")).triggered.connect(
            lambda: clipboard.setText(self._turn.request)
        )
        if self._turn.answer:
            menu.addAction(self.tr("Copy the answer")).triggered.connect(
                lambda: clipboard.setText(self._turn.answer)
            )
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self.cursor().pos())

    def _live_reply(self) -> LiveReply:
        if self._live is None:
            self._live = LiveReply()
            self._reply_place.addWidget(self._live)
        return self._live

    def _update_reply(self, turn: TurnRecord) -> None:
        if turn.status == "writing":
            if turn.reply and self._live is None:
                self._live_reply().append(turn.reply)
            elif self._live is not None and not turn.reply:
                self._drop_live()
        elif self._live is not None:
            self._drop_live()

    def _drop_live(self) -> None:
        clear(self._reply_place)
        self._live = None

    def _update_programs(self, turn: TurnRecord) -> None:
        known = {program.program_id for program in turn.programs}
        for program_id in [one for one in self._programs if one not in known]:
            view = self._programs.pop(program_id)
            view.hide()
            view.deleteLater()
        for program in turn.programs:
            view = self._programs.get(program.program_id)
            if view is None:
                view = ProgramView(program)
                self._programs[program.program_id] = view
                self._cards.addWidget(view)
            else:
                view.update_program(program)

    def _update_shown(self, turn: TurnRecord) -> None:
        shown = tuple(
            item
            for program in turn.programs
            if program.status in ("ok", "asking")
            for item in program.shown
        )
        if shown == self._shown:
            return
        self._shown = shown
        clear(self._shown_place)
        for item in shown:
            self._shown_place.addWidget(ShownBlock(item, self._folders))

    def _update_foot(self, turn: TurnRecord) -> None:
        key = (
            turn.status,
            turn.problem,
            turn.changes,
            turn.approved,
            turn.conflicts,
            turn.question,
            turn.offer,
        )
        if key == self._foot_key:
            return
        self._foot_key = key
        clear(self._foot)
        self._add_told(turn)
        match turn.status:
            case "waiting":
                self._add_review(turn)
            case "done" if turn.committed and turn.approved:
                self._add_undo(turn)
            case "undone":
                self._add_redo(turn)
            case "asking" if turn.question is not None:
                block = QuestionBlock(turn, turn.question, self._folders)
                block.answered.connect(self.answered)
                self._foot.addWidget(block)
            case "interrupted" if turn.problem is not None:
                self._add_bar(
                    self.tr("It can be run again from its start; you will be asked again."),
                    self.tr("Start again"),
                    lambda: self.restart_wanted.emit(turn.turn_id),
                )
            case "interrupted":
                self._add_bar(
                    self.tr("Drydock ended in the middle of this. Nothing is lost."),
                    self.tr("Continue"),
                    lambda: self.resume_wanted.emit(turn.turn_id),
                    primary=True,
                )
            case _:
                pass

    def _add_told(self, turn: TurnRecord) -> None:
        """What went wrong, and what may help."""
        if turn.problem is not None:
            self._foot.addWidget(ProblemBlock(turn.problem))
        if turn.conflicts:
            self._add_conflicts(turn)
        if turn.offer is not None:
            self._add_offer(turn, turn.offer)

    def _add_offer(self, turn: TurnRecord, offer: Offer) -> None:
        bar = OfferBar(offer)
        bar.taken.connect(lambda: self.offer_taken.emit(turn))
        bar.looked_at.connect(lambda: self.offer_looked_at.emit(turn))
        self._foot.addWidget(bar)

    def _add_review(self, turn: TurnRecord) -> None:
        changes = turn.changes.changes if turn.changes is not None else ()
        self._add_bar(
            words.sentence(changes, self._folders) + " " + self.tr("Nothing is on disk yet."),
            self.tr("Review {0}").format(words.changes_count(len(changes))),
            lambda: self.review_wanted.emit(turn.turn_id),
            primary=True,
        )

    def _add_undo(self, turn: TurnRecord) -> None:
        number = len(words.on_disk(turn))
        if not number:
            return
        self._add_bar(
            self.tr("{0} on disk.").format(words.changes_count(number)),
            self.tr("Undo this change")
            if number == 1
            else self.tr("Undo these {0}").format(words.changes_count(number)),
            lambda: self.undo_wanted.emit(turn.turn_id),
        )

    def _add_redo(self, turn: TurnRecord) -> None:
        stayed = len(words.on_disk(turn))
        number = len(turn.approved) - stayed
        if not number:
            return
        text = self.tr("{0} taken back.").format(words.changes_count(number))
        if stayed:
            text += " " + self.tr("{0} still on disk.").format(words.changes_count(stayed))
        else:
            text += " " + self.tr("Nothing of this turn is on disk.")
        self._add_bar(
            text,
            self.tr("Redo this change")
            if number == 1
            else self.tr("Redo these {0}").format(words.changes_count(number)),
            lambda: self.redo_wanted.emit(turn.turn_id),
        )

    def _add_bar(self, text: str, action: str, on_click: object, *, primary: bool = False) -> None:
        bar = frame("card")
        layout = row(bar, spacing=SPACE_M)
        layout.setContentsMargins(SPACE_M, SPACE_S, SPACE_S, SPACE_S)
        layout.addWidget(label(text, wrap=True), 1)
        made = button(action, "primary" if primary else "normal")
        made.clicked.connect(on_click)  # pyright: ignore[reportArgumentType]  # any callable
        layout.addWidget(made)
        self._foot.addWidget(bar)

    def _add_conflicts(self, turn: TurnRecord) -> None:
        block = frame("alert")
        layout = column(block, margin=SPACE_M, spacing=SPACE_XS)
        number = len(turn.conflicts)
        layout.addWidget(label(words.conflicts_title(turn), "strong", wrap=True))
        for conflict in turn.conflicts[:CONFLICTS_SHOWN]:
            path = words.short_path(conflict.path, self._folders)
            line = label(f"{path}: {conflict.reason}", wrap=True, selectable=True)
            line.setToolTip(plain_tooltip(words.visible(conflict.path)))
            layout.addWidget(line)
        if number > CONFLICTS_SHOWN:
            rest = CutText()
            rest.set_text(
                "\n".join(
                    f"{words.short_path(one.path, self._folders)}: {one.reason}"
                    for one in turn.conflicts[CONFLICTS_SHOWN:]
                )
            )
            layout.addWidget(rest)
        self._foot.addWidget(block)


def _status_role(status: TurnStatus) -> str:
    match status:
        case "waiting" | "asking" | "failed" | "interrupted":
            return "caution"
        case "done":
            return "good"
        case _:
            return "meta"
