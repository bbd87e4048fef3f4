"""Words about money, tokens and budgets. Unknown is said, never shown as zero.

Texts go through Qt's translation with the context of `words.py`. Thread: UI.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_DOWN, ROUND_UP, Decimal
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

if TYPE_CHECKING:
    from app.engine.accounts import Left
    from app.engine.outgoing import Outgoing
    from app.store.costs import Total

_CENT, _FINE = Decimal("0.01"), Decimal("0.0001")
_FEW = Decimal("0.05")
_WATT_HOUR_J = 3600


def _tr(text: str) -> str:
    return QCoreApplication.translate("words", text)


def amount(value: Decimal, currency: str, *, down: bool = False) -> str:
    """``0.42 USD``; four digits where it is less than a few cents."""
    step = _CENT if value >= _FEW or not value else _FINE
    rounded = value.quantize(step, rounding=ROUND_DOWN if down else ROUND_UP)
    return f"{rounded:f} {currency}"


def total_money(total: Total) -> str:
    """What a chat cost, for its badge; empty where it cost nothing."""
    parts = [amount(value, currency) for currency, value in total.money]
    if total.unknown:
        parts.append(_tr("cost unknown") if not parts else _tr("and unknown"))
    return " ".join(parts)


def days_money(totals: Sequence[Total]) -> str:
    """The money of several totals."""
    sums: dict[str, Decimal] = {}
    for total in totals:
        for currency, value in total.money:
            sums[currency] = sums.get(currency, Decimal(0)) + value
    parts = [amount(value, currency) for currency, value in sorted(sums.items())]
    if any(total.unknown for total in totals):
        parts.append(_tr("partly unknown") if parts else _tr("unknown"))
    return ", ".join(parts) or _tr("none")


def total_sentence(total: Total) -> str:
    """Money, requests, tokens, and the machine's energy where it is known."""
    if not total.requests:
        return _tr("nothing")
    money = days_money([total])
    text = _tr("{0} for {1} requests, {2} tokens read and {3} written").format(
        money, f"{total.requests:,}", f"{total.input_tokens:,}", f"{total.output_tokens:,}"
    )
    if total.energy_j is not None:
        text += _tr(", {0} Wh of energy here").format(f"{total.energy_j / _WATT_HOUR_J:.2f}")
    return text


def cost_range(outgoing: Outgoing) -> str:
    """What a request may cost, before it is sent."""
    tokens = _tr("About {0} tokens.").format(f"{outgoing.least.input_tokens:,}")
    least, most = outgoing.least_money, outgoing.most_money
    if least is None or most is None:
        return f"{tokens} " + _tr("What it costs is unknown: no price of this model is known.")
    return f"{tokens} " + _tr("It costs about {0}, and {1} at most with the longest reply.").format(
        amount(least.amount, least.currency), amount(most.amount, most.currency)
    )


def budget_left(budget: Left) -> str:
    """What is left of a budget."""
    names = {"turn": _tr("each turn"), "day": _tr("today"), "month": _tr("this month")}
    return _tr("{0} of {1} left for {2}.").format(
        amount(budget.left, budget.currency, down=True),
        amount(budget.limit, budget.currency, down=True),
        names.get(budget.name, budget.name),
    )
