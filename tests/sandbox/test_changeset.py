"""The change set as data: JSON, counts, what needs what."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.changeset import (
    Change,
    ChangeSet,
    Evidence,
    dependents,
    from_json,
    in_order,
    requirements,
    select,
    sentence_parts,
    summary,
    to_json,
)
from tests.sandbox.trees import Yard, make_yard

FILES = {"a/x": "ax", "a/y": "ay", "one": "1", "two": "22", "bad-\udcff": "b"}


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    return make_yard(tmp_path, FILES)


def ids(change_set: ChangeSet) -> list[str]:
    return [change.id for change in change_set.changes]


def test_json_brings_everything_back(yard: Yard) -> None:
    yard.stage.evidence = Evidence(program_id="p", line=1, call="open")
    yard.stage.rename("bad-\udcff", "new/good")
    yard.stage.append_bytes("new/good", b"+")
    yard.stage.copy_file("one", "copy", metadata=True)
    yard.stage.rename("one", "two")
    yard.stage.rmtree("a")
    changes = yard.stage.changes()
    text = json.dumps(to_json(changes))
    assert text.isascii()
    assert from_json(json.loads(text)) == changes


def test_json_of_another_version_is_refused() -> None:
    with pytest.raises(ValueError, match="version 99"):
        from_json({"version": 99, "changes": []})


def test_the_summary_counts_files_folders_and_bytes(yard: Yard) -> None:
    yard.stage.rename("one", "two")
    yard.stage.rename("a", "b")
    yard.stage.unlink("b/y")
    yard.stage.write_bytes("made/new", b"12345")
    yard.stage.append_bytes("b/x", b"+++")
    counts = summary(yard.stage.changes())
    assert (counts.moved, counts.moved_folders, counts.new_folders) == (1, 1, 1)
    assert (counts.created, counts.modified, counts.deleted) == (1, 1, 1)
    assert (counts.overwritten, counts.bytes_written, counts.bytes_removed) == (1, 10, 4)
    assert not counts.is_empty
    assert summary(ChangeSet()).is_empty


def test_sentence_parts_group_and_give_examples(yard: Yard) -> None:
    for number in range(5):
        yard.stage.write_bytes(f"n{number}", b"")
    yard.stage.unlink("one")
    created, deleted = sentence_parts(yard.stage.changes())
    assert (created.kind, created.count, len(created.examples)) == ("created", 5, 3)
    assert (deleted.kind, deleted.examples) == ("deleted", (str(yard.folder / "one"),))


def test_unchecking_a_new_folder_unchecks_what_is_in_it(yard: Yard) -> None:
    yard.stage.write_bytes("new/in/file", b"")
    yard.stage.unlink("one")
    changes = yard.stage.changes()
    folder = next(change.id for change in changes.changes if change.path.endswith("/new"))
    file = next(change.id for change in changes.changes if change.kind == "create")
    assert len(dependents(changes, folder)) == 2
    assert requirements(changes, file) == {c for c in ids(changes) if c.startswith("mkdir")}
    left = select(changes, set(ids(changes)) - {folder})
    assert [change.kind for change in left.changes] == ["delete"]


def test_unchecking_a_file_of_a_deleted_folder_keeps_the_folder(yard: Yard) -> None:
    yard.stage.rmtree("a")
    changes = yard.stage.changes()
    kept = next(change.id for change in changes.changes if change.path.endswith("a/x"))
    left = select(changes, set(ids(changes)) - {kept})
    assert [change.path for change in left.changes] == [str(yard.folder / "a/y")]


def test_half_a_swap_is_nothing(yard: Yard) -> None:
    yard.stage.rename("one", "aside")
    yard.stage.rename("two", "one")
    yard.stage.rename("aside", "two")
    changes = yard.stage.changes()
    assert len(changes.changes) == 2
    for change in changes.changes:
        assert select(changes, [change.id]).changes == ()


def test_unknown_ids_select_nothing(yard: Yard) -> None:
    yard.stage.unlink("one")
    assert select(yard.stage.changes(), ["no such id"]).changes == ()


def test_dependencies_come_first_and_circles_do_not_hang() -> None:
    change = Change(id="a", kind="create", path="/a", depends_on=("b", "elsewhere"))
    circle = [
        replace(change, id="x", depends_on=("y",)),
        replace(change, id="y", depends_on=("x",)),
    ]
    changes = [change, replace(change, id="b", depends_on=("c",)), replace(change, id="c"), *circle]
    changes[2] = replace(changes[2], depends_on=())
    assert [item.id for item in in_order(changes)] == ["c", "b", "a", "x", "y"]
