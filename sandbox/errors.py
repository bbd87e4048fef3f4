"""The sandbox's error tree: what the person can fix, what the program got wrong, what is our bug.

File operations of a program raise ordinary `OSError`s, as Python would; the errors here are those
that end a program or a turn. Thread: any.
"""

from __future__ import annotations

from dataclasses import dataclass


class SandboxError(Exception):
    """Base of the package. `hint` is the next step for the person; empty when there is none."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class SandboxUnavailableError(SandboxError):
    """The interpreter cannot be started or was lost; the person can fix it (exit code 5)."""


class StateUnusableError(SandboxError):
    """What earlier programs left cannot be restored: the next one starts with a fresh state."""


class CommitError(SandboxError):
    """A change set could not be applied or undone; the disk is as it was before.

    `can_keep`: the fault was of one change, so that others could be applied without it.
    """

    def __init__(self, message: str, *, hint: str = "", can_keep: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.can_keep = can_keep


class HalfDoneError(CommitError):
    """A change failed half-way and taking it back failed too: `recover` has to go on later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What was wrong with a program, in the terms of its original source.

    `type`: the exception's name, e.g. ``FileNotFoundError``; `message`: one line; `line`: 1-based
    line in the original source, or None; `hint`: what to do instead, one sentence, or empty.
    """

    type: str
    message: str
    line: int | None = None
    hint: str = ""

    def brief(self) -> str:
        """One actionable line for the model: type, message, line, what to do."""
        where = f" (line {self.line})" if self.line is not None else ""
        hint = f" {self.hint}" if self.hint else ""
        return f"{self.type}: {self.message}{where}.{hint}".replace("..", ".")


class ProgramFaultError(SandboxError):
    """The program's own fault: goes back to the model. Carries a `Fault`."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.brief())
        self.fault = fault


class StoppedError(SandboxError):
    """The person pressed Stop, or the turn was cancelled."""

    def __init__(self) -> None:
        super().__init__("Stopped.")
