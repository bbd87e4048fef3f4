"""The right panel: the newest turn's run, its changes so far, and the person's files.

Owns the tabs. It must not talk to the engine. Thread: UI.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QScrollArea, QTabWidget, QTreeView, QWidget

from app.engine.events import CallsProgress
from app.store.records import LIVE, CallGroup, Folder, ProgramRecord, TurnRecord
from app.ui import words
from app.ui.change_model import ChangeModel
from app.ui.defined_bar import DefinedBar
from app.ui.theme import SPACE_L, SPACE_M, SPACE_XS
from app.ui.timeline import Timeline
from app.ui.widgets import button, clear, column, hairline, label
from app.ui.work_page import WorkPage


class RunPanel(QTabWidget):
    """Tabs Run, Changes and Files. `review_wanted` carries the turn's id, `answered` an `Answered`;
    `wanted`: it was brought into view.
    """

    review_wanted = Signal(str)
    answered = Signal(object)
    wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setDocumentMode(True)
        self.tabBar().setDrawBase(False)
        self.setAccessibleName(self.tr("Run and changes"))
        self._turn: TurnRecord | None = None
        self._folders: tuple[Folder, ...] = ()
        self._live_calls: dict[str, tuple[CallGroup, ...]] = {}
        self._key: object = None
        page = QWidget()
        page.setProperty("role", "ground")
        self._run = column(page, margin=SPACE_M, spacing=SPACE_XS)
        area = QScrollArea()
        area.setProperty("role", "plain")
        area.setWidgetResizable(True)
        area.setWidget(page)
        self.defined = DefinedBar()
        run_page = QWidget()
        run_column = column(run_page)
        run_column.addWidget(area, 1)
        run_column.addWidget(self.defined)
        self._changes_page = QWidget()
        self._changes = column(self._changes_page, margin=SPACE_M, spacing=SPACE_M)
        self.addTab(run_page, self.tr("Run"))
        self.addTab(self._changes_page, self.tr("Changes"))
        self.work = WorkPage()
        self.work.answered.connect(self.answered)
        self.work.wanted.connect(self._show_work)
        self.addTab(self.work, self.tr("Files"))
        self._shown_changes: object = _NOTHING
        self.show_turn(None, ())

    def show_turn(self, turn: TurnRecord | None, folders: Sequence[Folder]) -> None:
        """Show a turn's state; None when the chat has none."""
        if turn is None or self._turn is None or turn.turn_id != self._turn.turn_id:
            self._live_calls.clear()
        self._turn = turn
        self._folders = tuple(folders)
        self._fill_run()
        self._fill_changes()
        self.work.show_turn(turn, folders)
        title = self.tr("Table") if self.work.has_table else self.tr("Files")
        self.setTabText(self.indexOf(self.work), title)

    def _show_work(self) -> None:
        self.setCurrentWidget(self.work)
        self.show()
        self.wanted.emit()

    def update_calls(self, progress: CallsProgress) -> None:
        """Show calls of the running program."""
        if self._turn is not None and progress.turn_id == self._turn.turn_id:
            self._live_calls[progress.program_id] = progress.calls
            self._fill_run()

    def _fill_run(self) -> None:
        turn = self._turn
        key = None if turn is None else (
            turn.turn_id, turn.status, turn.programs, tuple(self._live_calls.items()),
        )  # fmt: skip
        if key is not None and key == self._key:
            return
        self._key = key
        clear(self._run)
        if turn is None:
            self._run.addWidget(label(self.tr("No run yet."), "strong"))
            text = self.tr("What a request does, step by step, is shown here.")
            self._run.addWidget(label(text, "muted", wrap=True))
            self._run.addStretch(1)
            return
        self._run.addWidget(label(words.status(turn.status).capitalize(), "heading"))
        for program in turn.programs:
            self._add_program(program)
        if turn.status not in LIVE:
            self._run.addSpacing(SPACE_L)
            self._run.addWidget(hairline())
            self._add_totals(turn)
        self._run.addStretch(1)

    def _add_program(self, program: ProgramRecord) -> None:
        self._run.addSpacing(SPACE_M)
        title = self.tr("Program {0}").format(program.index)
        state = {
            "running": self.tr("running"),
            "ok": self.tr("ran {0}").format(words.seconds(program.wall_s)),
            "error": self.tr("failed after {0}").format(words.seconds(program.wall_s)),
            "asking": self.tr("waits for you"),
            "stopped": self.tr("stopped"),
        }[program.status]
        self._run.addWidget(label(f"{title}, {state}", "strong", wrap=True))
        live = self._live_calls.get(program.program_id, ())
        calls = live if program.status == "running" and live else program.calls
        for note in program.notes:
            self._run.addWidget(label(self.tr("repaired: {0}").format(note), "muted", wrap=True))
        for group in calls:
            line = label(words.call_group(group), wrap=True)
            line.setToolTip(words.visible(group.example))
            self._run.addWidget(line)
        if not calls and program.status != "running":
            self._run.addWidget(label(self.tr("touched no files"), "muted"))
        if program.fault is not None:
            self._run.addWidget(label(program.fault.brief(), "caution", wrap=True))

    def _add_totals(self, turn: TurnRecord) -> None:
        usage = turn.usage
        timeline = Timeline(turn)
        if timeline.parts:
            self._run.addSpacing(SPACE_M)
            self._run.addWidget(timeline)
            self._run.addSpacing(SPACE_XS)
        for name, value in (
            (self.tr("Time"), words.seconds(turn.seconds)),
            (self.tr("Model"), words.seconds(usage.model_s)),
            (self.tr("Tokens read"), f"{usage.input_tokens:,}"),
            (self.tr("Tokens written"), f"{usage.output_tokens:,}"),
            (self.tr("Cost"), self._cost(turn)),
        ):
            self._run.addWidget(label(f"{name}: {value}", "muted", wrap=True))

    def _cost(self, turn: TurnRecord) -> str:
        if turn.model_id.startswith("local:"):
            return self.tr("none, it ran on this machine")
        return words.money(turn.usage.money, turn.usage.currency)

    def _fill_changes(self) -> None:
        turn = self._turn
        key = None if turn is None else (turn.turn_id, turn.status, turn.changes)
        if key == self._shown_changes:
            return
        self._shown_changes = key
        clear(self._changes)
        changes = None if turn is None else turn.changes
        if turn is None or changes is None or not changes.changes:
            self._changes.addWidget(label(self.tr("No changes."), "strong"))
            text = self.tr("Changes wait here until you approve them. Nothing is on disk before.")
            self._changes.addWidget(label(text, "muted", wrap=True))
            self._changes.addStretch(1)
            return
        self._changes.addWidget(label(words.sentence(changes.changes, self._folders), wrap=True))
        tree = QTreeView()
        tree.setAccessibleName(self.tr("Changes of the newest turn"))
        tree.setUniformRowHeights(True)
        tree.setModel(ChangeModel(changes, self._folders, tree, checkable=False))
        tree.setHeaderHidden(True)
        tree.hideColumn(2)
        tree.header().setStretchLastSection(False)
        tree.header().setSectionResizeMode(0, tree.header().ResizeMode.Stretch)
        tree.header().setSectionResizeMode(1, tree.header().ResizeMode.ResizeToContents)
        tree.hideColumn(1)
        tree.setTextElideMode(tree.textElideMode().ElideMiddle)
        tree.expandAll()
        self._changes.addWidget(tree, 1)
        if turn.status == "waiting":
            turn_id = turn.turn_id
            text = self.tr("Review {0}").format(words.changes_count(len(changes.changes)))
            self._changes.addWidget(
                button(text, "primary", on_click=lambda: self.review_wanted.emit(turn_id))
            )


_NOTHING = object()
