"""Conflicts with a choice: keep theirs, take ours, both names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox.changeset import ChangeSet
from sandbox.commit import commit, verified
from sandbox.stage import Stage
from sandbox.undo import undo
from sandbox.verify import Choice
from tests.sandbox.trees import Yard, contents, make_yard, picture

FILES = {"one.txt": "1", "two": "2", "a/x": "ax", "b/x": "bx"}
Program = Callable[[Stage], object]
Meddle = Callable[[Path], object]


def edit(folder: Path) -> None:
    (folder / "one.txt").write_text("theirs")


def delete(folder: Path) -> None:
    (folder / "one.txt").unlink()


def occupy(folder: Path) -> None:
    (folder / "new.txt").write_text("theirs")


def occupy_with_folder(folder: Path) -> None:
    (folder / "new.txt").mkdir()


def occupy_with_full_folder(folder: Path) -> None:
    (folder / "new.txt").mkdir()
    (folder / "new.txt/theirs").write_text("theirs")


def put_into_a(folder: Path) -> None:
    (folder / "a/theirs").mkdir()
    (folder / "a/theirs/t").write_text("theirs")


def edit_in_moved_folder(stage: Stage) -> None:
    stage.rename("a", "new.txt")
    stage.write_bytes("new.txt/x", b"ours")
    stage.write_bytes("new.txt/y", b"new")
    stage.rename("b/x", "new.txt/in/b")


ROWS: list[tuple[Program, Meddle, dict[Choice, dict[str, bytes | None]]]] = [
    (
        lambda s: s.write_bytes("one.txt", b"ours"),
        edit,
        {
            "theirs": {"one.txt": b"theirs"},
            "ours": {"one.txt": b"ours"},
            "both": {"one.txt": b"theirs", "one (2).txt": b"ours"},
        },
    ),
    (lambda s: s.append_bytes("one.txt", b"+"), edit, {"theirs": {"one.txt": b"theirs"}}),
    (
        lambda s: s.write_bytes("one.txt", b"ours"),
        delete,
        {"theirs": {"one.txt": None}, "ours": {"one.txt": b"ours"}},
    ),
    (
        lambda s: s.unlink("one.txt"),
        edit,
        {"theirs": {"one.txt": b"theirs"}, "ours": {"one.txt": None}},
    ),
    (
        lambda s: s.unlink("one.txt"),
        delete,
        {"theirs": {"one.txt": None}, "ours": {"one.txt": None}},
    ),
    (
        lambda s: s.write_bytes("new.txt", b"ours"),
        occupy,
        {
            "theirs": {"new.txt": b"theirs"},
            "ours": {"new.txt": b"ours"},
            "both": {"new.txt": b"theirs", "new (2).txt": b"ours"},
        },
    ),
    (
        lambda s: s.rename("one.txt", "new.txt"),
        occupy,
        {
            "theirs": {"new.txt": b"theirs", "one.txt": b"1"},
            "ours": {"new.txt": b"1", "one.txt": None},
            "both": {"new.txt": b"theirs", "new (2).txt": b"1", "one.txt": None},
        },
    ),
    (
        lambda s: s.rename("one.txt", "new.txt"),
        edit,
        {
            "theirs": {"one.txt": b"theirs", "new.txt": None},
            "ours": {"new.txt": b"theirs", "one.txt": None},
        },
    ),
    (lambda s: s.rename("one.txt", "new.txt"), delete, {"theirs": {"new.txt": None}}),
    (
        lambda s: s.rename("two", "one.txt"),
        edit,
        {
            "theirs": {"one.txt": b"theirs", "two": b"2"},
            "ours": {"one.txt": b"2", "two": None},
            "both": {"one.txt": b"theirs", "one (2).txt": b"2", "two": None},
        },
    ),
    (
        lambda s: s.rename("a", "new.txt"),
        occupy,
        {
            "theirs": {"new.txt": b"theirs", "a/x": b"ax"},
            "ours": {"new.txt/x": b"ax", "a/x": None},
            "both": {"new.txt": b"theirs", "new (2).txt/x": b"ax", "a/x": None},
        },
    ),
    (
        edit_in_moved_folder,
        occupy_with_full_folder,
        {
            "theirs": {"new.txt/theirs": b"theirs", "a/x": b"ax"},
            "ours": {"new.txt/theirs": None, "new.txt/x": b"ours", "new.txt/y": b"new"},
            "both": {
                "new.txt/theirs": b"theirs",
                "new (2).txt/x": b"ours",
                "new (2).txt/in/b": b"bx",
                "new (2).txt/y": b"new",
                "a/x": None,
            },
        },
    ),
    (
        lambda s: s.write_bytes("new.txt/inner", b"ours"),
        occupy_with_full_folder,
        {
            "theirs": {"new.txt/inner": None, "new.txt/theirs": b"theirs"},
            "ours": {"new.txt/inner": b"ours", "new.txt/theirs": b"theirs"},
            "both": {"new.txt/theirs": b"theirs", "new (2).txt/inner": b"ours"},
        },
    ),
    (
        lambda s: s.write_bytes("new.txt/in/inner", b"ours"),
        occupy,
        {
            "theirs": {"new.txt": b"theirs"},
            "ours": {"new.txt/in/inner": b"ours"},
            "both": {"new.txt": b"theirs", "new (2).txt/in/inner": b"ours"},
        },
    ),
    (
        lambda s: s.write_bytes("new.txt", b"ours"),
        occupy_with_full_folder,
        {
            "theirs": {"new.txt/theirs": b"theirs"},
            "ours": {"new.txt": b"ours", "new.txt/theirs": None},
            "both": {"new.txt/theirs": b"theirs", "new (2).txt": b"ours"},
        },
    ),
    (
        lambda s: s.rename("two", "new.txt"),
        occupy_with_full_folder,
        {
            "theirs": {"new.txt/theirs": b"theirs", "two": b"2"},
            "ours": {"new.txt": b"2", "two": None},
            "both": {"new.txt/theirs": b"theirs", "new (2).txt": b"2", "two": None},
        },
    ),
    (
        lambda s: s.rmtree("a"),
        put_into_a,
        {
            "theirs": {"a/theirs/t": b"theirs"},
            "ours": {"a": None, "a/theirs/t": None, "a/x": None},
        },
    ),
    (lambda s: s.chmod("one.txt", 0o600), delete, {"theirs": {"one.txt": None}}),
]
CASES = [
    (program, meddle, choice, expected)
    for program, meddle, by_choice in ROWS
    for choice, expected in by_choice.items()
]


def staged(tmp_path: Path, program: Program, meddle: Meddle) -> tuple[Yard, ChangeSet]:
    yard = make_yard(tmp_path, FILES)
    program(yard.stage)
    yard.stage.write_bytes("unrelated", b"u")
    changes = yard.stage.changes()
    meddle(yard.folder)
    return yard, changes


@pytest.mark.parametrize(("program", "meddle", "choice", "expected"), CASES)
def test_a_choice_does_what_it_says_and_is_undone(
    tmp_path: Path,
    program: Program,
    meddle: Meddle,
    choice: Choice,
    expected: dict[str, bytes | None],
) -> None:
    yard, changes = staged(tmp_path, program, meddle)
    before = picture(yard.folder)
    _, conflicts = verified(changes, yard.stage.grants)
    chosen = {p.change_id: choice for p in conflicts if p.reason != "needs-another"}
    report = commit(
        changes,
        blobs=yard.blobs,
        undo_folder=yard.undo_folder,
        grants=yard.stage.grants,
        choices=chosen,
        whole=True,
    )
    assert report.conflicts == ()
    now = contents(yard.folder)
    assert {name: now.get(name) for name in expected} == expected
    assert now["unrelated"] == b"u"
    assert undo(yard.undo_folder).conflicts == ()
    assert picture(yard.folder) == before


@pytest.mark.parametrize(("program", "meddle", "by_choice"), ROWS)
def test_only_what_can_be_made_is_offered(
    tmp_path: Path, program: Program, meddle: Meddle, by_choice: dict[Choice, object]
) -> None:
    yard, changes = staged(tmp_path, program, meddle)
    _, conflicts = verified(changes, yard.stage.grants)
    offered = [p.choices for p in conflicts if p.reason != "needs-another"]
    assert offered == [tuple(by_choice)]


def test_without_a_choice_the_whole_waits_and_nothing_is_touched(tmp_path: Path) -> None:
    yard, changes = staged(tmp_path, lambda s: s.write_bytes("one.txt", b"ours"), edit)
    before = picture(yard.folder)
    report = commit(
        changes,
        blobs=yard.blobs,
        undo_folder=yard.undo_folder,
        grants=yard.stage.grants,
        whole=True,
    )
    assert report.applied == ()
    assert [problem.reason for problem in report.conflicts] == ["changed"]
    assert picture(yard.folder) == before


def test_a_choice_that_is_not_offered_is_not_made(tmp_path: Path) -> None:
    yard, changes = staged(tmp_path, lambda s: s.append_bytes("one.txt", b"+"), edit)
    _, conflicts = verified(changes, yard.stage.grants)
    report = commit(
        changes,
        blobs=yard.blobs,
        undo_folder=yard.undo_folder,
        grants=yard.stage.grants,
        choices={conflicts[0].change_id: "ours"},
    )
    assert [problem.reason for problem in report.conflicts] == ["changed"]
    assert contents(yard.folder)["one.txt"] == b"theirs"
    assert contents(yard.folder)["unrelated"] == b"u"


def test_both_names_find_a_free_one(tmp_path: Path) -> None:
    yard, changes = staged(tmp_path, lambda s: s.write_bytes("one.txt", b"ours"), edit)
    (yard.folder / "one (2).txt").write_text("there already")
    _, conflicts = verified(changes, yard.stage.grants)
    commit(
        changes,
        blobs=yard.blobs,
        undo_folder=yard.undo_folder,
        grants=yard.stage.grants,
        choices={conflicts[0].change_id: "both"},
    )
    now = contents(yard.folder)
    assert (now["one (2).txt"], now["one (3).txt"]) == (b"there already", b"ours")
