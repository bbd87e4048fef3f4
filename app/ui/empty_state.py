"""What an empty chat shows: the two things that are needed, and how to get them.

Owns the page. It must not talk to the engine. Thread: UI.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from app.engine.events import FetchEnded, FetchProgressed
from app.store.records import Folder
from app.ui import words
from app.ui.fetch_bar import FetchBar
from app.ui.theme import SPACE_L, SPACE_M, SPACE_S, SPACE_XL
from app.ui.widgets import button, clear, column, frame, label, plain_tooltip, row, set_icon

if TYPE_CHECKING:
    from app.engine.model_status import ModelStatus

PAGE_PX = 560
RECENT_SHOWN = 3


class EmptyState(QScrollArea):
    """Folder, model, then ask. The `..._wanted` signals with text carry a path, id or request."""

    add_folder_wanted = Signal()
    recent_wanted = Signal(str)
    fetch_wanted = Signal(str)
    pause_wanted = Signal(str)
    cancel_wanted = Signal(str)
    models_wanted = Signal()
    example_wanted = Signal(str)
    demo_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "plain")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setAccessibleName(self.tr("New chat"))
        self._model_id = ""
        self._shown_folders: object = None
        page = QWidget()
        page.setProperty("role", "ground")
        outer = row(page)
        outer.addStretch(1)
        inner = QWidget()
        inner.setMaximumWidth(PAGE_PX)
        inner.setMinimumWidth(320)
        outer.addWidget(inner, 100)
        outer.addStretch(1)
        layout = column(inner, spacing=SPACE_M)
        layout.setContentsMargins(SPACE_L, SPACE_XL, SPACE_L, SPACE_XL)
        layout.addStretch(1)
        layout.addWidget(label(self.tr("What should be done with your files?"), "empty", wrap=True))
        layout.addWidget(
            label(
                self.tr(
                    "A program works on a copy. You see every change before anything is on disk, "
                    "and you can undo it."
                ),
                "muted",
                wrap=True,
            )
        )
        layout.addSpacing(SPACE_S)
        layout.addWidget(self._folder_card())
        layout.addWidget(self._model_card())
        layout.addWidget(self._example_card())
        layout.addStretch(2)
        self.setWidget(page)
        self.show_folders((), ())
        self.show_models(None)

    def show_folders(self, folders: Sequence[Folder], recent: Sequence[str]) -> None:
        """Show this chat's folders; `recent`: paths of other chats to offer."""
        shown = (tuple(folders), tuple(recent[:RECENT_SHOWN]))
        if shown == self._shown_folders:
            return
        self._shown_folders = shown
        self._examples.setVisible(bool(folders))
        self._demo.setVisible(not folders)
        clear(self._recent)
        if folders:
            names = ", ".join(words.home_path(folder.path) for folder in folders)
            self._folder_text.setText(self.tr("Folder: {0}").format(names))
            self._add_folder.setText(self.tr("Add another"))
            return
        self._folder_text.setText(
            self.tr("Choose a folder, or drag one in. Programs reach nothing else.")
        )
        self._add_folder.setText(self.tr("Add a folder"))
        for path in recent[:RECENT_SHOWN]:
            name = words.visible(PurePath(path).name)
            made = button(name, "word", on_click=lambda path=path: self.recent_wanted.emit(path),
                          name=self.tr("Add the folder {0}").format(name))  # fmt: skip
            made.setToolTip(plain_tooltip(words.home_path(path)))
            self._recent.addWidget(made)

    def show_models(self, models: Sequence[ModelStatus] | None) -> None:
        """Show whether there is a model; None while that is not known."""
        if models is None:
            self._model_text.setText(self.tr("Looking for models."))
            self._fetch.hide()
            return
        present = [model for model in models if model.present]
        self._models.setVisible(True)
        if present:
            names = ", ".join(model.name for model in present[:2])
            self._model_text.setText(self.tr("Model: {0}, runs on this machine").format(names))
            self._fetch.hide()
            self._bar.hide()
            return
        wanted = next((model for model in models if model.default), next(iter(models), None))
        self._model_text.setText(
            self.tr("No model is on this machine yet. It runs here, offline, once it is fetched.")
        )
        if wanted is None:
            self._fetch.hide()
            return
        self._model_id = wanted.model_id
        text = self.tr("Download {0}, {1}").format(
            wanted.name, words.size(wanted.size_bytes or None)
        )
        self._fetch.setText(text)
        self._fetch.setAccessibleName(text)
        self._fetch.setVisible(wanted.download is None)
        self._bar.show_download(wanted.download, wanted.size_bytes)

    def show_progress(self, progress: FetchProgressed) -> None:
        """Show a fetch on its way."""
        if progress.model_id == self._model_id:
            self._fetch.hide()
            self._bar.show_progress(progress)

    def show_end(self, ended: FetchEnded) -> None:
        """Show how a fetch ended."""
        if ended.model_id == self._model_id:
            self._bar.show_end(ended)
            self._fetch.setVisible(bool(ended.problem) or ended.cancelled)

    def _folder_card(self) -> QWidget:
        card = frame("card")
        layout = column(card, margin=SPACE_M)
        line = row(spacing=SPACE_M)
        self._folder_text = label("", wrap=True)
        line.addWidget(self._folder_text, 1)
        self._add_folder = button("", on_click=self.add_folder_wanted.emit)
        set_icon(self._add_folder, "ph.folder-plus")
        line.addWidget(self._add_folder)
        layout.addLayout(line)
        self._recent = row()
        self._recent.setAlignment(Qt.AlignmentFlag.AlignLeft)
        layout.addLayout(self._recent)
        self._demo = button(
            self.tr("Or try it on a demo folder, a copy that is yours to keep"),
            "word",
            on_click=self.demo_wanted.emit,
        )
        layout.addWidget(self._demo, 0, Qt.AlignmentFlag.AlignLeft)
        return card

    def _model_card(self) -> QWidget:
        card = frame("card")
        layout = column(card, margin=SPACE_M)
        line = row(spacing=SPACE_M)
        self._model_text = label("", wrap=True)
        line.addWidget(self._model_text, 1)
        self._models = button(self.tr("All models"), "word", on_click=self.models_wanted.emit)
        line.addWidget(self._models)
        layout.addLayout(line)
        self._fetch = button("", "primary", icon="ph.download-simple",
                             on_click=lambda: self.fetch_wanted.emit(self._model_id))  # fmt: skip
        layout.addWidget(self._fetch, 0, Qt.AlignmentFlag.AlignLeft)
        self._bar = FetchBar()
        self._bar.pause_wanted.connect(lambda: self.pause_wanted.emit(self._model_id))
        self._bar.resume_wanted.connect(lambda: self.fetch_wanted.emit(self._model_id))
        self._bar.cancel_wanted.connect(lambda: self.cancel_wanted.emit(self._model_id))
        layout.addWidget(self._bar)
        return card

    def _example_card(self) -> QWidget:
        self._examples = QWidget()
        layout = column(self._examples, spacing=0)
        layout.addWidget(label(self.tr("For example"), "meta"))
        for text in (
            self.tr("Sort the files into folders by type"),
            self.tr("Rename the photos to start with their date"),
            self.tr("Merge all CSV files into one"),
        ):
            layout.addWidget(
                button(text, "row", on_click=lambda text=text: self.example_wanted.emit(text))
            )
        return self._examples
