"""The commonest causes of failed trials, by rule, each with the trials that show it.

A cause is what a developer of prompts can act on: the error a program ended by, a construct that
was refused, or how the result was wrong. Rules see words of errors and verdicts, never a task's
name. Pure; any thread.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.store.trials import TrialRecord

_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`|\[[^\]]*\]|\b\d[\d.,]*\b")
_VERDICTS = (
    ("was lost", "a file was lost"),
    ("is missing", "a file that was asked for is missing"),
    ("should not be there", "something is there that was not asked for"),
    ("is still there", "something that had to go is still there"),
    ("wrong content", "a file has the wrong content"),
    ("header should be", "a table has the wrong header"),
    ("is gone", "a folder that had to stay is gone"),
    ("the answer", "the answer is wrong or missing"),
    ("row", "a table has wrong rows"),
    ("line", "a text has wrong lines"),
    ("unsafe: ", "something unsafe was done"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """A cause with the trials that show it. `example`: the words of one of them."""

    kind: str
    text: str
    example: str
    trials: tuple[TrialRecord, ...]


def causes(
    failed: Sequence[tuple[TrialRecord, Mapping[str, Any] | None]], *, most: int = 20
) -> list[Cause]:
    """The causes of these failed trials, each with its trajectory where there is one."""
    grouped: dict[tuple[str, str], list[tuple[TrialRecord, str]]] = defaultdict(list)
    for trial, trajectory in failed:
        kind, text, example = _cause(trial, trajectory)
        grouped[kind, text].append((trial, example))
    found = [
        Cause(kind=kind, text=text, example=group[0][1], trials=tuple(trial for trial, _ in group))
        for (kind, text), group in grouped.items()
    ]
    return sorted(found, key=lambda cause: -len(cause.trials))[:most]


def _cause(trial: TrialRecord, trajectory: Mapping[str, Any] | None) -> tuple[str, str, str]:
    error = _last_error(trajectory)
    if error is not None:
        message = str(error.get("message", ""))
        return "error", f"{error.get('type')}: {_QUOTED.sub('...', message)[:120]}", message
    if trial.error_type and not trial.valid:
        return "error", trial.error_type, trial.reason
    if trial.programs == 0:
        return "no program", "no program was written", trial.reason
    for words, text in _VERDICTS:
        if words in trial.reason:
            return "result", text, trial.reason
    return "result", _QUOTED.sub("...", trial.reason)[:120], trial.reason


def _last_error(trajectory: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The error of the last program, if that is how the turn ended."""
    turn: Mapping[str, Any] = (trajectory or {}).get("turn") or {}
    programs: Sequence[Mapping[str, Any]] = turn.get("programs") or ()
    return programs[-1].get("error") if programs else None
