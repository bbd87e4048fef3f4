"""What requests took: one row each, tokens, money, seconds, energy. It outlives chats and turns.

Owns the table `requests`. Amounts are decimal text, added up as decimals, each currency for itself;
an unknown amount is NULL and counted as unknown, never as zero. A row is written before its request
is sent, with the most that it can cost, so that a crash in between loses nothing. Thread: engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, Literal

from app.store.chats import new_id
from app.store.database import Tables
from models.metering import Used
from models.prices import Money

RequestState = Literal["sent", "settled", "broken"]
"""`sent`: under way, or the app ended meanwhile; `broken`: what it took was not reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CostRow:
    """One request. `money` None: unknown; for `sent` and `broken` it is the most it can be."""

    request_id: str
    at: datetime
    turn_id: str
    chat_id: str
    model_id: str
    state: RequestState
    used: Used
    money: Money | None
    energy_j: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """Requests added up. `money` by currency; `unknown`: requests whose price nobody knows."""

    requests: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    thinking_tokens: int = 0
    seconds: float = 0.0
    energy_j: float | None = None
    money: tuple[tuple[str, Decimal], ...] = ()
    unknown: int = 0

    def amount(self, currency: str) -> Decimal:
        """What is known to have been spent in one currency."""
        return dict(self.money).get(currency, Decimal(0))


@dataclass(frozen=True, slots=True, kw_only=True)
class DayTotal:
    """One model on one day of the person's calendar."""

    day: date
    model_id: str
    total: Total


class CostStore:
    """All reading and writing of what requests took."""

    def __init__(self, tables: Tables) -> None:
        self._db = tables

    def open(
        self, *, turn_id: str, chat_id: str, model_id: str, most: Used, money: Money | None
    ) -> str:
        """Note a request that is about to be sent, with the most it can take; returns its id."""
        request_id = new_id()
        row = _columns(most, money) | {
            "id": request_id,
            "at": datetime.now(UTC).isoformat(),
            "turn_id": turn_id,
            "chat_id": chat_id,
            "model_id": model_id,
            "state": "sent",
        }
        self._db.insert("requests", row)
        return request_id

    def settle(
        self, request_id: str, used: Used, money: Money | None, energy_j: float | None = None
    ) -> None:
        """Note what a request really took."""
        row = _columns(used, money) | {"state": "settled", "energy_j": energy_j}
        self._db.update("requests", request_id, row)

    def break_off(self, request_id: str) -> None:
        """A request whose provider did not say what it took: the most it can be stays counted."""
        self._db.update("requests", request_id, {"state": "broken"})

    def forget(self, request_id: str) -> None:
        """A request that was refused before any work: it took nothing."""
        self._db.delete("requests", request_id)

    def of_turn(self, turn_id: str) -> Total:
        """All requests of one turn."""
        return self._total("turn_id = ?", [turn_id])

    def of_chat(self, chat_id: str) -> Total:
        """All requests of one chat."""
        return self._total("chat_id = ?", [chat_id])

    def since(self, start: datetime) -> Total:
        """All requests since a moment."""
        return self._total("at >= ?", [start.astimezone(UTC).isoformat()])

    def rows(self, start: datetime | None = None) -> list[CostRow]:
        """Single requests, oldest first."""
        begin = "" if start is None else start.astimezone(UTC).isoformat()
        found = self._db.rows("SELECT * FROM requests WHERE at >= ? ORDER BY at, id", [begin])
        return [_row(item) for item in found]

    def days(self, start: datetime | None = None) -> list[DayTotal]:
        """By day and model, oldest first."""
        groups: dict[tuple[date, str], list[CostRow]] = {}
        for row in self.rows(start):
            groups.setdefault((row.at.astimezone().date(), row.model_id), []).append(row)
        return [
            DayTotal(day=day, model_id=model_id, total=total(rows))
            for (day, model_id), rows in sorted(groups.items())
        ]

    def _total(self, condition: str, values: Sequence[object]) -> Total:
        query = f"SELECT * FROM requests WHERE {condition}"  # noqa: S608  # constants
        return total(_row(item) for item in self._db.rows(query, values))


def total(rows: Iterable[CostRow]) -> Total:
    """Requests added up, exactly."""
    found = Total()
    money: dict[str, Decimal] = {}
    for row in rows:
        if row.money is not None and row.money.amount:
            money[row.money.currency] = money.get(row.money.currency, Decimal(0)) + row.money.amount
        energy = found.energy_j
        if row.energy_j is not None:
            energy = (energy or 0.0) + row.energy_j
        found = Total(
            requests=found.requests + 1,
            input_tokens=found.input_tokens + row.used.input_tokens,
            cached_tokens=found.cached_tokens + row.used.cached_tokens,
            output_tokens=found.output_tokens + row.used.output_tokens,
            thinking_tokens=found.thinking_tokens + row.used.thinking_tokens,
            seconds=found.seconds + row.used.seconds,
            energy_j=energy,
            money=tuple(sorted(money.items())),
            unknown=found.unknown + (row.money is None),
        )
    return found


def day_start(now: datetime) -> datetime:
    """Midnight of the person's day."""
    return now.astimezone().replace(hour=0, minute=0, second=0, microsecond=0)


def month_start(now: datetime) -> datetime:
    """Midnight of the first of the person's month."""
    start = day_start(now)
    return day_start(start - timedelta(days=start.day - 1) + timedelta(hours=12))


def _columns(used: Used, money: Money | None) -> dict[str, Any]:
    return {
        "input_tokens": used.input_tokens,
        "cached_tokens": used.cached_tokens,
        "cache_write_tokens": used.cache_write_tokens,
        "output_tokens": used.output_tokens,
        "thinking_tokens": used.thinking_tokens,
        "seconds": used.seconds,
        "amount": None if money is None else format(money.amount, "f"),
        "currency": "" if money is None else money.currency,
        "price_source": "" if money is None else money.source,
    }


def _row(row: dict[str, Any]) -> CostRow:
    amount = row["amount"]
    money = None
    if amount is not None:
        money = Money(amount=Decimal(amount), currency=row["currency"], source=row["price_source"])
    return CostRow(
        request_id=row["id"],
        at=datetime.fromisoformat(row["at"]),
        turn_id=row["turn_id"],
        chat_id=row["chat_id"],
        model_id=row["model_id"],
        state=row["state"],
        used=Used(
            input_tokens=row["input_tokens"],
            cached_tokens=row["cached_tokens"],
            cache_write_tokens=row["cache_write_tokens"],
            output_tokens=row["output_tokens"],
            thinking_tokens=row["thinking_tokens"],
            seconds=row["seconds"],
        ),
        money=money,
        energy_j=row["energy_j"],
    )
