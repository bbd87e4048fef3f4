"""One local model: what it is, how it does here, and everything that can be done with it.

Owns the card. It must not talk to the engine. Thread: UI.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from app.engine.events import FetchEnded, FetchProgressed
from app.store.records import Problem
from app.ui import words
from app.ui.fetch_bar import FetchBar
from app.ui.flow_row import FlowRow
from app.ui.model_sample import ModelSample
from app.ui.model_settings import ModelSettingsForm
from app.ui.theme import SPACE_M, SPACE_S, SPACE_XS
from app.ui.widgets import button, column, label, restyle, row

if TYPE_CHECKING:
    from app.engine.model_status import ModelStatus
    from app.engine.shelf import Sample
    from app.settings import ModelSettings
    from models.fit import Fit


class ModelCard(QFrame):
    """One model. Each signal but `own_wanted` carries nothing; that one, `OwnModelSettings`."""

    fetch_wanted = Signal()
    pause_wanted = Signal()
    cancel_wanted = Signal()
    remove_wanted = Signal()
    default_wanted = Signal()
    sample_wanted = Signal()
    probe_wanted = Signal()
    own_wanted = Signal(object)

    def __init__(self, model: ModelStatus, common: ModelSettings) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.setAccessibleName(model.name)
        self._common = common
        self._form: ModelSettingsForm | None = None
        self._name = label(model.name, "strong", wrap=True)
        self._state = label("", "meta")
        self._facts = label("", "muted", wrap=True)
        self._fit = label("", wrap=True)
        self._measured = label("", "muted", wrap=True)
        self.bar = FetchBar()
        self.sample = ModelSample()
        self._layout = column(self, margin=SPACE_M, spacing=SPACE_XS)
        line = row(spacing=SPACE_M)
        line.addWidget(self._name, 1)
        line.addWidget(self._state)
        self._layout.addLayout(line)
        for one in (self._facts, self._fit, self._measured):
            self._layout.addWidget(one)
        self._layout.addSpacing(SPACE_XS)
        self._actions = FlowRow(spacing=SPACE_S)
        self._add_actions(model.name)
        self._layout.addWidget(self._actions)
        self._confirm = self._confirmation()
        self._layout.addWidget(self._confirm)
        self._layout.addWidget(self.bar)
        self._layout.addWidget(self.sample)
        self.bar.pause_wanted.connect(self.pause_wanted)
        self.bar.resume_wanted.connect(self.fetch_wanted)
        self.bar.cancel_wanted.connect(self.cancel_wanted)
        self.update_model(model, common)

    def _add_actions(self, name: str) -> None:
        self._fetch = self._action(self.tr("Download"), self.tr("Download {0}").format(name),
                                   self.fetch_wanted.emit, icon="ph.download-simple")  # fmt: skip
        self._test = self._action(
            self.tr("Test"), self.tr("Test {0}").format(name), self._ask_sample,
            tip=self.tr("Lets it say hello and write one program, which is checked and not run."),
        )  # fmt: skip
        self._probe = self._action(
            self.tr("Measure speed"), self.tr("Measure the speed of {0}").format(name),
            self._ask_probe, tip=self.tr("Loads it and counts the tokens that it writes a second."),
        )  # fmt: skip
        self._default = self._action(
            self.tr("Use for new chats"), self.tr("Use {0} for new chats").format(name),
            self.default_wanted.emit,
        )  # fmt: skip
        self._settings = self._action(
            self.tr("Settings"), self.tr("Settings of {0}").format(name), self._toggle_settings
        )
        self._remove = self._action(
            self.tr("Remove"), self.tr("Remove {0}").format(name), self._ask_removal
        )

    def _action(
        self,
        text: str,
        name: str,
        on_click: Callable[[], object],
        *,
        icon: str = "",
        tip: str = "",
    ) -> QPushButton:
        made = button(text, icon=icon, name=name, on_click=on_click, tip=tip)
        self._actions.add(made)
        return made

    def _confirmation(self) -> QWidget:
        made = QWidget()
        made.setProperty("role", "plain")
        lines = column(made, spacing=SPACE_XS)
        self._question = label("", wrap=True)
        lines.addWidget(self._question)
        choices = row()
        self._yes = button(self.tr("Remove model"), on_click=self._removed)
        self._no = button(self.tr("Keep model"), on_click=made.hide)
        choices.addWidget(self._yes)
        choices.addWidget(self._no)
        choices.addStretch(1)
        lines.addLayout(choices)
        made.hide()
        return made

    def update_model(self, model: ModelStatus, common: ModelSettings) -> None:
        """Show a model's state."""
        self._model, self._common = model, common
        facts = (
            self._size_text(model),
            self.tr("reads {0} tokens").format(f"{model.context_tokens:,}"),
            self.tr("licence {0}").format(model.licence),
        )
        self._facts.setText(", ".join(facts))
        self._state.setText(self._state_text(model))
        self._fit.setText(self._fit_text(model.fit))
        restyle(self._fit, "caution" if model.fit.label == "does not fit" else "body")
        self._measured.setText(self._measured_text(model))
        self._fetch.setVisible(not model.present and model.download is None)
        self._fetch.setText(self.tr("Download again") if model.damaged else self.tr("Download"))
        for one in (self._test, self._probe, self._settings):
            one.setVisible(model.present)
        self._default.setVisible(model.present and not model.default)
        self._remove.setVisible(model.present or model.damaged)
        self._actions.setVisible(model.download is None)
        self._actions.refresh()
        self.bar.show_download(model.download, model.size_bytes)
        if self._form is not None:
            self._form.show_settings(model.own, common, model.context_tokens)

    def _size_text(self, model: ModelStatus) -> str:
        if model.size_bytes:
            return words.size(model.size_bytes)
        return self.tr("about {0}").format(words.size(model.parameters * 6 // 10))

    def _state_text(self, model: ModelStatus) -> str:
        if model.damaged:
            return self.tr("damaged")
        if not model.present:
            return ""
        if model.default:
            return self.tr("used for new chats")
        return self.tr("file of another program") if model.linked else self.tr("on this machine")

    def _fit_text(self, fit: Fit) -> str:
        match fit.label:
            case "fits":
                text = self.tr("Fits into memory: takes {0} of {1} free.")
                return text.format(words.size(fit.needed_bytes), words.size(fit.free_bytes))
            case "less context":
                text = self.tr(
                    "Fits into memory if it reads at most {0} tokens. Set that as its context, "
                    "or close other programs."
                )
                return text.format(f"{fit.context_tokens:,}")
            case "does not fit":
                text = self.tr(
                    "Does not fit: needs {0} of memory, {1} are free. Choose a smaller model."
                )
                return text.format(words.size(fit.needed_bytes), words.size(fit.free_bytes))

    def _measured_text(self, model: ModelStatus) -> str:
        speed, measured = model.measured.speed, model.measured
        parts: list[str] = []
        if speed is not None:
            text = self.tr("Writes {0} tokens a second here, begins after {1}")
            parts.append(
                text.format(f"{speed.tokens_per_s:.1f}", words.seconds(speed.first_token_s))
            )
        if measured.trials:
            text = self.tr("did {0} of {1} tasks of the lab ({2})")
            share = f"{measured.passed / measured.trials:.0%}"
            parts.append(text.format(measured.passed, f"{measured.trials:,}", share))
        if not parts:
            return self.tr("Not measured on this machine yet.") if model.present else ""
        line = "; ".join(parts)
        return f"{line[0].upper()}{line[1:]}."

    def _ask_sample(self) -> None:
        self.sample.wait(self.tr("It says hello and writes a program. This can take a minute."))
        self.sample_wanted.emit()

    def _ask_probe(self) -> None:
        self.sample.wait(self.tr("It is loaded and measured."))
        self.probe_wanted.emit()

    def _ask_removal(self) -> None:
        text = (
            self.tr("Remove {0}? The file stays: it belongs to another program.")
            if self._model.linked
            else self.tr("Remove {0}? This frees {1}. It can be downloaded again.")
        )
        self._question.setText(
            text.format(self._model.name, words.size(self._model.size_bytes or None))
        )
        self._confirm.show()
        self._no.setFocus()

    def _removed(self) -> None:
        self._confirm.hide()
        self.remove_wanted.emit()

    def _toggle_settings(self) -> None:
        if self._form is not None:
            self._form.setVisible(self._form.isHidden())
            return
        self._form = ModelSettingsForm(self._model.name)
        self._form.show_settings(self._model.own, self._common, self._model.context_tokens)
        self._form.chosen.connect(self.own_wanted)
        self._layout.addWidget(self._form)

    def show_progress(self, progress: FetchProgressed) -> None:
        """Show the fetch."""
        self._actions.hide()
        self.bar.show_progress(progress)

    def show_end(self, ended: FetchEnded) -> None:
        """Show how a fetch ended."""
        self.bar.show_end(ended)

    def show_sample(self, sample: Sample) -> None:
        """Show what the model said when it was tried."""
        self.sample.show_sample(sample)

    def show_probed(self) -> None:
        """The measurement is done; the numbers come with the next status."""
        self.sample.hide()

    def show_problem(self, problem: Problem) -> None:
        """Show why something could not be done."""
        self.sample.show_problem(problem)

    def matches(self, text: str) -> bool:
        """Whether all words of `text` are in what the card says."""
        said = " ".join(
            (self._model.name, self._model.family, self._model.model_id, self._model.licence)
        ).casefold()
        return all(word in said for word in text.casefold().split())
