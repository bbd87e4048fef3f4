"""What can be wrong with the place where secrets are kept, told apart, each with the next step.

Owns the states and their words. A message never holds a value. Thread: any.
"""

from __future__ import annotations

from typing import Literal

from app.errors import AppError

Trouble = Literal[
    "missing",  # there is no such place on this machine
    "locked",  # it is there, and wants to be unlocked
    "denied",  # it refused this program, or the person said no
    "slow",  # it did not answer in time
    "wrong-passphrase",
    "truncated",  # the file ends too early
    "tampered",  # the file was changed by something else
    "too-long",  # the value does not fit
    "gone",  # the value is not there any more
    "full",  # the disk or the place takes no more
    "failed",  # it said something else
]


class VaultError(AppError):
    """A secret could not be had or kept. `trouble`: why."""

    def __init__(self, trouble: Trouble, message: str, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.trouble: Trouble = trouble
