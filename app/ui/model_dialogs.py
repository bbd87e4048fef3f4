"""The models' dialogs and their wiring to the session.

Owns which of them are open. Thread: UI.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.engine.events import FetchEnded, FetchProgressed
from app.store.records import Problem
from app.ui.found_models_dialog import FoundModelsDialog
from app.ui.models_dialog import ModelsDialog, OwnChange
from app.ui.shelf_session import OnProblem

if TYPE_CHECKING:
    from app.engine.model_status import ModelStatus
    from app.engine.shelf import Sample
    from app.engine.warm import Probe
    from app.settings import Settings
    from app.ui.session import Session
    from models.catalog import CatalogEntry


class ModelDialogs(QObject):
    """Opens them over `window`."""

    def __init__(self, session: Session, window: QWidget) -> None:
        super().__init__(window)
        self._session = session
        self._shelf = session.shelf
        self._window = window
        self.models: ModelsDialog | None = None
        self.found: FoundModelsDialog | None = None
        session.models_changed.connect(self._models_changed)
        session.settings_changed.connect(self._settings_changed)
        session.fetch_progressed.connect(self._fetch_progressed)
        session.fetch_ended.connect(self._fetch_ended)

    def show(self) -> None:
        """Open the list of models."""
        if self.models is not None:
            self.models.raise_()
            return
        dialog = ModelsDialog(self._window)
        dialog.fetch_wanted.connect(self._shelf.fetch)
        dialog.pause_wanted.connect(self._shelf.pause)
        dialog.cancel_wanted.connect(self._shelf.cancel)
        dialog.import_wanted.connect(self.take_in)
        dialog.remove_wanted.connect(self._remove)
        dialog.sample_wanted.connect(self._sample)
        dialog.probe_wanted.connect(self._probe)
        dialog.default_wanted.connect(self._use_by_default)
        dialog.own_wanted.connect(self._set_own)
        dialog.others_wanted.connect(self.show_found)
        dialog.finished.connect(self._closed)
        self.models = dialog
        if self._session.settings is not None:
            dialog.show_common(self._session.settings.model)
        if self._session.models:
            dialog.show_models(self._session.models)
        self._session.refresh_models()
        dialog.show()

    def show_found(self) -> None:
        """Open the list of what other programs have."""
        if self.found is not None:
            self.found.raise_()
            return
        dialog = FoundModelsDialog(self.models or self._window)
        dialog.use_wanted.connect(self.take_in)
        dialog.finished.connect(self._found_closed)
        self.found = dialog
        self._shelf.elsewhere(dialog.show_found, dialog)
        dialog.show()

    def take_in(self, path: str) -> None:
        """Use a model file that is on this machine."""

        def taken(entry: CatalogEntry) -> None:
            self._session.refresh_models()
            if self.models is not None:
                self.models.show_taken(entry.name)
            if self.found is not None:
                self._shelf.elsewhere(self.found.show_found, self.found)

        def refused(problem: Problem) -> None:
            if self.models is not None:
                self.models.show_refused(problem)
            else:
                self._session.problem_arrived.emit(problem)

        self._shelf.take_in(path, taken, refused, self)

    def _remove(self, model_id: str) -> None:
        name = next((m.name for m in self._session.models if m.model_id == model_id), model_id)

        def removed(freed: int | None) -> None:
            self._session.refresh_models()
            if self.models is not None:
                self.models.show_removed(name, freed)

        self._shelf.remove(model_id, removed, self._failing(model_id), self)

    def _sample(self, model_id: str) -> None:
        def said(sample: Sample) -> None:
            if self.models is not None:
                self.models.show_sample(model_id, sample)

        self._shelf.sample(model_id, said, self._failing(model_id), self)

    def _probe(self, model_id: str) -> None:
        def measured(_probe: Probe) -> None:
            self._session.refresh_models()
            if self.models is not None:
                self.models.show_probed(model_id)

        self._shelf.probe(model_id, measured, self._failing(model_id), self)

    def _failing(self, model_id: str) -> OnProblem:
        def failed(problem: Problem) -> None:
            if self.models is not None:
                self.models.show_problem(model_id, problem)

        return failed

    def _use_by_default(self, model_id: str) -> None:
        settings = self._session.settings
        if settings is not None:
            self._session.change_settings(settings.model_copy(update={"default_model": model_id}))

    def _set_own(self, change: OwnChange) -> None:
        settings = self._session.settings
        if settings is None:
            return
        own = {**settings.own, change.model_id: change.own}
        if change.own == type(change.own)():
            del own[change.model_id]
        self._session.change_settings(settings.model_copy(update={"own": own}))

    def _closed(self, _result: int) -> None:
        self.models = None
        if self.found is not None:
            self.found.close()

    def _found_closed(self, _result: int) -> None:
        self.found = None

    def _models_changed(self, models: tuple[ModelStatus, ...]) -> None:
        if self.models is not None:
            self.models.show_models(models)

    def _settings_changed(self, settings: Settings) -> None:
        if self.models is not None:
            self.models.show_common(settings.model)

    def _fetch_progressed(self, progress: FetchProgressed) -> None:
        if self.models is not None:
            self.models.show_progress(progress)

    def _fetch_ended(self, ended: FetchEnded) -> None:
        if self.models is not None:
            self.models.show_end(ended)
