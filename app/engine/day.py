"""The day it is here, for grants that end on one. Light, since the window asks too. Thread: any."""

from __future__ import annotations

from datetime import date, datetime


def today() -> date:
    """The day in this machine's own time."""
    return datetime.now().astimezone().date()
