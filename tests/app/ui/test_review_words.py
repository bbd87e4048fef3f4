"""What is unusual about changes, and the words of their marks."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest

from app.store.records import Folder
from app.ui import review_words
from sandbox.changeset import Base, Change, Evidence
from sandbox.marks import Mark
from sandbox.verify import Choice
from tests.app.ui import samples

FOLDERS = (Folder(path="/a"), Folder(path="/b"))
LINKED = Base(kind="file", size_bytes=1, mtime_ns=0, mode=0o100644, inode=1, device=1, links=2)


def test_what_replaces_or_empties_a_file_is_unusual() -> None:
    found = [
        Change(id="1", kind="move", path="/a/x", target="/a/y", overwrites=True),
        Change(id="2", kind="modify", path="/a/z", size_before=10, size_after=0),
    ]
    said = review_words.unusual(found, FOLDERS)
    assert [text.split()[0] for text in said] == ["Replaces", "Leaves"]
    assert review_words.unusual(samples.changes(3).changes, samples.FOLDERS) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            Change(id="1", kind="move", path="/a/x", target="/b/x"),
            "Moves 1 item from one folder of this chat to another.",
        ),
        (
            Change(id="1", kind="create", path="/a/x.sh"),
            "Writes 1 file that can be started as a program.",
        ),
        (
            Change(id="1", kind="mode", path="/a/x", mode=0o755),
            "Writes 1 file that can be started as a program.",
        ),
        (
            Change(id="1", kind="modify", path="/a/x", base=LINKED),
            "Changes 1 file that other names lead to; those keep the old content.",
        ),
        (
            Change(id="1", kind="move", path="/a/x", target="/a/.x"),
            "Gives 1 item a hidden name, which most file managers do not show.",
        ),
    ],
)
def test_a_mark_that_matters_is_said_first(change: Change, said: str) -> None:
    assert review_words.unusual([change], FOLDERS) == [said]


@pytest.mark.parametrize(
    "change",
    [
        Change(id="1", kind="move", path="/a/x", target="/a/c/x"),
        Change(id="1", kind="move", path="/a/x.sh", target="/a/c/x.sh"),
        Change(id="1", kind="modify", path="/a/.x", size_before=1, size_after=2),
        Change(id="1", kind="move", path="/a/x", target="/a/y", base=LINKED),
    ],
)
def test_a_mark_that_changes_nothing_of_the_decision_is_only_in_its_row(change: Change) -> None:
    assert review_words.unusual([change], FOLDERS) == []


def test_every_mark_and_every_choice_has_its_own_words() -> None:
    marks, choices = get_args(Mark), get_args(Choice)
    assert len({review_words.mark_word(mark) for mark in marks}) == len(marks) == 6
    assert len({review_words.choice_word(choice) for choice in choices}) == len(choices) == 3
    assert len({review_words.choice_meaning(choice) for choice in choices}) == 3


def test_a_change_says_which_line_and_call_made_it() -> None:
    evidence = tuple(Evidence(program_id="p2", line=n, call="os.rename") for n in (3, 4, 5, 6))
    change = Change(id="c", kind="create", path="/f/a", evidence=evidence)
    one = replace(change, evidence=evidence[:1])
    assert review_words.origin(one, ["p2"]) == "Line 3 of the program: os.rename"
    assert review_words.origin(one, ["p1", "p2"]) == "Line 3 of program 2: os.rename"
    assert review_words.origin(change, ["p2"]).endswith("; and 1 more")
    unplaced = replace(one, evidence=(replace(evidence[0], line=None),))
    assert review_words.origin(unplaced, ["p2"]) == "The program: os.rename"
    assert review_words.origin(replace(change, evidence=()), ["p2"]) == ""
