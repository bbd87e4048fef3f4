"""`drydock models`: the model files. Thread: the command line's only thread, in asyncio."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from app.cli import EXIT_DONE, EXIT_FAILED, EXIT_MODEL, print_json, say
from app.cli_run import fetch_model, open_engine
from app.engine.listing import size_text
from app.errors import ModelUnavailableError
from models.errors import ModelError
from models.fit import fit_here
from models.imports import OWNERS, find_models
from models.library import InstalledModel, find_model, model_path


async def list_models(args: argparse.Namespace) -> int:
    """All models of the catalog, and which are here."""
    async with open_engine() as (engine, _):
        statuses = await engine.shelf.models()
    if args.json:
        rows = [
            {
                "id": status.model_id,
                "name": status.name,
                "licence": status.licence,
                "parameters": status.parameters,
                "bytes": status.size_bytes or None,
                "context_tokens": status.context_tokens,
                "present": status.present,
                "damaged": status.damaged,
                "default": status.default,
                "fit": status.fit.label,
                "fitting_context_tokens": status.fit.context_tokens,
                "memory_bytes": status.fit.needed_bytes,
                "advice": status.fit.advice,
                "queued": status.download.state if status.download else None,
                "tokens_per_second": speed.tokens_per_s if speed else None,
                "passed": status.measured.passed,
                "trials": status.measured.trials,
            }
            for status in statuses
            for speed in [status.measured.speed]
        ]
        print_json({"version": 1, "models": rows})
        return EXIT_DONE
    width = 20 if any(status.damaged for status in statuses) else 5
    for status in statuses:
        here = "here" if status.present else "-"
        if status.damaged:
            here = "damaged, fetch again"
        size = size_text(status.size_bytes) if status.size_bytes else "size unknown"
        mark = " (default)" if status.default else ""
        print(
            f"{status.model_id:<34} {here:<{width}} {size:>12}  "
            f"{status.fit.label:<12}  {status.licence:<12} {status.name}{mark}"
        )
    return EXIT_DONE


async def pull_models(args: argparse.Namespace) -> int:
    """Download models one after the other, verified; each goes on where it stopped before.

    One that cannot be had does not keep the others from coming; exit 4 when any is missing.
    """
    rows: list[dict[str, object]] = []
    async with open_engine() as (engine, paths):
        ids = [f"local:{name.removeprefix('local:')}" for name in dict.fromkeys(args.model_id)]
        entries = [engine.shelf.catalog.get(model_id) for model_id in ids]
        settings = await engine.settings()
        for entry in entries:
            model_id = f"local:{entry.id}"
            context = settings.model_for(model_id).context_tokens
            if advice := fit_here(model_path(paths.models, entry.id), entry, context).advice:
                say(f"{entry.name} may not fit into the memory of this machine. {advice}")
            try:
                await fetch_model(engine, model_id)
            except ModelUnavailableError as error:
                if len(entries) == 1:
                    raise
                say(f"drydock: {error.message}\n{error.hint}")
                problem = {"message": error.message, "hint": error.hint, "details": ""}
                rows.append({"status": "failed", "id": model_id, "error": problem})
            else:
                rows.append(_pulled(find_model(paths.models, entry), model_id))
    failed = any(row["status"] == "failed" for row in rows)
    if args.json:
        one = rows[0] if len(rows) == 1 else {"status": "failed" if failed else "done"}
        print_json({"version": 1, **one, "models": rows})
    return EXIT_MODEL if failed else EXIT_DONE


def _pulled(found: InstalledModel | None, model_id: str) -> dict[str, object]:
    """Tell of a model that has come; its row for ``--json``."""
    assert found is not None
    provenance = found.provenance
    checked = provenance.checked_against if provenance else "nothing"
    say(f"{found.entry.name} is here: {size_text(found.size_bytes)}.")
    if checked == "nothing":
        say("The catalog does not know its checksum; the one of this download was recorded.")
    return {
        "status": "done",
        "id": model_id,
        "path": str(found.path),
        "bytes": found.size_bytes,
        "sha256": provenance.sha256 if provenance else None,
        "source": provenance.source if provenance else None,
        "verified": checked,
    }


async def import_models(args: argparse.Namespace) -> int:
    """Take model files of other programs in by a link; without a name, say what there is.

    Raises: `ModelError` for a file that is no usable model.
    """
    async with open_engine() as (engine, _):
        if args.what in OWNERS:
            found = find_models(args.what)
            chosen = [item for item in found if args.name in {"", item.name}]
            sources = [(item.path, item.name) for item in chosen] if args.name else []
            if not sources:
                for item in found:
                    say(f"{item.name}  {size_text(item.size_bytes)}  {item.path}")
                say(_import_advice(args.what, len(found), args.name))
        else:
            sources = [(Path(args.what), args.name)]
        entries = [await engine.shelf.take_in(path, name) for path, name in sources]
    for entry in entries:
        say(f"{entry.name} is here, as local:{entry.id}.")
    if args.json:
        rows = [{"id": f"local:{entry.id}", "name": entry.name} for entry in entries]
        print_json({"version": 1, "status": "done", "imported": rows})
    return EXIT_DONE if entries or (args.what in OWNERS and not args.name) else EXIT_FAILED


def _import_advice(owner: str, count: int, name: str) -> str:
    if not count:
        return f"There are no model files of {owner} here."
    if name:
        return f"None of them is named {name}."
    return f"Take one in with: drydock models import {owner} NAME"


async def remove_model(args: argparse.Namespace) -> int:
    """Delete a model's file. Raises: `ModelError` for a model that is not in the catalog."""
    async with open_engine() as (engine, _):
        entry = engine.shelf.catalog.get(args.model_id)
        freed = await engine.shelf.remove(entry.id)
    removed = freed is not None
    say(f"{entry.name} was not here." if freed is None else f"Removed, {size_text(freed)} freed.")
    if args.json:
        print_json({"version": 1, "status": "done", "removed": removed, "bytes": freed or 0})
    return EXIT_DONE if removed else EXIT_FAILED


async def probe_model(args: argparse.Namespace) -> int:
    """Load a model, let it say a few words, and report its speed."""
    async with open_engine() as (engine, _):
        began = time.perf_counter()
        try:
            probe = await engine.shelf.probe(f"local:{args.model_id.removeprefix('local:')}")
        except ModelError as error:
            raise ModelUnavailableError(error.message, hint=error.hint) from error
    say(
        f"Loaded in {probe.load_s:.1f} s, first token after {probe.first_token_s:.2f} s, "
        f"{probe.tokens_per_s:.1f} tokens/s on {probe.threads} threads."
    )
    if args.json:
        print_json(
            {
                "version": 1,
                "status": "done",
                "id": args.model_id,
                "load_seconds": round(probe.load_s, 3),
                "first_token_seconds": round(probe.first_token_s, 3),
                "tokens_per_second": round(probe.tokens_per_s, 2),
                "threads": probe.threads,
                "seconds": round(time.perf_counter() - began, 3),
            }
        )
    return EXIT_MODEL if probe.tokens_per_s <= 0 else EXIT_DONE
