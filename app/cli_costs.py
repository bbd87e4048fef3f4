"""`drydock costs`: what was spent, and what is left of the budgets; and the test of a remote model.

Thread: the command line's only thread, in asyncio.
"""

from __future__ import annotations

import argparse
import csv
import sys
from datetime import UTC, datetime
from typing import Any

from app.cli import EXIT_DONE, EXIT_MODEL, print_json, say
from app.cli_run import open_engine, take_key
from app.engine.accounts import Left, shown
from app.errors import UsageError
from app.store.costs import Total


async def show_costs(args: argparse.Namespace) -> int:
    """By day and model; ``--csv`` gives single requests, ``--json`` everything added up."""
    start = _start(args.since)
    async with open_engine() as (engine, _):
        view = await engine.places.costs(start)
        rows = await engine.places.cost_rows(start) if args.csv else []
    if args.csv:
        writer = csv.writer(sys.stdout)
        writer.writerow(("time", "run", "model", "state", "input_tokens", "cached_tokens",
                         "output_tokens", "thinking_tokens", "seconds", "energy_joules", "money",
                         "currency", "price_from"))  # fmt: skip
        for row in rows:
            money = row.money
            writer.writerow((
                row.at.isoformat(timespec="seconds"), row.turn_id, row.model_id, row.state,
                row.used.input_tokens, row.used.cached_tokens, row.used.output_tokens,
                row.used.thinking_tokens, round(row.used.seconds, 3),
                "" if row.energy_j is None else round(row.energy_j, 3),
                "" if money is None else format(money.amount, "f"),
                "" if money is None else money.currency, "" if money is None else money.source,
            ))  # fmt: skip
        return EXIT_DONE
    if args.json:
        print_json(
            {
                "version": 1,
                "today": _total(view.today),
                "month": _total(view.month),
                "days": [
                    {"day": day.day.isoformat(), "model": day.model_id, **_total(day.total)}
                    for day in view.days
                ],
                "budgets": [_budget(left) for left in view.budgets],
            }
        )
        return EXIT_DONE
    for day in view.days:
        print(f"{day.day}  {day.model_id:<40} {_words(day.total)}")
    say(f"Today: {_words(view.today)}")
    say(f"This month: {_words(view.month)}")
    for left in view.budgets:
        say(
            f"Budget of the {left.name}: {shown(left.left, left.currency, down=True)} of "
            f"{shown(left.limit, left.currency)} left"
        )
    return EXIT_DONE


async def test_model(args: argparse.Namespace) -> int:
    """`drydock models test`: ask a remote model for one word, and say what is wrong."""
    async with open_engine() as (engine, _):
        if args.key_stdin:
            await take_key(engine, args.model_id)
        result = await engine.places.test(args.model_id)
    say(result.message)
    if result.hint:
        say(result.hint)
    if args.json:
        error = {"message": result.message, "hint": result.hint, "code": result.code}
        status = "done" if result.ok else "failed"
        print_json({"version": 1, "status": status, "error": None if result.ok else error})
    return EXIT_DONE if result.ok else EXIT_MODEL


def _start(since: str) -> datetime | None:
    if not since:
        return None
    try:
        return datetime.fromisoformat(since).astimezone(UTC)
    except ValueError as error:
        raise UsageError(f"{since!r} is no date.", hint="Write it like 2026-11-30.") from error


def _total(total: Total) -> dict[str, Any]:
    return {
        "requests": total.requests,
        "input_tokens": total.input_tokens,
        "cached_tokens": total.cached_tokens,
        "output_tokens": total.output_tokens,
        "thinking_tokens": total.thinking_tokens,
        "seconds": round(total.seconds, 3),
        "energy_joules": total.energy_j,
        "money": {currency: format(amount, "f") for currency, amount in total.money},
        "requests_of_unknown_cost": total.unknown,
    }


def _budget(left: Left) -> dict[str, str]:
    return {
        "name": left.name,
        "limit": format(left.limit, "f"),
        "spent": format(left.spent, "f"),
        "left": format(left.left, "f"),
        "currency": left.currency,
    }


def _words(total: Total) -> str:
    money = ", ".join(shown(amount, currency) for currency, amount in total.money)
    if total.unknown:
        money = f"{money} and {total.unknown} of unknown cost" if money else "cost unknown"
    tokens = f"{total.input_tokens:,} tokens read, {total.output_tokens:,} written"
    return f"{total.requests} requests, {tokens}, {money or 'no money'}"
