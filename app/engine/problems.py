"""What a person reads about how a turn ended: what happened and why, then the next step.

Owns the words; what happened is decided in `desk.py`. Pure; any thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal
from urllib.parse import urlsplit

from app.engine.loops import Circle
from app.engine.turn import LiveTurn
from app.errors import AppError
from app.store.records import GIVEN_PROGRAM, ConflictRecord, Problem
from models.errors import ModelError
from sandbox.effects import Effect
from sandbox.errors import CommitError, SandboxError
from sandbox.verify import Conflict

_UNCHANGED = "Nothing was changed."


def problem_of(
    error: ModelError | SandboxError | AppError, kind: Literal["", "model", "sandbox"] = ""
) -> Problem:
    """An error of any room as what a person reads."""
    can_keep = isinstance(error, CommitError) and error.can_keep
    return Problem(message=error.message, hint=error.hint, kind=kind, can_keep=can_keep)


def spent(live: LiveTurn) -> Problem:
    """No program worked: what was tried and what to do."""
    fault = live.last_fault
    tries = len(live.record.programs)
    given = live.record.model_id == GIVEN_PROGRAM
    what = "The program failed." if given else f"None of the {tries} programs worked."
    if tries == 1 and not given:
        what = "The program failed."
    return Problem(
        message=f"{what} Nothing was changed.",
        hint="" if given else "Say it in other words, in smaller steps, or choose a larger model.",
        details=fault.brief() if fault is not None else "",
    )


def in_circles(circle: Circle) -> Problem:
    """The model went round in circles: what came again."""
    what = {
        "program": "It wrote the same program three times.",
        "result": "Its programs came to the same result three times.",
        "fault": "Its programs failed in the same way three times.",
        "thinking": "It repeated the same thoughts.",
    }[circle]
    return Problem(
        message=f"The model went round in circles and was stopped. {what} Nothing was changed.",
        hint="Say it in other words, in smaller steps, or choose a larger model.",
    )


def with_sent(problem: Problem | None, effects: Iterable[Effect]) -> Problem | None:
    """The same with what cannot be taken back: requests that a turn sent before it ended."""
    hosts = [urlsplit(effect.path).netloc for effect in effects if effect.kind == "request"]
    if problem is None or not hosts:
        return problem
    count = "1 request was" if len(hosts) == 1 else f"{len(hosts)} requests were"
    names = ", ".join(dict.fromkeys(hosts))
    words = problem.message.replace(_UNCHANGED, "No file was changed.")
    return replace(problem, message=f"{words} {count} sent to {names} before, for good.")


def all_conflicts(count: int) -> Problem:
    """Nothing was applied, since the folder changed since the review."""
    return Problem(
        message=f"Nothing was applied: the folder changed since the review ({count} conflicts).",
        hint="Choose what to do about each: keep what is there, take ours, or both names"
        " (--conflicts theirs, ours or both).",
    )


def conflict_records(conflicts: Sequence[Conflict]) -> tuple[ConflictRecord, ...]:
    """Conflicts as they are stored and shown."""
    return tuple(
        ConflictRecord(
            change_id=conflict.change_id,
            path=conflict.path,
            reason=conflict.message,
            choices=conflict.choices,
        )
        for conflict in conflicts
    )


def left_over(conflicts: Sequence[ConflictRecord]) -> Problem | None:
    """What an undo could not put back; None when all is back."""
    if not conflicts:
        return None
    first = conflicts[0]
    more = f" and {len(conflicts) - 1} more" if len(conflicts) > 1 else ""
    return Problem(
        message=f"Not everything could be put back: {first.path}{more}.",
        hint="These were changed after the commit and were left as they are.",
        details="\n".join(f"{item.path}: {item.reason}" for item in conflicts),
    )
