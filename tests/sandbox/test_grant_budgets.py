"""Grants for changes: their forms, their budgets, and what they never cover."""

from __future__ import annotations

from datetime import date

import pytest

from sandbox.changeset import Change, ChangeSet
from sandbox.grant_budgets import change_grant, explained
from sandbox.grants import grants_of
from sandbox.ports import Reason
from sandbox.review import Surroundings, judge_changes

ROOT = "/home/ann/Files"
TODAY = date(2030, 6, 1)


def _moves(count: int, folder: str = ROOT, **rest: bool) -> ChangeSet:
    return ChangeSet(
        changes=tuple(
            Change(
                id=f"m{n}", kind="move", path=f"{folder}/{n}", target=f"{folder}/x{n}",
                size_before=100, size_after=100, **rest,
            )
            for n in range(count)
        )
    )  # fmt: skip


def _outcome(grant: str, changes: ChangeSet, *reasons: Reason) -> str:
    around = Surroundings(roots=(ROOT,), files_in=lambda _: 10, today=TODAY)
    return judge_changes(changes, reasons, grants_of(frozenset({grant})), around).outcome


@pytest.mark.parametrize(
    ("grant", "count", "outcome"),
    [
        ("move:5", 5, "allow"),
        ("move:5", 6, "ask"),
        ("delete:5", 5, "ask"),
        ("commit:new-files", 5, "ask"),
        ("move:5,bytes=500B", 5, "allow"),
        ("move:5,bytes=499B", 5, "ask"),
        ("move:5,share=50%", 5, "allow"),
        ("move:5,share=49%", 5, "ask"),
        (f"move:5,folder={ROOT}", 5, "allow"),
        ("move:5,folder=/home/ann/File", 5, "ask"),
        ("move:5,until=2030-06-01", 5, "allow"),
        ("move:5,until=2030-05-31", 5, "ask"),
        ("host:example.org", 1, "ask"),
    ],
)
def test_a_grant_covers_what_is_within_its_budget(grant: str, count: int, outcome: str) -> None:
    assert _outcome(grant, _moves(count)) == outcome


def test_a_move_that_replaces_a_file_is_a_deletion_too() -> None:
    replacing = _moves(1, overwrites=True)
    assert _outcome("move:5", replacing) == "ask"
    both = grants_of(frozenset({"move:5", "delete:5"}))
    assert judge_changes(replacing, (), both).outcome == "allow"


def test_a_grant_never_covers_what_a_rule_names() -> None:
    assert _outcome("move:5", _moves(1), Reason(code="untrusted-steers-move")) == "ask"


def test_nothing_is_covered_by_no_grant_and_nothing_needs_one() -> None:
    assert judge_changes(_moves(1)).outcome == "ask"
    assert judge_changes(ChangeSet()).outcome == "ask"


@pytest.mark.parametrize(
    "text",
    [
        "move", "move:", "move:x", "move:-1", "move:5,", "move:5,colour=red", "move:5,bytes=big",
        "move:5,share=0%", "move:5,share=101%", "move:5,folder=here", "move:5,runs=0",
        "move:5,until=tomorrow", "commit:everything", "everything:5", "command:*", "command:",
        "send:", "send:a b", "tool:a b", "host:*", "delete:٣",
    ],
)  # fmt: skip
def test_a_malformed_grant_is_refused_with_the_right_form(text: str) -> None:
    with pytest.raises(ValueError, match=r"form|known|none of|is no"):
        grants_of(frozenset({text}))


def test_sizes_and_shares_are_read_as_people_write_them() -> None:
    grant = change_grant("delete:20,bytes=1.5MB,share=10%,runs=3")
    assert (grant.size_bytes, grant.share, grant.runs) == (1_500_000, 0.1, 3)


@pytest.mark.parametrize("text", ["move:5", "commit:new-files", "host:x.org", "command:ls *"])
def test_every_grant_is_explained_with_its_own_bounds(text: str) -> None:
    assert explained(text).endswith(".")
    value = text.partition(":")[2]
    assert value in explained(text) or text.startswith("commit")
