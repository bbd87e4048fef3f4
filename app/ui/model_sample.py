"""What a model said when it was tried, or why it could not be.

Thread: UI.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from app.store.records import Problem
from app.ui import words
from app.ui.theme import SPACE_XS
from app.ui.widgets import CodeBox, ProblemBlock, clear, column, label

if TYPE_CHECKING:
    from app.engine.shelf import Sample

_LINES = 8


class ModelSample(QWidget):
    """Hidden while there is nothing to tell."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "plain")
        self._rows = column(self, spacing=SPACE_XS)
        self.hide()

    def wait(self, text: str) -> None:
        """Say what is being done."""
        clear(self._rows)
        self._rows.addWidget(label(text, "muted", wrap=True))
        self.show()

    def show_sample(self, sample: Sample) -> None:
        """Show the answer, the program, and whether it can run."""
        clear(self._rows)
        said = self.tr("It said: {0}").format(words.visible(sample.hello) or self.tr("nothing"))
        self._rows.addWidget(label(said, wrap=True, selectable=True))
        if sample.problem:
            text = self.tr("Its program cannot run: {0}").format(sample.problem)
            self._rows.addWidget(label(text, "caution", wrap=True, selectable=True))
        else:
            text = self.tr("Its program is valid. Both took {0}.")
            self._rows.addWidget(label(text.format(words.seconds(sample.seconds)), "good"))
        if sample.program:
            code = CodeBox(self.tr("The program that the model wrote"), max_lines=_LINES)
            code.setPlainText(sample.program)
            code.fit()
            self._rows.addWidget(code)
        self.show()

    def show_problem(self, problem: Problem) -> None:
        """Show why it could not be tried."""
        clear(self._rows)
        self._rows.addWidget(ProblemBlock(problem))
        self.show()
