"""`drydock doctor`: what this machine can do, and what to do about the rest.

Each check is one row: its name, its state, what was found, and the next step. Nothing is changed.
Thread: the command line's only thread, in asyncio.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import shutil
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Literal

from app.cli import EXIT_DONE, EXIT_FAILED, print_json, say
from app.engine.listing import size_text
from app.errors import AppError
from app.paths import Paths, open_home
from app.qt_check import missing_qt_hint
from app.settings import Settings, load_settings
from app.store.database import open_database
from sandbox.workspace.ladder import RungState

State = Literal["ok", "note", "problem"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One finding. `fix`: the next step, empty when there is nothing to do."""

    name: str
    state: State
    found: str
    fix: str = ""


async def run_doctor(args: argparse.Namespace) -> int:
    """Check everything; exit 1 when something that Drydock needs does not work."""
    paths = open_home()
    rows = [await asyncio.to_thread(check, paths) for check in CHECKS]
    rows += await asyncio.to_thread(_check_shell, paths, probe=args.probe)
    if args.json:
        print_json({"version": 1, "checks": [asdict(row) for row in rows]})
    else:
        for row in rows:
            say(f"{row.state:<8} {row.name:<16} {row.found}")
            if row.fix:
                say(f"{'':<25} {row.fix}")
    return EXIT_FAILED if any(row.state == "problem" for row in rows) else EXIT_DONE


def _check_python(_: Paths) -> Row:
    version = ".".join(map(str, sys.version_info[:3]))
    return Row(name="Python", state="ok", found=version)


def _check_home(paths: Paths) -> Row:
    free = shutil.disk_usage(paths.home).free
    state: State = "ok" if free > 2_000_000_000 else "note"
    fix = "" if state == "ok" else "Free some space, or set DRYDOCK_HOME to another disk."
    return Row(name="Home", state=state, found=f"{paths.home}, {size_text(free)} free", fix=fix)


def _check_settings(paths: Paths) -> Row:
    try:
        load_settings(paths.settings)
    except AppError as error:
        return Row(name="Settings", state="problem", found=error.message, fix=error.hint)
    return Row(name="Settings", state="ok", found="valid")


def _check_store(paths: Paths) -> Row:
    try:
        open_database(paths.store).close()
    except AppError as error:
        return Row(name="Store", state="problem", found=error.message, fix=error.hint)
    return Row(name="Store", state="ok", found=str(paths.store))


def _check_memory(_: Paths) -> Row:
    from models.hardware import measure_hardware

    hardware = measure_hardware()
    found = (
        f"{hardware.physical_cores} cores, {size_text(hardware.free_memory_bytes)} of "
        f"{size_text(hardware.total_memory_bytes)} memory free"
    )
    if hardware.free_memory_bytes < 2_500_000_000:
        return Row(name="Machine", state="note", found=found, fix=_SMALLER)
    return Row(name="Machine", state="ok", found=found)


_SMALLER = "Close other programs, or fetch a smaller model: drydock models pull qwen2.5-coder-0.5b"


def _check_network(paths: Paths) -> Row:
    from app.engine.offline import HINT, VARIABLE, is_offline

    try:
        settings = load_settings(paths.settings)
    except AppError:  # said in its own row
        settings = Settings()
    if is_offline(settings):
        fix = HINT if settings.network.offline else f"Take {VARIABLE} out of the environment."
        return Row(name="Network", state="note", found="offline: nothing is connected to", fix=fix)
    proxy = settings.network.proxy
    return Row(name="Network", state="ok", found=f"online, through {proxy}" if proxy else "online")


def _check_models(paths: Paths) -> Row:
    from models.catalog import load_catalog
    from models.imports import with_imported
    from models.library import list_models

    catalog = with_imported(load_catalog(), paths.models)
    here = [model.entry.id for model in list_models(paths.models, catalog)]
    if not here:
        fix = f"drydock models pull {catalog.default.id} ({catalog.default.size_label})"
        return Row(name="Models", state="note", found="none is here yet", fix=fix)
    return Row(name="Models", state="ok", found=", ".join(here))


def _check_llama(_: Paths) -> Row:
    try:
        llama = importlib.import_module("llama_cpp")
    except Exception as error:
        return Row(
            name="llama.cpp",
            state="problem",
            found=f"cannot be loaded: {error}",
            fix="Install it again: uv sync --reinstall-package llama-cpp-python",
        )
    return Row(name="llama.cpp", state="ok", found=f"llama-cpp-python {llama.__version__}")


def _check_sandbox(_: Paths) -> Row:
    from sandbox.errors import SandboxError
    from sandbox.pool import SandboxPool

    pool = SandboxPool()
    try:
        pool.start()
    except SandboxError as error:
        return Row(name="Interpreter", state="problem", found=error.message, fix=error.hint)
    finally:
        pool.close()
    return Row(name="Interpreter", state="ok", found="Monty starts")


def _check_window(_: Paths) -> Row:
    hint = missing_qt_hint()
    if hint:
        return Row(name="Window", state="note", found="Qt cannot be loaded here", fix=hint)
    return Row(name="Window", state="ok", found="Qt can be loaded")


def _check_vault(paths: Paths) -> Row:
    from app.vault.encrypted_file import EncryptedFile
    from app.vault.keyring_backend import KeyringKeeper

    standing = KeyringKeeper(timeout_s=3.0).standing()
    file = EncryptedFile(paths.vault)
    if standing.trouble is None:
        also = ", and an encrypted file" if file.exists else ""
        return Row(name="Vault", state="ok", found=f"{standing.label}{also}")
    if file.exists:
        found = f"an encrypted file; {standing.message[0].lower()}{standing.message[1:]}"
        return Row(name="Vault", state="ok", found=found)
    return Row(name="Vault", state="note", found=standing.message, fix=standing.hint)


def _check_shell(paths: Paths, *, probe: bool = False) -> list[Row]:
    """The ladder of workspaces, each rung with its reason, and the one in use."""
    from app.engine.workspaces import Workspaces

    try:
        settings = load_settings(paths.settings)
    except AppError:  # said in its own row
        settings = Settings()
    workspaces = Workspaces(paths, lambda: settings)
    states = workspaces.ladder.probe() if probe else workspaces.ladder.states()
    used = workspaces.state()
    rows = [_rung_row(item, in_use=used is not None and item.rung == used.rung) for item in states]
    if used is None:
        fix = "" if settings.workspace.kind == "off" else "See the rungs above."
        rows.append(Row(name="Shell", state="note", found="commands cannot be run", fix=fix))
    return rows


def _rung_row(item: RungState, *, in_use: bool) -> Row:
    found = f"{item.reason}{f', ready in {item.boot_s:g} s' if item.boot_s else ''}"
    state: State = "ok" if item.works else "note"
    return Row(
        name=f"Shell {item.rung}",
        state=state,
        found=f"{found} (in use)" if in_use else found,
        fix=item.fix,
    )


CHECKS: tuple[Callable[[Paths], Row], ...] = (
    _check_python,
    _check_home,
    _check_settings,
    _check_store,
    _check_memory,
    _check_network,
    _check_models,
    _check_llama,
    _check_sandbox,
    _check_window,
    _check_vault,
)
