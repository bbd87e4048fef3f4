"""The settings' page about models elsewhere: how much they think, and prices of the person's own.

Owns the form. A price goes before the price list's. Thread: UI.
"""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation

from pydantic import ValidationError
from PySide6.QtWidgets import QComboBox, QFormLayout, QGridLayout, QLineEdit, QWidget

from app.settings import PriceSettings, RemoteSettings
from app.ui import words
from app.ui.theme import SPACE_L, SPACE_M, SPACE_S
from app.ui.widgets import button, clear, column, label, row


class PricesPage(QWidget):
    """A form of the thinking level and the own prices of `RemoteSettings`."""

    def __init__(self, settings: RemoteSettings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "plain")
        self._prices = list(settings.prices)
        layout = column(self, spacing=SPACE_S)
        layout.setContentsMargins(0, SPACE_M, 0, 0)
        form = QFormLayout()
        form.setHorizontalSpacing(SPACE_L)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self.thinking = QComboBox()
        self.thinking.setAccessibleName(self.tr("Thinking"))
        for value, text in (
            ("default", self.tr("As the provider has it")),
            ("off", self.tr("Off: quickest and cheapest")),
            ("low", self.tr("Little")),
            ("medium", self.tr("Middling")),
            ("high", self.tr("Much: slowest and dearest")),
        ):
            self.thinking.addItem(text, value)
        self.thinking.setCurrentIndex(self.thinking.findData(settings.thinking))
        form.addRow(self.tr("Thinking"), self.thinking)
        layout.addLayout(form)
        layout.addWidget(label(self.tr("Own prices, a million tokens"), "strong"))
        self._rows = column(spacing=SPACE_S)
        layout.addLayout(self._rows)
        layout.addLayout(self._adder())
        self._wrong = label("", "caution", wrap=True)
        self._wrong.hide()
        layout.addWidget(self._wrong)
        layout.addStretch(1)
        self._show()

    def _adder(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setSpacing(SPACE_S)
        self.model = self._field(self.tr("Model"), "openai:gpt-5")
        self.input = self._field(self.tr("Price of input"), self.tr("input, 1.25"))
        self.cached = self._field(self.tr("Price of cached input"), self.tr("cached, or empty"))
        self.output = self._field(self.tr("Price of output"), self.tr("output, 10"))
        self.currency = self._field(self.tr("Currency"), "USD")
        self.currency.setText("USD")
        self.date = self._field(self.tr("Date of the price"), "2026-11-30")
        self.date.setText(datetime.now(UTC).date().isoformat())
        grid.addWidget(self.model, 0, 0, 1, 3)
        for place, field in enumerate((self.input, self.cached, self.output)):
            grid.addWidget(field, 1, place)
        grid.addWidget(self.currency, 2, 0)
        grid.addWidget(self.date, 2, 1)
        grid.addWidget(button(self.tr("Add price"), on_click=self.add), 2, 2)
        return grid

    def _field(self, name: str, example: str) -> QLineEdit:
        made = QLineEdit()
        made.setAccessibleName(name)
        made.setPlaceholderText(example)
        return made

    def add(self) -> bool:
        """Take the price that was typed; says what is wrong with it and returns False."""
        try:
            cached = self.cached.text().strip()
            price = PriceSettings(
                model=self.model.text().strip(),
                input=Decimal(self.input.text().strip()),
                output=Decimal(self.output.text().strip()),
                cached=Decimal(cached) if cached else None,
                currency=self.currency.text().strip().upper(),
                date=self.date.text().strip(),
            )
        except InvalidOperation:
            return self._refuse(self.tr("A price is a number, such as 1.25."))
        except ValidationError:
            return self._refuse(
                self.tr("A currency has three letters, a date is 2026-11-30, no price is below 0.")
            )
        if ":" not in price.model:
            return self._refuse(self.tr("A model is written PROVIDER:NAME, as openai:gpt-5."))
        self._prices = [*(one for one in self._prices if one.model != price.model), price]
        for field in (self.model, self.input, self.cached, self.output):
            field.clear()
        self._wrong.hide()
        self._show()
        return True

    def _refuse(self, text: str) -> bool:
        self._wrong.setText(text)
        self._wrong.show()
        return False

    def _show(self) -> None:
        clear(self._rows)
        if not self._prices:
            text = self.tr("None: the price list counts, and what it does not know is unknown.")
            self._rows.addWidget(label(text, "muted", wrap=True))
        for price in self._prices:
            self._rows.addWidget(self._row(price))

    def _row(self, price: PriceSettings) -> QWidget:
        holder = QWidget()
        holder.setProperty("role", "plain")
        line = row(holder)
        cached = self.tr(", cached {0}").format(price.cached) if price.cached is not None else ""
        text = self.tr("{0}: input {1}{2}, output {3} {4}").format(
            words.visible(price.model), price.input, cached, price.output, price.currency
        )
        dated = self.tr("{0}, as of {1}").format(text, price.date) if price.date else text
        line.addWidget(label(dated, wrap=True), 1)

        def remove() -> None:
            self._prices.remove(price)
            self._show()

        name = self.tr("Remove the price of {0}").format(price.model)
        line.addWidget(button(self.tr("Remove"), name=name, on_click=remove))
        return holder

    def chosen(self) -> dict[str, object] | None:
        """What the form says, for `RemoteSettings`; a price that was typed counts as well.

        None: something is wrong with it, which is told there.
        """
        if self.model.text().strip() and not self.add():
            return None
        return {"thinking": self.thinking.currentData(), "prices": tuple(self._prices)}
