"""The app's error tree. Thread: any.

`AppError`: the person can fix it; it carries the next step. Anything else that reaches the process
edge is our bug: logged, and ends the run.
"""

from __future__ import annotations


class AppError(Exception):
    """Something the person can fix. `message`: what and why; `hint`: what to do.

    `exit_code`: what a command that ends by it returns.
    """

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(AppError):
    """The command line was used wrongly."""

    exit_code = 2


class NotFoundError(AppError):
    """A chat, turn or run that does not exist."""


class ModelUnavailableError(AppError):
    """A model's file could not be had, or the model cannot be used."""

    exit_code = 4
