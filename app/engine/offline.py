"""Offline: no connection to anything, not even to a server on this machine.

Owns what counts as offline and the words of its refusal; whoever would connect asks here right
before. Thread: any.
"""

from __future__ import annotations

import os

from app.settings import Settings
from models.errors import ModelError

VARIABLE = "DRYDOCK_OFFLINE"
"""Set to anything but 0: offline, whatever the settings say."""

HINT = "Turn Offline off in the settings, under Network."


class OfflineError(ModelError):
    """A connection was wanted while offline."""


def is_offline(settings: Settings) -> bool:
    """Whether nothing may be connected to."""
    return settings.network.offline or os.environ.get(VARIABLE, "") not in {"", "0"}


def refuse_offline(settings: Settings, what: str) -> None:
    """Raise `OfflineError` if nothing may be connected to. `what`: did not happen, as a clause."""
    if is_offline(settings):
        raise OfflineError(f"Drydock is offline, so {what}.", hint=HINT)
