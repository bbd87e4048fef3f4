"""What is set for one local model alone, with what each setting does.

Owns the form; the bounds are the settings' own. Thread: UI.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDoubleSpinBox, QGridLayout, QSpinBox, QWidget

from app.settings import OwnModelSettings
from app.ui.theme import SPACE_M, SPACE_S, SPACE_XS
from app.ui.widgets import button, column, hairline, label, row

if TYPE_CHECKING:
    from app.settings import ModelSettings

_STEP = 1024
_LEAST_CONTEXT = 1024
_MOST_THREADS = 256


class ModelSettingsForm(QWidget):
    """Context, threads and temperature. `chosen` carries an `OwnModelSettings`."""

    chosen = Signal(object)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "plain")
        self._name = name
        layout = column(self, spacing=SPACE_S)
        layout.addWidget(hairline())
        grid = QGridLayout()
        grid.setHorizontalSpacing(SPACE_M)
        grid.setVerticalSpacing(SPACE_XS)
        grid.setColumnStretch(1, 1)
        layout.addLayout(grid)
        self.context = QSpinBox()
        self.context.setGroupSeparatorShown(True)
        self.context.setSingleStep(_STEP)
        self.context.setSuffix(self.tr(" tokens"))
        self.threads = QSpinBox()
        self.threads.setRange(-1, _MOST_THREADS)
        self.temperature = QDoubleSpinBox()
        self.temperature.setDecimals(1)
        self.temperature.setSingleStep(0.1)
        self.temperature.setRange(-0.1, 2.0)
        for number, (field, title, text) in enumerate(
            (
                (
                    self.context,
                    self.tr("Context"),
                    self.tr("How much it can read at once. More takes more memory."),
                ),
                (
                    self.threads,
                    self.tr("Threads"),
                    self.tr("Cores that compute. All of them slow the rest of the machine down."),
                ),
                (
                    self.temperature,
                    self.tr("Temperature"),
                    self.tr("0 gives the same program each time; higher ones vary more."),
                ),
            )
        ):
            field.setAccessibleName(self.tr("{0} of {1}").format(title, name))
            field.setAccessibleDescription(text)
            grid.addWidget(label(title), 2 * number, 0)
            grid.addWidget(field, 2 * number, 1)
            grid.addWidget(label(text, "meta", wrap=True), 2 * number + 1, 1)
        buttons = row()
        buttons.addStretch(1)
        buttons.addWidget(button(self.tr("As for all models"), on_click=self._reset))
        buttons.addWidget(button(self.tr("Save for this model"), on_click=self._save))
        layout.addLayout(buttons)

    def show_settings(
        self, own: OwnModelSettings, common: ModelSettings, context_tokens: int
    ) -> None:
        """Show what is set; the lowest value of each field means: as for all models."""
        self.context.setRange(_LEAST_CONTEXT - _STEP, max(context_tokens, _LEAST_CONTEXT))
        as_all = self.tr("as for all: {0}")
        for field, value, shared in (
            (self.context, own.context_tokens, f"{common.context_tokens:,}"),
            (self.threads, own.threads, str(common.threads or self.tr("automatic"))),
            (self.temperature, own.temperature, f"{common.temperature:.1f}"),
        ):
            field.setSpecialValueText(as_all.format(shared))
            if isinstance(field, QDoubleSpinBox):
                field.setValue(field.minimum() if value is None else value)
            else:
                field.setValue(field.minimum() if value is None else int(value))

    def _reset(self) -> None:
        for field in (self.context, self.threads, self.temperature):
            if isinstance(field, QDoubleSpinBox):
                field.setValue(field.minimum())
            else:
                field.setValue(field.minimum())
        self._save()

    def _save(self) -> None:
        def value(field: QSpinBox) -> int | None:
            return None if field.value() == field.minimum() else field.value()

        warm = self.temperature
        unset = warm.value() == warm.minimum()
        self.chosen.emit(
            OwnModelSettings(
                context_tokens=value(self.context),
                threads=value(self.threads),
                temperature=None if unset else round(warm.value(), 1),
            )
        )
