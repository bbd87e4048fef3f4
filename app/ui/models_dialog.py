"""The local models: what is here, what can be had, how each does here, and what to do with it.

Owns the dialog: search, filter, cards, and taking in files of the person's. It must not talk to
the engine. Thread: UI.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QWidget,
)

from app.engine.events import FetchEnded, FetchProgressed
from app.settings import ModelSettings, OwnModelSettings
from app.store.records import Problem
from app.ui import words
from app.ui.model_card import ModelCard
from app.ui.theme import SPACE_L, SPACE_M, SPACE_S
from app.ui.widgets import button, clear, column, label, row, scrolling

if TYPE_CHECKING:
    from app.engine.model_status import ModelStatus
    from app.engine.shelf import Sample


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnChange:
    """New settings for one model alone."""

    model_id: str
    own: OwnModelSettings


class ModelsDialog(QDialog):
    """Lists the models. Signals carry a model's id; `import_wanted` the path of a model file,
    `own_wanted` an `OwnChange`, `others_wanted` nothing."""

    fetch_wanted = Signal(str)
    pause_wanted = Signal(str)
    cancel_wanted = Signal(str)
    remove_wanted = Signal(str)
    default_wanted = Signal(str)
    sample_wanted = Signal(str)
    probe_wanted = Signal(str)
    import_wanted = Signal(str)
    own_wanted = Signal(object)
    others_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Models"))
        self.setModal(False)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._cards: dict[str, ModelCard] = {}
        self._models: tuple[ModelStatus, ...] = ()
        self._common = ModelSettings()
        layout = column(self, margin=SPACE_L, spacing=SPACE_M)
        layout.addWidget(label(self.tr("Models on this machine"), "heading"))
        text = self.tr("They run here and send nothing. Larger ones answer better and slower.")
        layout.addWidget(label(text, "muted", wrap=True))
        layout.addLayout(self._filters())
        page = QWidget()
        page.setProperty("role", "ground")
        self._rows = column(page, spacing=SPACE_S)
        self._rows.addWidget(label(self.tr("Looking for models."), "muted"))
        layout.addWidget(scrolling(page, sideways=False), 1)
        self._none = label(self.tr("No model is like that. Clear the search."), "muted", wrap=True)
        self._none.hide()
        layout.addWidget(self._none)
        self._told = label("", "muted", wrap=True)
        self._told.hide()
        layout.addWidget(self._told)
        buttons = row()
        buttons.addWidget(button(self.tr("Use a model file…"), on_click=self._choose_file))
        buttons.addWidget(
            button(self.tr("Models of other programs…"), on_click=self.others_wanted.emit)
        )
        buttons.addStretch(1)
        buttons.addWidget(button(self.tr("Close"), on_click=self.close))
        layout.addLayout(buttons)
        self.setAcceptDrops(True)
        self.resize(680, 640)

    def _filters(self) -> QHBoxLayout:
        line = row()
        self.search = QLineEdit()
        self.search.setPlaceholderText(self.tr("Search by name, family or licence"))
        self.search.setAccessibleName(self.tr("Search models"))
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._filter)
        line.addWidget(self.search, 1)
        self.kinds = QComboBox()
        self.kinds.setAccessibleName(self.tr("Which models are shown"))
        for value, text in (
            ("all", self.tr("All models")),
            ("here", self.tr("On this machine")),
            ("fits", self.tr("That fit into memory")),
            ("absent", self.tr("To be downloaded")),
        ):
            self.kinds.addItem(text, value)
        self.kinds.currentIndexChanged.connect(self._filter)
        line.addWidget(self.kinds)
        return line

    def _choose_file(self) -> None:
        chooser = QFileDialog(self, self.tr("Use a model file"))
        chooser.setFileMode(QFileDialog.FileMode.ExistingFile)
        chooser.setNameFilter(self.tr("Models (*.gguf)"))
        chooser.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        chooser.fileSelected.connect(self.import_wanted)
        chooser.open()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Model files can be dropped."""
        if _model_files(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Use the files that were dropped."""
        for path in _model_files(event.mimeData()):
            self.import_wanted.emit(path)

    def show_common(self, common: ModelSettings) -> None:
        """What is set for all models."""
        self._common = common
        self.show_models(self._models)

    def show_models(self, models: Sequence[ModelStatus]) -> None:
        """Show the models; progress that is on the screen stays."""
        self._models = tuple(models)
        if list(self._cards) != [model.model_id for model in models]:
            clear(self._rows)
            self._cards.clear()
            for model in models:
                card = self._card(model)
                self._cards[model.model_id] = card
                self._rows.addWidget(card)
            self._rows.addStretch(1)
        for model in models:
            self._cards[model.model_id].update_model(model, self._common)
        self._filter()

    def _card(self, model: ModelStatus) -> ModelCard:
        card, model_id = ModelCard(model, self._common), model.model_id
        for wish, told in (
            (card.fetch_wanted, self.fetch_wanted),
            (card.pause_wanted, self.pause_wanted),
            (card.cancel_wanted, self.cancel_wanted),
            (card.remove_wanted, self.remove_wanted),
            (card.default_wanted, self.default_wanted),
            (card.sample_wanted, self.sample_wanted),
            (card.probe_wanted, self.probe_wanted),
        ):
            wish.connect(lambda told=told: told.emit(model_id))

        def own_chosen(own: OwnModelSettings) -> None:
            self.own_wanted.emit(OwnChange(model_id=model_id, own=own))

        card.own_wanted.connect(own_chosen)
        return card

    def _filter(self, _changed: object = None) -> None:
        text, kind = self.search.text(), self.kinds.currentData()
        shown = 0
        for model in self._models:
            fits = {
                "all": True,
                "here": model.present,
                "fits": model.fit.label != "does not fit",
                "absent": not model.present,
            }[kind]
            card = self._cards[model.model_id]
            card.setVisible(fits and card.matches(text))
            shown += fits and card.matches(text)
        self._none.setVisible(not shown and bool(self._models))

    def show_progress(self, progress: FetchProgressed) -> None:
        """Show a fetch on its way."""
        if (card := self._cards.get(progress.model_id)) is not None:
            card.show_progress(progress)

    def show_end(self, ended: FetchEnded) -> None:
        """Show how a fetch ended."""
        if (card := self._cards.get(ended.model_id)) is not None:
            card.show_end(ended)

    def show_sample(self, model_id: str, sample: Sample) -> None:
        """Show what a model said when it was tried."""
        if (card := self._cards.get(model_id)) is not None:
            card.show_sample(sample)

    def show_probed(self, model_id: str) -> None:
        """A model was measured."""
        if (card := self._cards.get(model_id)) is not None:
            card.show_probed()

    def show_problem(self, model_id: str, problem: Problem) -> None:
        """Show why something could not be done with a model."""
        if (card := self._cards.get(model_id)) is not None:
            card.show_problem(problem)

    def show_removed(self, name: str, freed_bytes: int | None) -> None:
        """Say what a removal freed."""
        self._tell(
            self.tr("{0} is removed, {1} freed.").format(name, words.size(freed_bytes))
            if freed_bytes
            else self.tr("{0} is off the list; its file stays where it was.").format(name)
        )

    def show_taken(self, name: str) -> None:
        """Say that a file was taken in."""
        self._tell(self.tr("{0} can be used now.").format(name))

    def show_refused(self, problem: Problem) -> None:
        """Say why a file could not be taken in."""
        self._tell(f"{problem.message} {problem.hint}".strip())

    def _tell(self, text: str) -> None:
        self._told.setText(text)
        self._told.show()


def _model_files(data: QMimeData) -> list[str]:
    paths = [url.toLocalFile() for url in data.urls() if url.isLocalFile()]
    return [path for path in paths if path.lower().endswith(".gguf")]
