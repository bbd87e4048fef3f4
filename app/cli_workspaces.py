"""`drydock workspaces`: what the workspaces of chats take, and taking them away.

Thread: the command line's only thread, in asyncio.
"""

from __future__ import annotations

import argparse
import asyncio
from dataclasses import asdict

from app.cli import EXIT_DONE, print_json, say
from app.engine.listing import size_text
from app.engine.workspaces import Workspaces
from app.paths import open_home
from app.settings import load_settings


async def run_workspaces(args: argparse.Namespace) -> int:
    """List, reset or delete.

    `list --json`: `{"version": 1, "workspaces": [{"chat_id", "rung", "size_bytes", "running"}]}`.
    """
    paths = open_home()
    settings = load_settings(paths.settings)
    workspaces = Workspaces(paths, lambda: settings)
    if args.action == "list":
        found = await asyncio.to_thread(workspaces.list)
        if args.json:
            print_json({"version": 1, "workspaces": [asdict(item) for item in found]})
            return EXIT_DONE
        for item in found:
            say(f"{item.chat_id}  {item.rung:<10} {size_text(item.size_bytes):>10}")
        if not found:
            say("No chat has a workspace.")
        return EXIT_DONE
    if args.action == "reset":
        await asyncio.to_thread(workspaces.reset, args.chat)
    else:
        await asyncio.to_thread(workspaces.delete, args.chat)
    return EXIT_DONE
