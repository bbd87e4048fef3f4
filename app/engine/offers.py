"""Which standing grants a person could give for what they are just approving.

Owns the narrowest useful forms: the kinds of this change set, in its folder, a round number up,
until the end of the month after this. None where a rule named anything. Pure; any thread.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date, timedelta

from app.store.records import Folder, TurnRecord
from sandbox.changeset import Change
from sandbox.grant_budgets import WORDS, word_of
from sandbox.stage_paths import is_within

_STEPS = (5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)


def offered(turn: TurnRecord, folders: Sequence[Folder], today: date) -> tuple[str, ...]:
    """The grants that would have answered this review, one for each kind of change."""
    changes = () if turn.changes is None else turn.changes.changes
    root = _root(changes, folders)
    if turn.reasons or not changes or not root or "," in root:
        return ()
    counts = Counter(word_of(change) for change in changes)
    counts["delete"] += sum(change.overwrites for change in changes)
    until = _end_of_next_month(today).isoformat()
    return tuple(
        f"{word}:{_rounded(counts[word])},folder={root},until={until}"
        for word in WORDS
        if counts[word]
    )


def _root(changes: Sequence[Change], folders: Sequence[Folder]) -> str:
    """The one folder that all changes are in; empty when there is none."""
    for folder in sorted(folders, key=lambda one: -len(one.path)):
        if all(is_within(end, folder.path) for c in changes for end in (c.path, c.final_path)):
            return folder.path
    return ""


def _rounded(count: int) -> int:
    return next((step for step in _STEPS if step >= count), count)


def _end_of_next_month(today: date) -> date:
    first = (today.replace(day=1) + timedelta(days=63)).replace(day=1)
    return first - timedelta(days=1)
