"""`drydock grants`: the standing grants, explained, added and taken back.

Thread: the command line's only thread, in asyncio.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict

from app.cli import EXIT_DONE, print_json, say
from app.cli_run import open_engine
from app.store.grants import GrantRecord
from sandbox.grant_budgets import explained


async def list_grants(args: argparse.Namespace) -> int:
    """`drydock grants list`."""
    async with open_engine() as (engine, _):
        found = await engine.grants()
    if args.json:
        print_json({"grants": [_json(one) for one in found]})
    elif not found:
        say("There are no standing grants: everything is asked.")
    for one in () if args.json else found:
        where = "always" if one.scope == "always" else f"in chat {one.chat_id}"
        print(f"{one.grant_id}  {one.text}  ({where}, used {one.uses} times)")
        print(f"              {explained(one.text)}")
    return EXIT_DONE


async def add_grant(args: argparse.Namespace) -> int:
    """`drydock grants add`."""
    async with open_engine() as (engine, _):
        made = await engine.add_grant(args.grant)
    say(f"{made.grant_id}: {explained(made.text)}")
    return EXIT_DONE


async def suggest_grants(args: argparse.Namespace) -> int:
    """`drydock grants suggest`: rules out of earlier approvals, with what they would have done."""
    async with open_engine() as (engine, _):
        found = await engine.suggested_grants()
    if args.json:
        print_json({"suggestions": [asdict(one) for one in found]})
    elif not found:
        say("Nothing of one kind was approved three times yet.")
    for one in () if args.json else found:
        for text in one.texts:
            print(f"drydock grants add {text}")
            print(f"    {explained(text)}")
        print(
            f"    Approved {one.approved} times. Of all runs it would have let {one.allowed} "
            f"through and asked about {one.asked}; {one.against} of those let through you rejected."
        )
    return EXIT_DONE


async def revoke_grant(args: argparse.Namespace) -> int:
    """`drydock grants revoke`."""
    async with open_engine() as (engine, _):
        await engine.revoke_grant(args.grant_id)
    say("Taken back. It is asked again from now on.")
    return EXIT_DONE


def _json(one: GrantRecord) -> dict[str, str | int | None]:
    return {
        "id": one.grant_id,
        "grant": one.text,
        "means": explained(one.text),
        "scope": one.scope,
        "chat": one.chat_id or None,
        "created": one.created.isoformat(),
        "uses": one.uses,
        "last_used": None if one.last_used is None else one.last_used.isoformat(),
    }
