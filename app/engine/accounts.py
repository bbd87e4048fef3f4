"""Keeps the accounts of requests, and stops one before it would go over a budget.

Owns budgets and what every turn has spent. A request that is under way counts with the most it can
cost, so that several at once cannot go over together. Thread: engine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import ROUND_UP, Decimal
from typing import Protocol

from app.engine.energy import EnergyGauge, Reading
from app.settings import Settings
from app.store.costs import CostStore, Total, day_start, month_start
from models.errors import ModelError
from models.metering import Asked, Used
from models.prices import Money, cost_of
from models.providers import RemoteModelId

_CENT = Decimal("0.01")
_FINE = Decimal("0.0001")
FREE = Money(amount=Decimal(0), currency="USD", source="this machine")


class BudgetError(ModelError):
    """A request would go over a budget; it was not sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """One budget. `name`: turn, day or month; `left` is never below zero."""

    name: str
    limit: Decimal
    spent: Decimal
    currency: str

    @property
    def left(self) -> Decimal:
        """What may still be spent."""
        return max(Decimal(0), self.limit - self.spent)


class Tab(Protocol):
    """What a turn tells and asks of the accounts around each reply."""

    def begin_reply(self) -> None:
        """A reply is about to be made."""
        ...

    def end_reply(self, used: Used) -> None:
        """It was made."""
        ...

    def total(self) -> Total:
        """All of this turn so far."""
        ...


class Accounts:
    """All accounts of this home."""

    def __init__(
        self,
        store: CostStore,
        settings: Callable[[], Settings],
        *,
        gauge: EnergyGauge | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.store = store
        self._settings = settings
        self._gauge = gauge or EnergyGauge()
        self._now = now

    def price(self, model: RemoteModelId, used: Used) -> Money | None:
        """What `used` costs at `model`; None: nobody knows."""
        own = [price.price() for price in self._settings().remote.prices]
        return cost_of(model, used, own)

    def left(self, turn_id: str = "") -> tuple[Left, ...]:
        """The budgets that are set, with what is left of each."""
        budget = self._settings().budget
        now = self._now()
        found: list[Left] = []
        for name, limit, total in (
            ("turn", budget.turn, lambda: self.store.of_turn(turn_id) if turn_id else Total()),
            ("day", budget.day, lambda: self.store.since(day_start(now))),
            ("month", budget.month, lambda: self.store.since(month_start(now))),
        ):
            if limit is not None:
                spent = total().amount(budget.currency)
                found.append(Left(name=name, limit=limit, spent=spent, currency=budget.currency))
        return tuple(found)

    def check(self, model: RemoteModelId, most: Money | None, turn_id: str) -> None:
        """Raise `BudgetError` if a request that can cost `most` might go over a budget."""
        budgets = self.left(turn_id)
        if not budgets:
            return
        settings = self._settings().budget
        if most is None or most.currency != settings.currency:
            if settings.unknown_prices:
                return
            what = "nobody knows" if most is None else f"is in {most.currency}"
            raise BudgetError(
                f"The price of {model.text} {what}, so the budget cannot be kept to. "
                "Nothing was sent.",
                hint=f"Give its price in {settings.currency} in the settings, allow models of "
                "unknown price under a budget, or use a local model.",
                setting="budget.unknown_prices",
            )
        for budget in budgets:
            if most.amount > budget.left:
                raise BudgetError(
                    f"This request can cost {shown(most.amount, most.currency)}; of the "
                    f"{budget.name}'s budget of {shown(budget.limit, budget.currency)}, "
                    f"{shown(budget.left, budget.currency, down=True)} is left. "
                    "Nothing was sent.",
                    hint="Raise the budget in the settings, shorten the longest reply, or use a "
                    "local or cheaper model.",
                    setting=f"budget.{budget.name}",
                )

    def local_tab(self, turn_id: str, chat_id: str, model_id: str) -> LocalTab:
        """The tab of a turn with a local model."""
        return LocalTab(self.store, self._gauge, turn_id, chat_id, model_id)


class LocalTab:
    """A local model costs seconds, and energy where the system tells."""

    def __init__(
        self, store: CostStore, gauge: EnergyGauge, turn_id: str, chat_id: str, model_id: str
    ) -> None:
        self._store = store
        self._gauge = gauge
        self._ids = {"turn_id": turn_id, "chat_id": chat_id, "model_id": model_id}
        self._before: Reading | None = None

    def begin_reply(self) -> None:
        """Read the counters."""
        self._before = self._gauge.read()

    def end_reply(self, used: Used) -> None:
        """Note it, with the energy since `begin_reply`."""
        energy_j = None
        if self._before is not None:
            energy_j = self._gauge.between(self._before, self._gauge.read())
            self._before = None
        request_id = self._store.open(**self._ids, most=used, money=FREE)
        self._store.settle(request_id, used, FREE, energy_j)

    def total(self) -> Total:
        """All of this turn so far."""
        return self._store.of_turn(self._ids["turn_id"])


class RemoteTab:
    """The meter of one turn's remote model. `guard` raises when nothing may leave any more."""

    def __init__(
        self,
        accounts: Accounts,
        model: RemoteModelId,
        *,
        turn_id: str,
        chat_id: str,
        guard: Callable[[], None],
    ) -> None:
        self._accounts = accounts
        self._model = model
        self._turn_id, self._chat_id = turn_id, chat_id
        self._guard = guard

    def begin(self, asked: Asked) -> str:
        """Note a request before it is sent. Raises: `ModelError` when it must not be."""
        self._guard()
        most = Used(input_tokens=asked.input_tokens, output_tokens=asked.output_tokens)
        money = self._accounts.price(self._model, most)
        self._accounts.check(self._model, money, self._turn_id)
        return self._accounts.store.open(
            turn_id=self._turn_id,
            chat_id=self._chat_id,
            model_id=self._model.text,
            most=most,
            money=money,
        )

    def end(self, ticket: str, used: Used | None) -> None:
        """Note what it took."""
        if used is None:
            self._accounts.store.break_off(ticket)
        else:
            self._accounts.store.settle(ticket, used, self._accounts.price(self._model, used))

    def refused(self, ticket: str) -> None:
        """It was refused before any work."""
        self._accounts.store.forget(ticket)

    def begin_reply(self) -> None:
        """Requests are noted one by one."""

    def end_reply(self, used: Used) -> None:
        """Requests are noted one by one."""

    def total(self) -> Total:
        """All of this turn so far."""
        return self._accounts.store.of_turn(self._turn_id)


def shown(amount: Decimal, currency: str, *, down: bool = False) -> str:
    """Money for people: two digits, four where it is less than a few cents."""
    step = _CENT if amount >= Decimal("0.05") or amount == 0 else _FINE
    rounded = amount.quantize(step, rounding="ROUND_DOWN" if down else ROUND_UP)
    return f"{rounded:f} {currency}"


def turn_money(total: Total) -> tuple[str | None, str]:
    """A turn's money as decimal text, and its currency; None: a part of it is unknown."""
    if total.unknown or len(total.money) > 1:
        return None, "USD"
    if not total.money:
        return "0", "USD"
    ((currency, amount),) = total.money
    return format(amount, "f"), currency
