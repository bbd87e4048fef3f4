"""The settings: look, default model, how models run, limits of a program, undo,
secrets, network, prices.

Owns the form, a page a topic, which is made from the settings' own fields, so that bounds are said
once. It must not store anything: a change is carried by `chosen`. Thread: UI.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDoubleSpinBox,
    QFormLayout,
    QSpinBox,
    QTabWidget,
    QWidget,
)

from app.ui import words
from app.ui.grants_page import GrantsPage
from app.ui.network_page import NetworkPage
from app.ui.prices_page import PricesPage
from app.ui.theme import SPACE_L, SPACE_M, SPACE_S
from app.ui.widgets import button, column, label, row

if TYPE_CHECKING:
    from pydantic import BaseModel

    from app.engine.keeper import UndoSpace
    from app.engine.model_status import ModelStatus
    from app.settings import Settings

type _Spin = QSpinBox | QDoubleSpinBox


class SettingsDialog(QDialog):
    """A form of the settings. `chosen` carries the new `Settings`."""

    chosen = Signal(object)

    def __init__(
        self, settings: Settings, models: Sequence[ModelStatus], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Settings"))
        self.setModal(False)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._settings = settings
        self._numbers: dict[tuple[str, str], _Spin] = {}
        self.pages = QTabWidget()
        self.pages.setDocumentMode(True)
        self.pages.tabBar().setDrawBase(False)
        self.pages.setAccessibleName(self.tr("Pages of the settings"))
        layout = column(self, margin=SPACE_L, spacing=SPACE_M)
        layout.addWidget(self.pages)
        general = self._page(self.tr("General"))
        self._add_look(general)
        self._add_model(general, models)
        self._add_numbers(
            self._page(self.tr("Local models")),
            "model",
            settings.model,
            {
                "threads": (self.tr("Threads"), self.tr("automatic"), ""),
                "context_tokens": (self.tr("Context"), "", self.tr(" tokens")),
                "reply_tokens": (self.tr("Longest reply"), "", self.tr(" tokens")),
                "temperature": (self.tr("Temperature"), "", ""),
                "tries": (self.tr("Tries of a program"), "", ""),
            },
        )
        self._add_numbers(
            self._page(self.tr("Limits of a program")),
            "sandbox",
            settings.sandbox,
            {
                "interpreter_s": (self.tr("Computing time"), "", self.tr(" s")),
                "memory_mib": (self.tr("Memory"), "", self.tr(" MiB")),
                "file_calls": (self.tr("File operations"), "", ""),
                "tool_calls": (self.tr("Tool calls"), "", ""),
                "staged_mib": (self.tr("New content, a turn"), "", self.tr(" MiB")),
            },
        )
        self._add_vault(self._page(self.tr("Secrets")))
        self.grants = GrantsPage()
        self.pages.addTab(self.grants, self.tr("Allowed"))
        self.network = NetworkPage(settings.network)
        self.pages.addTab(self.network, self.tr("Network"))
        self.prices = PricesPage(settings.remote)
        self.pages.addTab(self.prices, self.tr("Models elsewhere"))
        self._add_undo(self._page(self.tr("Undo")))
        buttons = row()
        buttons.addStretch(1)
        buttons.addWidget(button(self.tr("Discard changes"), on_click=self.close))
        buttons.addWidget(button(self.tr("Save settings"), "primary", on_click=self._save))
        layout.addLayout(buttons)
        self.resize(780, 0)

    def _page(self, title: str) -> QFormLayout:
        page = QWidget()
        page.setProperty("role", "plain")
        form = QFormLayout(page)
        form.setContentsMargins(0, SPACE_M, 0, 0)
        form.setHorizontalSpacing(SPACE_L)
        form.setVerticalSpacing(SPACE_S)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self.pages.addTab(page, title)
        return form

    def _add_look(self, form: QFormLayout) -> None:
        self.theme = QComboBox()
        self.theme.setAccessibleName(self.tr("Theme"))
        for value, text in (
            ("system", self.tr("As the system")),
            ("light", self.tr("Light")),
            ("dark", self.tr("Dark")),
        ):
            self.theme.addItem(text, value)
        self.theme.setCurrentIndex(self.theme.findData(self._settings.theme))
        form.addRow(self.tr("Theme"), self.theme)

    def _add_model(self, form: QFormLayout, models: Sequence[ModelStatus]) -> None:
        self.model = QComboBox()
        self.model.setAccessibleName(self.tr("Model of new chats"))
        for model in models:
            self.model.addItem(model.name, model.model_id)
        current = self._settings.default_model
        if self.model.findData(current) < 0:
            self.model.addItem(current, current)
        self.model.setCurrentIndex(self.model.findData(current))
        form.addRow(self.tr("Model of new chats"), self.model)

    def _add_numbers(
        self,
        form: QFormLayout,
        page: str,
        values: BaseModel,
        texts: dict[str, tuple[str, str, str]],
    ) -> None:
        for name, (text, special, suffix) in texts.items():
            low, high = _bounds(values, name)
            value = getattr(values, name)
            if isinstance(value, float):
                made: _Spin = QDoubleSpinBox()
                made.setDecimals(1)
                made.setSingleStep(0.1 if high <= 10 else 1.0)
                made.setRange(max(low, 0.1 if name == "interpreter_s" else low), high)
            else:
                made = QSpinBox()
                made.setRange(int(low), int(high))
                made.setGroupSeparatorShown(True)
            _set_value(made, value)
            made.setSuffix(suffix)
            made.setSpecialValueText(special)
            made.setAccessibleName(text)
            self._numbers[page, name] = made
            form.addRow(text, made)

    def _add_undo(self, form: QFormLayout) -> None:
        unbound = self.tr("without bound")
        self._add_numbers(
            form,
            "undo",
            self._settings.undo,
            {
                "keep_days": (self.tr("Keep for"), unbound, self.tr(" days")),
                "keep_mib": (self.tr("Keep at most"), unbound, self.tr(" MiB")),
            },
        )
        self._numbers["undo", "keep_mib"].setSingleStep(1024)
        self._bin = QCheckBox(self.tr("Put what is deleted into the system's bin too"))
        self._bin.setChecked(self._settings.undo.system_bin)
        form.addRow(self._bin)
        self._bounds = label("", wrap=True)
        form.addRow(self._bounds)
        latest = self.tr("The latest turn always stays, however old or large it is.")
        form.addRow(label(latest, "muted", wrap=True))
        self._space = label(self.tr("Reading how much space undo takes."), "muted", wrap=True)
        form.addRow(self._space)
        for name in ("keep_days", "keep_mib"):
            self._numbers["undo", name].valueChanged.connect(self._tell_bounds)
        self._tell_bounds()

    def _add_vault(self, form: QFormLayout) -> None:
        self.keep = QComboBox()
        self.keep.setAccessibleName(self.tr("New secrets are kept in"))
        for value, text in (
            ("automatic", self.tr("The keyring, or a file where there is none")),
            ("keyring", self.tr("The system's keyring")),
            ("file", self.tr("An encrypted file with a passphrase")),
        ):
            self.keep.addItem(text, value)
        self.keep.setCurrentIndex(self.keep.findData(self._settings.vault.keep))
        form.addRow(self.tr("New secrets are kept in"), self.keep)
        waits = (self.tr("Wait for the keyring"), "", self.tr(" s"))
        self._add_numbers(form, "vault", self._settings.vault, {"keyring_timeout_s": waits})

    def _tell_bounds(self, _value: float = 0) -> None:
        days, mib = (int(self._numbers["undo", name].value()) for name in ("keep_days", "keep_mib"))
        self._bounds.setText(words.undo_bounds(days, mib))

    def show_space(self, space: UndoSpace) -> None:
        """Say how much undo takes on the disk now."""
        self._space.setText(
            self.tr("It takes {0} now, for {1}.").format(
                words.size(space.size_bytes), words.count(space.runs, "turn", "turns")
            )
            if space.runs
            else self.tr("It takes nothing now: there is nothing to undo.")
        )

    def _save(self) -> None:
        settings = self._settings
        network, remote = self.network.chosen(), self.prices.chosen()
        if network is None or remote is None:
            self.pages.setCurrentWidget(self.network if network is None else self.prices)
            return
        pages: dict[str, dict[str, float]] = {"model": {}, "sandbox": {}, "undo": {}, "vault": {}}
        pages["undo"]["system_bin"] = self._bin.isChecked()
        for (page, name), field in self._numbers.items():
            pages[page][name] = field.value()
        self.chosen.emit(
            settings.model_copy(
                update={
                    "theme": self.theme.currentData(),
                    "network": network,
                    "remote": settings.remote.model_copy(update=remote),
                    "default_model": self.model.currentData(),
                    "model": settings.model.model_copy(update=pages["model"]),
                    "sandbox": settings.sandbox.model_copy(update=pages["sandbox"]),
                    "undo": settings.undo.model_copy(update=pages["undo"]),
                    "vault": settings.vault.model_copy(
                        update={"keep": self.keep.currentData(), **pages["vault"]}
                    ),
                }
            )
        )
        self.close()


def _set_value(field: _Spin, value: float) -> None:
    if isinstance(field, QSpinBox):
        field.setValue(int(value))
    else:
        field.setValue(value)


def _bounds(values: BaseModel, name: str) -> tuple[float, float]:
    """The bounds that the settings themselves declare for a number."""
    low, high = 0.0, 2_147_483_647.0
    for rule in type(values).model_fields[name].metadata:
        rule_any: Any = rule
        low = float(getattr(rule_any, "ge", getattr(rule_any, "gt", low)))
        high = float(getattr(rule_any, "le", getattr(rule_any, "lt", high)))
    return low, high
