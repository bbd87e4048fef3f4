"""The trials behind a cell of the heat map, and one trial's way step by step, or two side by side.

Owns the dialog. It must not talk to the engine. Thread: UI.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QFrame,
    QListWidget,
    QListWidgetItem,
    QScrollArea,
    QSplitter,
    QWidget,
)

from app.lab.standings import Shown
from app.ui import words
from app.ui.heat_map import short_name
from app.ui.highlight import PythonHighlighter
from app.ui.theme import SPACE_L, SPACE_M, SPACE_S
from app.ui.widgets import CodeBox, button, clear, column, label, row

_SHOWN_EFFECTS = 12
_AT_ONCE = 2


class TrialsDialog(QDialog):
    """Lists trials; one or two chosen ones are shown beside the list."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setModal(False)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._trials: list[Shown] = []
        layout = column(self, margin=SPACE_L, spacing=SPACE_M)
        layout.addWidget(label(title, "heading"))
        hint = self.tr("Choose one trial, or two (Ctrl) to see them side by side.")
        layout.addWidget(label(hint, "muted", wrap=True))
        self._list = QListWidget()
        self._list.setAccessibleName(self.tr("Trials"))
        self._list.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self._list.itemSelectionChanged.connect(self._show_chosen)
        self._sides = [_TrialView() for _ in range(_AT_ONCE)]
        splitter = QSplitter(Qt.Orientation.Horizontal)
        splitter.addWidget(self._list)
        for side in self._sides:
            splitter.addWidget(side)
        for number in range(_AT_ONCE + 1):
            splitter.setStretchFactor(number, int(number > 0))
            splitter.setCollapsible(number, False)
        splitter.setSizes([260, 420, 420])
        layout.addWidget(splitter, 1)
        buttons = row()
        buttons.addStretch(1)
        buttons.addWidget(button(self.tr("Close"), on_click=self.close))
        layout.addLayout(buttons)
        self.resize(1000, 640)
        self._show_chosen()

    def show_trials(self, trials: Sequence[Shown]) -> None:
        """Fill the list."""
        self._trials = list(trials)
        self._list.clear()
        for shown in self._trials:
            trial = shown.trial
            mark = self.tr("passed") if trial.passed else self.tr("failed")
            if trial.broken:
                mark = self.tr("broken")
            text = f"{mark}  {trial.task}  #{trial.seed}"
            item = QListWidgetItem(text)
            item.setToolTip(words.visible(trial.reason))
            self._list.addItem(item)
        if self._trials:
            self._list.setCurrentRow(0)

    def _show_chosen(self) -> None:
        rows = [index.row() for index in self._list.selectedIndexes()][:_AT_ONCE]
        chosen = [self._trials[number] for number in rows]
        other = chosen[1] if len(chosen) > 1 else None
        self._sides[0].show_trial(chosen[0] if chosen else None, other)
        self._sides[1].setVisible(other is not None)
        if other is not None:
            self._sides[1].show_trial(other, chosen[0])


class _TrialView(QScrollArea):
    """One trial: what was asked, each program with its result, the effects, the verdict."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "plain")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        page = QWidget()
        page.setProperty("role", "ground")
        self._column = column(page, margin=SPACE_S, spacing=SPACE_S)
        self.setWidget(page)

    def show_trial(self, shown: Shown | None, other: Shown | None) -> None:
        """Show a trial; what differs from `other` is marked."""
        clear(self._column)
        if shown is None:
            self._column.addWidget(label(self.tr("No trial is chosen."), "muted"))
            self._column.addStretch(1)
            return
        trial = shown.trial
        self._add(f"{short_name(trial.model_id)}, {trial.task} #{trial.seed}", "strong")
        verdict = self.tr("The verifier says: done right.")
        if not trial.passed:
            verdict = self.tr("The verifier says: {0}").format(trial.reason)
        self._add(verdict, "good" if trial.passed else "caution")
        tokens_text = self.tr("{0} tokens, {1}, {2}").format(
            f"{trial.input_tokens + trial.output_tokens:,}",
            words.seconds(trial.seconds),
            words.count(trial.programs, "program", "programs"),
        )
        self._add(tokens_text, "muted")
        if shown.trajectory is None:
            self._add(self.tr("Its steps are not on this machine."), "muted")
        else:
            others = _sources(other)
            self._add_steps(shown.trajectory, others)
        self._column.addStretch(1)

    def _add_steps(self, trajectory: Mapping[str, Any], others: Sequence[str]) -> None:
        turn: Mapping[str, Any] = trajectory.get("turn") or {}
        self._add(self.tr("Asked"), "strong")
        self._add(str(trajectory.get("instruction", "")))
        programs: Sequence[Mapping[str, Any]] = turn.get("programs") or ()
        for number, program in enumerate(programs):
            source = str(program.get("source", ""))
            same = number < len(others) and others[number].strip() == source.strip()
            differs = self.tr(" (differs)") if others and not same else ""
            self._add(self.tr("Program {0}").format(number + 1) + differs, "strong")
            code = CodeBox(self.tr("Program {0}").format(number + 1), max_lines=30)
            highlighter = PythonHighlighter(code.document())
            code.setPlainText(source)
            highlighter.read_all()
            code.fit()
            self._column.addWidget(code)
            self._add_result(program)
        effects: Sequence[Mapping[str, Any]] = turn.get("effects") or ()
        if effects:
            self._add(self.tr("Did"), "strong")
            for effect in effects[:_SHOWN_EFFECTS]:
                target = f" -> {effect['target']}" if effect.get("target") else ""
                self._add(f"{effect.get('kind')} {effect.get('path')}{target}", "muted")
            if len(effects) > _SHOWN_EFFECTS:
                rest = len(effects) - _SHOWN_EFFECTS
                self._add(self.tr("and {0} more").format(rest), "muted")
        if turn.get("answer"):
            self._add(self.tr("Answered"), "strong")
            self._add(str(turn["answer"]))

    def _add_result(self, program: Mapping[str, Any]) -> None:
        error: Mapping[str, Any] | None = program.get("error")
        if error:
            self._add(f"{error.get('type')}: {error.get('message')}", "caution")
        elif program.get("printed"):
            self._add(str(program["printed"]), "muted")

    def _add(self, text: str, role: Any = "body") -> None:
        self._column.addWidget(label(text, role, wrap=True, selectable=True))


def _sources(shown: Shown | None) -> list[str]:
    trajectory: Mapping[str, Any] = (shown.trajectory if shown is not None else None) or {}
    turn: Mapping[str, Any] = trajectory.get("turn") or {}
    return [str(program.get("source", "")) for program in turn.get("programs") or ()]
