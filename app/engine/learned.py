"""Rules that a person's own history suggests: the same kind of approval, three times.

Owns the shape of an approval and the replay: what a rule would have allowed and asked about in the
turns that there were. It must not grant anything: the person does. Pure; any thread.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from app.engine.offers import offered
from app.store.records import Folder, TurnRecord
from sandbox.grants import grants_of
from sandbox.review import Surroundings, judge_changes

_OFTEN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """Grants that would have answered `approved` like approvals.

    `allowed`, `asked`: turns of the whole history that they would have let through or not;
    `against`: turns that would have been let through although the person rejected them.
    """

    texts: tuple[str, ...]
    approved: int
    allowed: int
    asked: int
    against: int


def suggestions(
    history: Sequence[tuple[TurnRecord, Sequence[Folder]]], today: date
) -> tuple[Suggestion, ...]:
    """Rules for what was approved whole at least three times, the most frequent first.

    `history`: turns with the folders that they had; those without changes are passed over.
    """
    shapes: defaultdict[tuple[tuple[str, str], ...], list[tuple[str, ...]]] = defaultdict(list)
    decided = [(turn, folders) for turn, folders in history if turn.changes is not None]
    for turn, folders in decided:
        texts = offered(turn, folders, today)
        if texts and _is_whole(turn):
            shapes[tuple(_shape(text) for text in texts)].append(texts)
    found = [
        _suggestion([max(column, key=_count) for column in zip(*likes, strict=True)], len(likes),
                    decided, today)
        for likes in shapes.values()
        if len(likes) >= _OFTEN
    ]  # fmt: skip
    return tuple(sorted(found, key=lambda one: -one.approved))


def _is_whole(turn: TurnRecord) -> bool:
    """Whether all of a turn's changes were approved."""
    changes = turn.changes.changes if turn.changes is not None else ()
    return turn.status in ("done", "undone") and len(turn.approved) == len(changes)


def _shape(text: str) -> tuple[str, str]:
    """A grant without its bounds: its kind and its folder."""
    head, folder, *_ = text.split(",")
    return head.partition(":")[0], folder


def _count(text: str) -> int:
    return int(text.partition(":")[2].partition(",")[0])


def _suggestion(
    texts: Sequence[str],
    approved: int,
    history: Sequence[tuple[TurnRecord, Sequence[Folder]]],
    today: date,
) -> Suggestion:
    grants = grants_of(frozenset(texts))
    allowed = asked = against = 0
    for turn, folders in history:
        assert turn.changes is not None
        around = Surroundings(roots=[one.path for one in folders], today=today)
        if judge_changes(turn.changes, turn.reasons, grants, around).outcome == "allow":
            allowed += 1
            against += turn.status == "rejected"
        else:
            asked += 1
    return Suggestion(
        texts=tuple(texts), approved=approved, allowed=allowed, asked=asked, against=against
    )
