"""Rules out of a person's own history: from the third time on, with what they would have done."""

from __future__ import annotations

from datetime import date

from app.engine.learned import suggestions
from app.store.records import Folder, TurnRecord
from sandbox.ports import Reason
from tests.app.ui import samples

TODAY = date(2030, 1, 15)
FOLDERS = (Folder(path=samples.ROOT),)


def _approved(moves: int = 41) -> TurnRecord:
    changes = samples.changes(moves)
    ids = tuple(change.id for change in changes.changes)
    return samples.turn(status="done", changes=changes, approved=ids)


def _rejected(moves: int, *reasons: Reason) -> TurnRecord:
    return samples.turn(status="rejected", changes=samples.changes(moves), reasons=reasons)


def _told(*turns: TurnRecord) -> list[tuple[int, int, int, int]]:
    found = suggestions([(turn, FOLDERS) for turn in turns], TODAY)
    return [(one.approved, one.allowed, one.asked, one.against) for one in found]


def test_a_rule_is_suggested_from_the_third_time_on() -> None:
    assert _told(_approved(), _approved()) == []
    assert _told(_approved(), _approved(), _approved()) == [(3, 3, 0, 0)]


def test_the_rule_is_as_wide_as_what_was_approved_and_no_wider() -> None:
    (found,) = suggestions([(_approved(n), FOLDERS) for n in (3, 18, 7)], TODAY)
    assert found.texts[-1].startswith(f"move:20,folder={samples.ROOT},until=2030-02-28")


def test_what_it_would_have_let_through_against_the_person_is_told() -> None:
    same = _rejected(9)
    more = _rejected(900)
    named = _rejected(9, Reason(code="bulk-loss"))
    assert _told(*[_approved()] * 3, same, more, named) == [(3, 4, 2, 1)]


def test_what_was_approved_in_part_is_no_approval_of_its_shape() -> None:
    part = samples.turn(status="done", changes=samples.changes(5), approved=("m1",))
    assert _told(part, part, part) == []
