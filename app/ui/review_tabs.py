"""The tabs below the changes of a review: the programs with their responsible lines, and the flow.

Owns which lines are marked. It must not decide. Thread: UI.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QColor, QTextCursor, QTextFormat
from PySide6.QtWidgets import QScrollArea, QTabWidget, QTextEdit, QWidget

from app.store.records import ProgramRecord, TurnRecord
from app.ui.flow_picture import picture_of
from app.ui.flow_view import FlowView
from app.ui.highlight import PythonHighlighter
from app.ui.theme import tokens
from app.ui.widgets import CodeBox
from sandbox.ports import Reason

_TALLEST = 16_777_215


def review_tabs(turn: TurnRecord, parent: QWidget) -> QTabWidget | None:
    """Flow and programs of a turn; None when no program of it worked."""
    programs = [one for one in turn.programs if one.status == "ok"]
    if not programs:
        return None
    tabs = QTabWidget(parent)
    tabs.setDocumentMode(True)
    tabs.tabBar().setDrawBase(False)
    tabs.setAccessibleName(tabs.tr("The programs that make these changes, and their flow"))
    for program in programs:
        title = tabs.tr("Program")
        if len(programs) > 1:
            title = tabs.tr("Program {0}").format(program.index)
        tabs.addTab(_program_page(program, turn.reasons, title), title)
    picture = picture_of(turn, turn.reasons, tabs.tr)
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setFrameShape(QScrollArea.Shape.NoFrame)
    area.setWidget(FlowView(picture))
    tabs.addTab(area, tabs.tr("Flow"))
    if turn.reasons:
        tabs.setCurrentWidget(area)
    return tabs


def _program_page(program: ProgramRecord, reasons: Sequence[Reason], title: str) -> QWidget:
    code = CodeBox(title, max_lines=100_000)
    code.setMinimumHeight(48)
    code.setMaximumHeight(_TALLEST)
    highlighter = PythonHighlighter(code.document())
    code.setPlainText(program.source.rstrip("\n"))
    code.setMinimumHeight(48)
    code.setMaximumHeight(_TALLEST)
    highlighter.read_all()
    _mark_lines(code, responsible_lines(reasons))
    return code


def responsible_lines(reasons: Sequence[Reason]) -> list[int]:
    """The lines that the reasons name, in order."""
    found = {
        int(reason.data[name])
        for reason in reasons
        for name in ("source_line", "line")
        if name in reason.data
    }
    return sorted(found)


def _mark_lines(code: CodeBox, lines: Sequence[int]) -> None:
    """A line that is responsible has a ground of its own, from edge to edge."""
    marks: list[QTextEdit.ExtraSelection] = []
    for line in lines:
        block = code.document().findBlockByNumber(line - 1)
        if not block.isValid():
            continue
        mark = QTextEdit.ExtraSelection()
        colour = QColor(tokens().caution)
        colour.setAlphaF(0.22)
        mark.format.setBackground(colour)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]  # fields that the stub leaves out
        mark.format.setProperty(QTextFormat.Property.FullWidthSelection, True)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        mark.cursor = QTextCursor(block)  # pyright: ignore[reportAttributeAccessIssue]
        marks.append(mark)
    code.setExtraSelections(marks)
    if marks:
        code.setTextCursor(QTextCursor(code.document().findBlockByNumber(lines[0] - 1)))
