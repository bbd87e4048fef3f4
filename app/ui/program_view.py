"""A program as a card: its code, its calls as they happen, and what came of it.

Open while it runs or when it failed, folded to one line once it has succeeded; a person's own
choice is kept. It must not talk to the engine. Thread: UI.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from app.store.records import CallGroup, ProgramRecord
from app.ui import words
from app.ui.highlight import PythonHighlighter
from app.ui.theme import ROW_PX, SPACE_M, SPACE_S, SPACE_XS
from app.ui.widgets import (
    CodeBox,
    CutText,
    ElidedLabel,
    button,
    clear,
    column,
    hairline,
    icon_button,
    label,
    row,
    set_icon,
)

CODE_LINES = 16


class ProgramView(QFrame):
    """The card of one program."""

    def __init__(self, program: ProgramRecord, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        self._program = program
        self._open: bool | None = None
        self._body: _Body | None = None
        self._fold = icon_button("", "", self.toggle, size_px=ROW_PX)
        self._title = label("", "strong")
        self._first_line = ElidedLabel("", "muted")
        self._state = label("", "meta")
        self._state.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        header = row(spacing=SPACE_S)
        header.addWidget(self._fold)
        header.addWidget(self._title)
        header.addWidget(self._first_line, 1)
        header.addWidget(self._state)
        self._layout = column(self, spacing=SPACE_XS)
        self._layout.setContentsMargins(SPACE_XS, SPACE_XS, SPACE_M, SPACE_XS)
        self._layout.addLayout(header)
        self.update_program(program)

    @property
    def is_open(self) -> bool:
        """Whether the code is on the screen."""
        return (
            self._open if self._open is not None else self._program.status in ("running", "error")
        )

    def update_program(self, program: ProgramRecord) -> None:
        """Show a new state of the same program."""
        self._program = program
        lines = program.source.strip("\n").count("\n") + 1
        title = self.tr("Program") if program.index == 1 else self.tr("Try {0}")
        self._title.setText(
            title.format(program.index) + ", " + words.count(lines, "line", "lines")
        )
        self._state.setText(self._state_words())
        self.setAccessibleName(f"{self._title.text()}, {self._state.text()}")
        self._show_fold()
        if self._body is not None:
            self._body.update_program(program)

    def update_calls(self, calls: Sequence[CallGroup]) -> None:
        """Show the calls so far of the running program."""
        if self._body is not None:
            self._body.update_calls(calls)

    def toggle(self) -> None:
        """Fold or unfold; the choice stays."""
        self._open = not self.is_open
        self._show_fold()

    def _state_words(self) -> str:
        program = self._program
        match program.status:
            case "running":
                return self.tr("running")
            case "ok":
                return self.tr("ran {0}").format(words.seconds(program.wall_s))
            case "error":
                return self.tr("failed after {0}").format(words.seconds(program.wall_s))
            case "asking":
                return self.tr("waits for you")
            case "stopped":
                return self.tr("stopped")

    def _show_fold(self) -> None:
        is_open = self.is_open
        set_icon(self._fold, "ph.caret-down" if is_open else "ph.caret-right")
        fold_name = self.tr("Fold the program") if is_open else self.tr("Show the program")
        self._fold.setAccessibleName(fold_name)
        self._fold.setToolTip(fold_name)
        first = next((line for line in self._program.source.splitlines() if line.strip()), "")
        self._first_line.set_whole("" if is_open else words.visible(first.strip()))
        if is_open and self._body is None:
            self._body = _Body(self._program, self)
            self._layout.addWidget(self._body)
        elif self._body is not None:
            self._body.setVisible(is_open)


class _Body(QWidget):
    """What is under the card's header; made when it is first opened."""

    def __init__(self, program: ProgramRecord, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("role", "plain")
        self._source = ""
        self._calls: tuple[CallGroup, ...] | None = None
        self._code = CodeBox(self.tr("Program"), max_lines=CODE_LINES)
        self._highlighter = PythonHighlighter(self._code.document())
        self._show_all = button(self.tr("Show all"), "word", on_click=self._unlimit)
        self._copy = button(self.tr("Copy program"), "word", on_click=self._copy_source)
        self._notes = column(spacing=0)
        self._call_lines = column(spacing=0)
        self._outcome = column(spacing=SPACE_XS)
        layout = column(self, spacing=SPACE_XS)
        layout.setContentsMargins(SPACE_S, 0, 0, SPACE_S)
        layout.addWidget(self._code)
        under = row(spacing=SPACE_XS)
        under.addWidget(self._show_all)
        under.addWidget(self._copy)
        under.addStretch(1)
        layout.addLayout(under)
        layout.addLayout(self._notes)
        layout.addLayout(self._call_lines)
        layout.addLayout(self._outcome)
        self.update_program(program)

    def update_program(self, program: ProgramRecord) -> None:
        if program.source != self._source:
            self._source = program.source
            self._code.setPlainText(program.source.strip("\n"))
            self._highlighter.read_all()
            self._code.fit()
            self._show_all.setVisible(self._code.blockCount() > CODE_LINES)
        clear(self._notes)
        for note in program.notes:
            self._notes.addWidget(label(self.tr("Repaired: {0}").format(note), "meta", wrap=True))
        self.update_calls(program.calls)
        clear(self._outcome)
        self._add_fault(program)
        if program.printed.strip():
            self._add_output(self.tr("Printed"), program.printed)
        elif program.value not in (None, "", "None"):
            self._add_output(self.tr("Result"), program.value or "")
        if program.warned.strip():
            self._add_output(self.tr("Warnings"), program.warned)

    def update_calls(self, calls: Sequence[CallGroup]) -> None:
        if tuple(calls) == self._calls:
            return
        self._calls = tuple(calls)
        _set_lines(self._call_lines, [words.call_group(group) for group in calls])

    def _add_fault(self, program: ProgramRecord) -> None:
        fault = program.fault
        if fault is None:
            return
        self._outcome.addWidget(hairline())
        where = "" if fault.line is None else self.tr(" in line {0}").format(fault.line)
        text = f"{fault.type}{where}: {fault.message}"
        self._outcome.addWidget(label(text, "caution", wrap=True, selectable=True))
        if fault.hint:
            self._outcome.addWidget(label(fault.hint, "muted", wrap=True, selectable=True))

    def _add_output(self, name: str, text: str) -> None:
        self._outcome.addWidget(hairline())
        self._outcome.addWidget(label(name, "meta"))
        output = CutText(mono=True)
        output.setAccessibleName(name)
        output.set_text(text.rstrip("\n"))
        self._outcome.addWidget(output)

    def _unlimit(self) -> None:
        self._code.set_max_lines(100_000)
        self._show_all.hide()

    def _copy_source(self) -> None:
        QGuiApplication.clipboard().setText(self._source)


def _set_lines(layout: QVBoxLayout, lines: Sequence[str]) -> None:
    """Make `layout` hold one small label a line, keeping the labels that are there."""
    while layout.count() > len(lines):
        item = layout.takeAt(layout.count() - 1)
        if item is not None and (widget := item.widget()) is not None:
            widget.hide()
            widget.deleteLater()
    for number, line in enumerate(lines):
        if number == layout.count():
            layout.addWidget(label("", "meta"))
        item = layout.itemAt(number)
        if item is not None and isinstance(shown := item.widget(), QLabel):
            shown.setText(line)
