"""What was spent: today, this month, by day and model; the budgets; and the export.

Owns the dialog. It must not talk to the engine. Thread: UI.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QDate, Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QGridLayout,
    QLineEdit,
    QWidget,
)

from app.settings import BudgetSettings, Settings
from app.ui import money_words, words
from app.ui.cost_chart import DayChart
from app.ui.theme import SPACE_L, SPACE_M, SPACE_S
from app.ui.widgets import button, clear, column, label, row, scrolling

if TYPE_CHECKING:
    from app.engine.places import CostView
    from app.store.costs import CostRow, DayTotal, Total

_NAMES = ("turn", "day", "month")
_COLUMNS = (
    "time", "chat", "run", "model", "state", "input_tokens", "cached_tokens", "output_tokens",
    "thinking_tokens", "seconds", "energy_joules", "money", "currency", "price_from",
)  # fmt: skip


class CostsDialog(QDialog):
    """The overview. `chosen` carries `Settings` with other budgets."""

    chosen = Signal(object)

    def __init__(self, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Costs"))
        self.setModal(False)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._settings = settings
        self._rows: tuple[CostRow, ...] = ()
        self._fields: dict[str, QLineEdit] = {}
        outer = column(self, margin=SPACE_L, spacing=SPACE_M)
        page = QWidget()
        page.setProperty("role", "ground")
        layout = column(page, spacing=SPACE_S)
        self._today = label(self.tr("Adding up."), "heading", wrap=True)
        self._month = label("", wrap=True)
        layout.addWidget(self._today)
        layout.addWidget(self._month)
        self._money = DayChart(self.tr("Money by day"), lambda total: _money(total))
        self._tokens = DayChart(
            self.tr("Tokens by day"), lambda total: total.input_tokens + total.output_tokens
        )
        layout.addWidget(self._money)
        layout.addWidget(self._tokens)
        self._table = QGridLayout()
        self._table.setHorizontalSpacing(SPACE_L)
        layout.addWidget(label(self.tr("By model"), "strong"))
        layout.addLayout(self._table)
        layout.addSpacing(SPACE_M)
        layout.addWidget(label(self.tr("Budgets"), "strong"))
        note = self.tr("A request that could go over one is not sent. Empty: without bound.")
        layout.addWidget(label(note, "muted", wrap=True))
        layout.addLayout(self._budgets(settings.budget))
        self._left = column(spacing=0)
        layout.addLayout(self._left)
        self._wrong = label("", "caution", wrap=True)
        self._wrong.hide()
        layout.addWidget(self._wrong)
        layout.addStretch(1)
        area = scrolling(page)
        outer.addWidget(area, 1)
        buttons = row()
        self._export = button(self.tr("Export as CSV"), on_click=self._choose_file)
        self._export.setEnabled(False)
        buttons.addWidget(self._export)
        buttons.addStretch(1)
        buttons.addWidget(button(self.tr("Close"), on_click=self.close))
        outer.addLayout(buttons)
        self.resize(720, 700)

    def show_costs(self, view: CostView) -> None:
        """Show everything that was added up."""
        self._today.setText(self.tr("Today: {0}").format(money_words.total_sentence(view.today)))
        self._month.setText(
            self.tr("This month: {0}").format(money_words.total_sentence(view.month))
        )
        self._money.show_days([day for day in view.days if day.total.money])
        self._tokens.show_days(view.days)
        self._money.setVisible(any(day.total.money for day in view.days))
        self._fill_table(view.days)
        clear(self._left)
        for budget in view.budgets:
            self._left.addWidget(label(money_words.budget_left(budget), wrap=True))

    def set_rows(self, rows: Sequence[CostRow]) -> None:
        """What the export writes."""
        self._rows = tuple(rows)
        self._export.setEnabled(bool(rows))

    def _fill_table(self, days: Sequence[DayTotal]) -> None:
        clear(self._table)
        models: dict[str, list[DayTotal]] = {}
        for day in days:
            models.setdefault(day.model_id, []).append(day)
        heads = (self.tr("Model"), self.tr("Requests"), self.tr("Tokens read, written"),
                 self.tr("Money"))  # fmt: skip
        for place, head in enumerate(heads):
            self._table.addWidget(label(head, "meta"), 0, place)
        for number, (model_id, found) in enumerate(sorted(models.items()), 1):
            read = sum(day.total.input_tokens for day in found)
            written = sum(day.total.output_tokens for day in found)
            requests = sum(day.total.requests for day in found)
            texts = (words.visible(model_id), f"{requests:,}", f"{read:,}, {written:,}",
                     money_words.days_money([day.total for day in found]))  # fmt: skip
            for place, text in enumerate(texts):
                self._table.addWidget(label(text, wrap=place == 0), number, place)
        self._table.setColumnStretch(0, 1)

    # budgets

    def _budgets(self, budget: BudgetSettings) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(SPACE_M)
        names = {"turn": self.tr("Each turn"), "day": self.tr("Each day"),
                 "month": self.tr("Each month")}  # fmt: skip
        for number, name in enumerate(_NAMES):
            field = QLineEdit()
            value: Decimal | None = getattr(budget, name)
            field.setText("" if value is None else format(value, "f"))
            field.setAccessibleName(names[name])
            field.setPlaceholderText(self.tr("without bound"))
            field.setMaximumWidth(140)
            self._fields[name] = field
            grid.addWidget(label(names[name]), 0, number)
            grid.addWidget(field, 1, number)
        grid.addWidget(label(budget.currency), 1, len(_NAMES))
        save = button(self.tr("Save budgets"), "primary", on_click=self._save_budgets)
        grid.addWidget(save, 1, len(_NAMES) + 1)
        grid.setColumnStretch(len(_NAMES) + 2, 1)
        return grid

    def _save_budgets(self) -> None:
        found: dict[str, Decimal | None] = {}
        for name, field in self._fields.items():
            text = field.text().strip().replace(",", ".")
            try:
                value = Decimal(text) if text else None
            except InvalidOperation:
                value = Decimal(-1)
            if value is not None and (not value.is_finite() or value < 0):
                self._wrong.setText(self.tr("“{0}” is no amount of money.").format(field.text()))
                self._wrong.show()
                return
            found[name] = value
        self._wrong.hide()
        budget = self._settings.budget.model_copy(update=found)
        self._settings = self._settings.model_copy(update={"budget": budget})
        self.chosen.emit(self._settings)

    # export

    def _choose_file(self) -> None:
        dialog = QFileDialog(self, self.tr("Export costs"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("csv")
        dialog.selectFile(f"drydock-costs-{QDate.currentDate().toString('yyyy-MM-dd')}.csv")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.export_to)
        dialog.open()

    def export_to(self, path: str) -> None:
        """Write all requests to a file."""
        try:
            Path(path).write_text(csv_text(self._rows), encoding="utf-8", newline="")
        except OSError as error:
            self._wrong.setText(self.tr("It cannot be written: {0}.").format(error.strerror))
            self._wrong.show()


def csv_text(rows: Sequence[CostRow]) -> str:
    """All requests as CSV; what is unknown is empty, not zero."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(_COLUMNS)
    for item in rows:
        money = item.money
        writer.writerow(
            (
                item.at.isoformat(timespec="seconds"), item.chat_id, item.turn_id, item.model_id,
                item.state, item.used.input_tokens, item.used.cached_tokens,
                item.used.output_tokens, item.used.thinking_tokens, round(item.used.seconds, 3),
                "" if item.energy_j is None else round(item.energy_j, 3),
                "" if money is None else format(money.amount, "f"),
                "" if money is None else money.currency,
                "" if money is None else money.source,
            )
        )  # fmt: skip
    return out.getvalue()


def _money(total: Total) -> float:
    """The first currency's amount; a chart has one axis."""
    return float(total.money[0][1]) if total.money else 0.0
