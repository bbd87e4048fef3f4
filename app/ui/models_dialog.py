"""The local models: what is here, what can be fetched, what each needs.

Owns the dialog. It must not talk to the engine. Thread: UI.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QDialog, QFileDialog, QFrame, QScrollArea, QWidget

from app.engine.events import FetchEnded, FetchProgressed
from app.ui import words
from app.ui.fetch_bar import FetchBar
from app.ui.theme import SPACE_L, SPACE_M, SPACE_S, SPACE_XS
from app.ui.widgets import button, clear, column, label, row

if TYPE_CHECKING:
    from app.engine.model_status import ModelStatus
    from models.fit import Fit


class ModelsDialog(QDialog):
    """Lists the models. `fetch_wanted`, `cancel_wanted` and `remove_wanted` carry a model's id,
    `import_wanted` the path of a model file."""

    fetch_wanted = Signal(str)
    cancel_wanted = Signal(str)
    remove_wanted = Signal(str)
    import_wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Models"))
        self.setModal(False)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._cards: dict[str, _ModelCard] = {}
        layout = column(self, margin=SPACE_L, spacing=SPACE_M)
        layout.addWidget(label(self.tr("Models on this machine"), "heading"))
        text = self.tr("They run here and send nothing. Larger ones answer better and slower.")
        layout.addWidget(label(text, "muted", wrap=True))
        page = QWidget()
        page.setProperty("role", "ground")
        self._rows = column(page, spacing=SPACE_S)
        self._rows.addWidget(label(self.tr("Looking for models."), "muted"))
        area = QScrollArea()
        area.setProperty("role", "plain")
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidgetResizable(True)
        area.setWidget(page)
        layout.addWidget(area, 1)
        buttons = row()
        buttons.addWidget(button(self.tr("Use a model file…"), on_click=self._choose_file))
        buttons.addStretch(1)
        buttons.addWidget(button(self.tr("Close"), on_click=self.close))
        layout.addLayout(buttons)
        self.setAcceptDrops(True)
        self.resize(620, 540)

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

    def show_models(self, models: Sequence[ModelStatus]) -> None:
        """Show the models; progress that is on the screen stays."""
        if list(self._cards) != [model.model_id for model in models]:
            clear(self._rows)
            self._cards.clear()
            for model in models:
                card = _ModelCard(model)
                card.fetch_wanted.connect(self.fetch_wanted)
                card.cancel_wanted.connect(self.cancel_wanted)
                card.remove_wanted.connect(self.remove_wanted)
                self._cards[model.model_id] = card
                self._rows.addWidget(card)
            self._rows.addStretch(1)
        for model in models:
            self._cards[model.model_id].update_model(model)

    def show_progress(self, progress: FetchProgressed) -> None:
        """Show a fetch on its way."""
        if (card := self._cards.get(progress.model_id)) is not None:
            card.show_progress(progress)

    def show_end(self, ended: FetchEnded) -> None:
        """Show how a fetch ended."""
        if (card := self._cards.get(ended.model_id)) is not None:
            card.bar.show_end(ended)


def _model_files(data: QMimeData) -> list[str]:
    paths = [url.toLocalFile() for url in data.urls() if url.isLocalFile()]
    return [path for path in paths if path.lower().endswith(".gguf")]


class _ModelCard(QFrame):
    """One model."""

    fetch_wanted = Signal(str)
    cancel_wanted = Signal(str)
    remove_wanted = Signal(str)

    def __init__(self, model: ModelStatus) -> None:
        super().__init__()
        self.setProperty("role", "card")
        layout = column(self, margin=SPACE_M, spacing=SPACE_XS)
        line = row(spacing=SPACE_M)
        self._name = label(model.name, "strong", wrap=True)
        self._state = label("", "meta")
        self._fetch = button(self.tr("Download"), icon="ph.download-simple",
                             name=self.tr("Download {0}").format(model.name),
                             on_click=lambda: self.fetch_wanted.emit(model.model_id))  # fmt: skip
        line.addWidget(self._name, 1)
        line.addWidget(self._state)
        line.addWidget(self._fetch)
        self._remove = button(self.tr("Remove"), name=self.tr("Remove {0}").format(model.name),
                              on_click=lambda: self.remove_wanted.emit(model.model_id))  # fmt: skip
        line.addWidget(self._remove)
        layout.addLayout(line)
        self._facts = label("", "muted", wrap=True)
        layout.addWidget(self._facts)
        self.bar = FetchBar()
        self.bar.cancel_wanted.connect(lambda: self.cancel_wanted.emit(model.model_id))
        layout.addWidget(self.bar)
        self.update_model(model)

    def update_model(self, model: ModelStatus) -> None:
        """Show a model's state."""
        name = model.name
        self._name.setText(self.tr("{0}, the default").format(name) if model.default else name)
        facts = (
            words.size(model.size_bytes or None),
            self.tr("reads {0} tokens").format(f"{model.context_tokens:,}"),
            self.tr("licence {0}").format(model.licence),
            self._fit_text(model.fit),
        )
        self._facts.setText(", ".join(facts))
        self._facts.setToolTip(model.fit.advice)
        self._remove.setVisible(model.present and not model.fetching)
        self._state.setText(self.tr("on this machine") if model.present else "")
        self._fetch.setVisible(not model.present and not model.fetching)
        self.bar.set_running(model.fetching)

    def _fit_text(self, fit: Fit) -> str:
        match fit.label:
            case "fits":
                return self.tr("fits into memory")
            case "less context":
                text = self.tr("fits into memory if it reads at most {0} tokens")
                return text.format(f"{fit.context_tokens:,}")
            case "does not fit":
                text = self.tr("does not fit: needs {0} of memory")
                return text.format(words.size(fit.needed_bytes))

    def show_progress(self, progress: FetchProgressed) -> None:
        """Show the fetch."""
        self._fetch.hide()
        self.bar.show_progress(progress)
