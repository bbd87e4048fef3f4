"""The open chat's turns in a column that follows its end.

Owns scrolling, paging of older turns and the routing of live pieces to the turn they belong to.
A streamed piece lays out its own turn and nothing else. It must not talk to the engine.
Thread: UI.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QResizeEvent, QSyntaxHighlighter
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from app.engine.events import CallsProgress, ReplyDelta, ThinkingDelta
from app.store.records import Folder, TurnRecord
from app.ui.transcript_model import TranscriptModel
from app.ui.turn_view import TurnView
from app.ui.widgets import button, column

MAX_COLUMN_PX = 860
NEAR_END_PX = 40
CLOCK_MS = 30_000


class Transcript(QScrollArea):
    """The turns of one chat. The signals carry a turn's id."""

    review_wanted = Signal(str)
    undo_wanted = Signal(str)
    redo_wanted = Signal(str)
    resume_wanted = Signal(str)
    restart_wanted = Signal(str)
    answered = Signal(object)
    offer_taken = Signal(object)  # TurnRecord
    offer_looked_at = Signal(object)  # TurnRecord

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "plain")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setAccessibleName(self.tr("Transcript"))
        self.model = TranscriptModel()
        self._folders: tuple[Folder, ...] = ()
        self._views: dict[str, TurnView] = {}
        self._follow = True
        self._page = QWidget()
        self._page.setProperty("role", "ground")
        self._earlier = button("", "word", on_click=self.show_earlier)
        self._column = column(self._page, spacing=0)
        self._column.addWidget(self._earlier)
        self._turns_layout = column(spacing=0)
        self._column.addLayout(self._turns_layout)
        self._column.addStretch(1)
        self.setWidget(self._page)
        bar = self.verticalScrollBar()
        bar.rangeChanged.connect(self._range_changed)
        bar.valueChanged.connect(self._scrolled)
        self._clock = QTimer(self)
        self._clock.setInterval(CLOCK_MS)
        self._clock.timeout.connect(self._tell_time)
        self._clock.start()
        self._show_earlier_button()

    def show_chat(self, turns: Iterable[TurnRecord], folders: Sequence[Folder]) -> None:
        """Show another chat, at its end."""
        for view in self._views.values():
            view.hide()
            view.deleteLater()
        self._views.clear()
        self.model = TranscriptModel(turns)
        self._folders = tuple(folders)
        self._follow = True
        for turn in self.model.shown():
            self._add(turn)
        self._show_earlier_button()
        self.scroll_to_end()

    def set_folders(self, folders: Sequence[Folder]) -> None:
        """Take the chat's folders, which shorten the paths that are shown."""
        self._folders = tuple(folders)

    def put(self, turn: TurnRecord) -> None:
        """Show a turn's new state; a new turn comes last and into view."""
        if self.model.put(turn):
            self._follow = True
            self._add(turn)
        elif (view := self._views.get(turn.turn_id)) is not None:
            view.update_turn(turn)

    def append_reply(self, delta: ReplyDelta) -> None:
        """Show a streamed piece."""
        if (view := self._views.get(delta.turn_id)) is not None:
            view.append_reply(delta.text)

    def append_thinking(self, delta: ThinkingDelta) -> None:
        """Add to what the model thinks aloud."""
        if (view := self._views.get(delta.turn_id)) is not None:
            view.append_thinking(delta.text)

    def update_calls(self, progress: CallsProgress) -> None:
        """Show calls of a running program."""
        if (view := self._views.get(progress.turn_id)) is not None:
            view.update_calls(progress.program_id, progress.calls)

    def view_of(self, turn_id: str) -> TurnView | None:
        """The widget of a turn on the screen, or None."""
        return self._views.get(turn_id)

    def scroll_to_end(self) -> None:
        """Bring the newest turn into view and stay there."""
        self._follow = True
        bar = self.verticalScrollBar()
        bar.setValue(bar.maximum())

    def from_end(self) -> int:
        """How many pixels the view is above its end; 0 while it follows the end."""
        bar = self.verticalScrollBar()
        return 0 if self._follow else bar.maximum() - bar.value()

    def scroll_back(self, from_end: int) -> None:
        """Bring the view to `from_end` pixels above its end, once it is laid out."""

        def scroll() -> None:
            bar = self.verticalScrollBar()
            self._follow = False
            bar.setValue(bar.maximum() - from_end)

        QTimer.singleShot(0, self, scroll)

    def show_earlier(self) -> None:
        """Put one more page of older turns above, without moving what is being read."""
        bar = self.verticalScrollBar()
        from_end = bar.maximum() - bar.value()
        self._follow = False
        for number, turn in enumerate(self.model.show_earlier()):
            self._add(turn, at=number)
        self._show_earlier_button()
        self._column.activate()
        self._page.adjustSize()
        bar.setValue(bar.maximum() - from_end)

    def show_colours(self) -> None:
        """Colour the code again after the theme has changed."""
        for highlighter in self.findChildren(QSyntaxHighlighter):
            highlighter.rehighlight()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the lines at a readable length."""
        side = max(0, (self.viewport().width() - MAX_COLUMN_PX) // 2)
        self._column.setContentsMargins(side, 0, side, 0)
        super().resizeEvent(event)

    def _add(self, turn: TurnRecord, at: int | None = None) -> None:
        view = TurnView(turn, self._folders, self._page)
        view.review_wanted.connect(self.review_wanted)
        view.undo_wanted.connect(self.undo_wanted)
        view.redo_wanted.connect(self.redo_wanted)
        view.resume_wanted.connect(self.resume_wanted)
        view.restart_wanted.connect(self.restart_wanted)
        view.answered.connect(self.answered)
        view.offer_taken.connect(self.offer_taken)
        view.offer_looked_at.connect(self.offer_looked_at)
        self._views[turn.turn_id] = view
        self._turns_layout.insertWidget(self._turns_layout.count() if at is None else at, view)

    def _show_earlier_button(self) -> None:
        earlier = self.model.earlier
        self._earlier.setVisible(earlier > 0)
        self._earlier.setText(self.tr("Show earlier turns, {0} more").format(earlier))

    def _range_changed(self, _low: int, high: int) -> None:
        if self._follow:
            self.verticalScrollBar().setValue(high)

    def _scrolled(self, value: int) -> None:
        self._follow = value >= self.verticalScrollBar().maximum() - NEAR_END_PX

    def _tell_time(self) -> None:
        now = datetime.now(UTC)
        for view in self._views.values():
            view.tell_time(now)
