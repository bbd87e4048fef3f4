"""Words about secrets: kinds, places, where one goes, when it was used.

Made from data, never by a model. Thread: UI.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from app.ui import words

if TYPE_CHECKING:
    from app.vault.keepers import Keep, Standing
    from sandbox.secrets import Kind


def _tr(text: str) -> str:
    return QCoreApplication.translate("secrets", text)


def kind(value: Kind) -> str:
    """A kind of secret."""
    match value:
        case "token":
            return _tr("Token")
        case "password":
            return _tr("Password")
        case "header":
            return _tr("Header")
        case "model-key":
            return _tr("Model key")


def place(keep: Keep) -> str:
    """A place for values, as a choice."""
    match keep:
        case "keyring":
            return _tr("The system's keyring")
        case "file":
            return _tr("An encrypted file with a passphrase")
        case "memory":
            return _tr("This run only, forgotten when Drydock ends")


def kept_in(keep: Keep) -> str:
    """Where a secret is."""
    match keep:
        case "keyring":
            return _tr("Kept in the system's keyring.")
        case "file":
            return _tr("Kept in the encrypted file.")
        case "memory":
            return _tr("Kept for this run only.")


def goes_to(hosts: str, methods: Sequence[str]) -> str:
    """Where a secret may go, and with which methods."""
    if not hosts:
        return _tr("Used by Drydock for its model alone.")
    if methods:
        return _tr("Goes to {0} with {1}.").format(hosts, ", ".join(methods))
    return _tr("Goes to {0}.").format(hosts)


def last_used(used: datetime | None, uses: int) -> str:
    """When it was used last."""
    if used is None:
        return _tr("Not used yet.")
    when = words.ago(used, datetime.now(UTC))
    return _tr("Used {0}, last {1}.").format(words.count(uses, "time", "times"), when)


def what_to_do(standing: Standing) -> str:
    """The next step where a place for values cannot be used."""
    if standing.trouble == "missing":
        return _tr(
            "Add a secret to an encrypted file with a passphrase of yours, or for this run only."
        )
    if standing.trouble == "locked":
        return _tr("Unlock it to use what is in it.")
    return standing.hint
