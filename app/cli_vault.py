"""`drydock vault`: the secrets. Values are read from standard input and never printed.

Thread: the command line's only thread, in asyncio.
"""

from __future__ import annotations

import argparse
import asyncio
import getpass
import sys

from app.cli import EXIT_DONE, EXIT_FAILED, print_json, say
from app.cli_run import open_engine
from app.engine.secret_desk import PASSPHRASE_VARIABLE, SecretDesk, SecretView
from app.errors import UsageError
from app.store.secrets import SecretRecord
from app.vault.errors import VaultError
from app.vault.keepers import Keep
from sandbox.secrets import KINDS, Binding, bound_host, checked_header, checked_methods

_SHORT_PASSPHRASE = 12


async def list_secrets(args: argparse.Namespace) -> int:
    """All secrets, and whether their values can be had."""
    async with open_engine() as (engine, _):
        views = await engine.secrets.all()
    if args.json:
        print_json({"version": 1, "secrets": [_row(view) for view in views]})
        return EXIT_DONE
    if not views:
        say("There are no secrets yet. Add one: drydock vault set NAME --host HOST")
    for view in views:
        record, binding = view.record, view.record.binding
        hosts = ", ".join(host.text for host in binding.hosts) or "no host"
        methods = ", ".join(binding.methods) or "all methods"
        print(
            f"{record.name:<20} {binding.kind:<10} {hosts}  {methods}  in the {record.keep}  "
            f"{view.trouble or 'ready'}  used {record.uses} times"
        )
    return EXIT_DONE


def _row(view: SecretView) -> dict[str, object]:
    record, binding = view.record, view.record.binding
    return {
        "name": record.name,
        "kind": binding.kind,
        "hosts": [host.text for host in binding.hosts],
        "methods": list(binding.methods),
        "keep": record.keep,
        "state": view.trouble or "ready",
        "created": record.created.isoformat(),
        "changed": record.changed.isoformat(),
        "used": record.used.isoformat() if record.used else None,
        "uses": record.uses,
    }


async def set_secret(args: argparse.Namespace) -> int:
    """Add a secret, or change the value, hosts, methods or kind of one."""
    wanted = _wanted(args)
    async with open_engine() as (engine, _):
        desk = engine.secrets
        await desk.ready()
        former = desk.find(args.secret)
        binding = _merged(wanted, former, args)
        keep: Keep = args.keep or (former.keep if former else await desk.choose_keep())
        value = await asyncio.to_thread(_read_value, args.secret)
        if keep == "file":
            await _open_file(desk)
        record = await desk.add(binding, value, keep)
        label = desk.vault.standing(keep).label
    hosts = ", ".join(host.text for host in binding.hosts)
    say(f"{record.name} is kept in {label}." + (f" It goes to {hosts} only." if hosts else ""))
    if args.json:
        print_json({"version": 1, "status": "done", "name": record.name, "keep": record.keep})
    return EXIT_DONE


async def remove_secret(args: argparse.Namespace) -> int:
    """Forget a secret and its value."""
    async with open_engine() as (engine, _):
        desk = engine.secrets
        await desk.ready()
        if desk.require(args.secret).keep == "file":
            await _open_file(desk)
        await desk.remove(args.secret)
    say(f"{args.secret} is removed.")
    if args.json:
        print_json({"version": 1, "status": "done", "name": args.secret})
    return EXIT_DONE


async def test_secret(args: argparse.Namespace) -> int:
    """Ask the host of a secret whether it takes it."""
    async with open_engine() as (engine, _):
        desk = engine.secrets
        await desk.ready()
        if desk.require(args.secret).keep == "file":
            await _open_file(desk)
        trial = await desk.trial(args.secret)
    say(trial.message)
    if trial.hint:
        say(trial.hint)
    if args.json:
        print_json({"version": 1, "works": trial.works, "message": trial.message})
    return EXIT_FAILED if trial.works is False else EXIT_DONE


def _wanted(args: argparse.Namespace) -> Binding:
    """What the arguments say. Raises: `UsageError`."""
    kind = args.kind.strip().lower().replace("_", "-").replace(" ", "-") or "token"
    if kind not in KINDS:
        raise UsageError(
            f"{args.kind} is no kind of secret.", hint=f"Choose one of: {', '.join(KINDS)}"
        )
    try:
        return Binding(
            name=args.secret,
            kind=kind,
            hosts=tuple(dict.fromkeys(bound_host(host) for host in args.host)),
            methods=checked_methods(args.method),
            header=checked_header(args.header) if args.header else "",
            user=args.user,
        )
    except ValueError as error:
        text = str(error)
        raise UsageError(
            f"{text[0].upper()}{text[1:]}.", hint="drydock vault set --help"
        ) from error


def _merged(wanted: Binding, former: SecretRecord | None, args: argparse.Namespace) -> Binding:
    """What is not said stays as it was."""
    if former is None:
        return wanted
    before = former.binding
    return Binding(
        name=wanted.name,
        kind=wanted.kind if args.kind else before.kind,
        hosts=wanted.hosts or before.hosts,
        methods=wanted.methods or before.methods,
        header=wanted.header or before.header,
        user=wanted.user or before.user,
    )


def _read_value(name: str) -> str:
    if sys.stdin.isatty():
        return getpass.getpass(f"Value of {name} (not shown): ")
    try:
        value = sys.stdin.read()
    except UnicodeDecodeError as error:
        raise UsageError("The value is no text.", hint="Give it in UTF-8.") from error
    if not value.strip():
        raise UsageError(
            "There is no value on standard input.",
            hint=f"For instance: drydock vault set {name} --host HOST < FILE",
        )
    return value


async def _open_file(desk: SecretDesk) -> None:
    """Unlock the encrypted file with the passphrase of the environment or of the terminal."""
    if not desk.vault.file.is_locked:
        return
    passphrase = desk.given_passphrase()
    if not passphrase:
        passphrase = await asyncio.to_thread(_ask_passphrase, is_new=not desk.vault.file.exists)
    await desk.unlock_file(passphrase)


def _ask_passphrase(*, is_new: bool) -> str:
    if not _has_terminal():
        raise VaultError(
            "locked",
            "There is no keyring that can be used, and no passphrase for the encrypted file.",
            hint=f"Set {PASSPHRASE_VARIABLE}, or run this at a terminal.",
        )
    passphrase = getpass.getpass(
        "Choose a passphrase for the encrypted file: " if is_new else "Passphrase: "
    )
    if is_new:
        if getpass.getpass("The same once more: ") != passphrase:
            raise VaultError("wrong-passphrase", "The two are not the same.", hint="Try again.")
        if len(passphrase) < _SHORT_PASSPHRASE:
            say("A short passphrase can be guessed by somebody who gets the file.")
    return passphrase


def _has_terminal() -> bool:
    if sys.stdin.isatty():
        return True
    try:
        with open("/dev/tty"):  # noqa: PTH123  # as getpass does
            return True
    except OSError:
        return False
