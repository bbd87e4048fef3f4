"""What a request says about its result: each check with a case it doubts and one it lets be."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from app.engine.expect import FilesBefore, Finished, named_outputs, unmet, wanted_columns
from sandbox.blobs import BlobStore
from sandbox.changeset import Change, ChangeSet
from sandbox.stage import FolderGrant, Stage

HERE = FilesBefore(
    names=frozenset({"a.txt", "b.txt", "c.md", "data.csv", "list.txt"}),
    endings=Counter({".txt": 3, ".md": 1, ".csv": 1}),
)


def made(name: str, **more: object) -> Change:
    return Change(id=name, kind="create", path=f"/d/{name}", size_after=9, **more)  # type: ignore[arg-type]


def changed(name: str) -> Change:
    return Change(id=name, kind="modify", path=f"/d/{name}", size_before=9, size_after=9)


def moved(name: str, to: str, *, overwrites: bool = False) -> Change:
    return Change(
        id=name,
        kind="move",
        path=f"/d/{name}",
        target=f"/d/{to}",
        size_before=9,
        overwrites=overwrites,
    )


def gone(name: str) -> Change:
    return Change(id=name, kind="delete", path=f"/d/{name}", size_before=9)


def doubts(
    request: str, *changes: Change, source: str = "pass", answer: str = "Done."
) -> list[str]:
    finished = Finished(source=source, answer=answer, changes=ChangeSet(changes=changes))
    return unmet(request, finished, HERE)


@pytest.mark.parametrize(
    ("request_", "names"),
    [
        ("Save the result as sums.csv with two columns.", ["sums.csv"]),
        ("Write a file totals.csv and a file called log.txt.", ["totals.csv", "log.txt"]),
        ("Merge them into one file called all.csv.", ["all.csv"]),
        ("Rename them, so that Holiday.txt becomes holiday.txt.", []),
        ('Files named like "report.txt" go into a folder.', []),
        ("Sort the rows of data.csv.", []),
        ("Send it to me@mail.example.txt or www.example.html/x.", []),
    ],
)
def test_files_to_be_made_are_told_from_other_names(request_: str, names: list[str]) -> None:
    assert named_outputs(request_, HERE.names) == names


def test_columns_are_read_from_the_request() -> None:
    assert wanted_columns("with the columns name, city and age.") == ["name", "city", "age"]
    assert wanted_columns("columns status and count, sorted by status") == ["status", "count"]
    assert wanted_columns("Add a column tax.") == []
    both = "data.csv has the columns a and b. Write c.csv with the columns b and sum."
    assert wanted_columns(both, HERE.names) == ["b", "sum"]
    assert wanted_columns("data.csv has the columns a, b and c. Sort it.", HERE.names) == []


def test_a_file_that_is_wanted_has_to_be_made_as_a_file() -> None:
    request = "Join the notes into one file all.txt."
    assert "made none" in doubts(request, made("other.txt"))[0]
    folder = Change(id="f", kind="mkdir", path="/d/all.txt")
    assert "has to be a file" in doubts(request, folder)[0]
    assert doubts(request, made("all.txt")) == []


def test_itself_means_the_file_and_no_other() -> None:
    request = "Remove blank lines from list.txt. Change list.txt itself."
    found = doubts(request, made("list_new.txt"))
    assert any("itself" in doubt for doubt in found)
    assert any("does not ask" in doubt for doubt in found)
    assert doubts(request, changed("list.txt")) == []


def test_a_named_folder_has_to_be_filled() -> None:
    request = "Move the texts into a folder called old."
    assert "folder old" in doubts(request, moved("a.txt", "texts/a.txt"))[0]
    assert doubts(request, moved("a.txt", "old/a.txt")) == []


def test_nothing_is_deleted_or_moved_that_was_not_to_be() -> None:
    assert (
        "deleted a.txt"
        in doubts("Merge the texts into all.txt.", made("all.txt"), gone("a.txt"))[0]
    )
    assert doubts("Delete the texts.", gone("a.txt")) == []
    assert "got lost" in doubts("Rename the texts.", gone("a.txt"), moved("b.txt", "x.txt"))[0]
    assert "moved" in doubts("Copy the texts into a folder called b.", moved("a.txt", "b/a.txt"))[0]


def test_what_is_ordered_has_to_happen() -> None:
    request = "list.txt has two columns. Rename the texts accordingly."
    assert "no file was moved" in doubts(request, changed("list.txt"))[0]
    assert doubts(request, moved("a.txt", "x.txt")) == []
    assert doubts(request, made("x.txt"), gone("a.txt"))[0].startswith("a.txt got lost")
    assert "nothing was deleted" in doubts("Delete the texts.", made("x.txt"))[0]
    assert "nothing was copied" in doubts("Copy the texts.", changed("a.txt"))[0]


def test_a_moved_file_keeps_its_ending_and_replaces_nothing() -> None:
    assert "keeps its ending" in doubts("Move a.txt into months.", moved("a.txt", "2020"))[0]
    assert "replaced" in doubts("Rename all.", moved("a.txt", "b.txt", overwrites=True))[0]
    assert doubts("Change the extension of a.txt to .md.", moved("a.txt", "a.md")) == []


def test_a_content_that_only_moves_is_not_changed() -> None:
    assert "content of a.txt" in doubts("Move it to old.", changed("a.txt"))[0]
    assert doubts("Add a line to each text.", changed("a.txt")) == []


def test_an_ending_that_no_file_has_is_told() -> None:
    request = "Count the letters."
    assert "No file here ends in .rst" in doubts(request, source='x = glob("*.rst")')[0]
    assert doubts(request, source='x = glob("*.txt")') == []
    assert doubts("Count the .rst files.", source='x = glob("*.rst")') == []


def test_all_files_are_not_only_those_of_an_ending() -> None:
    request = "Put a date before the name of all files."
    assert "about all files" in doubts(request, source='if p.suffix == ".txt": pass')[0]
    assert doubts("Put a date before all text files.", source='if p.suffix == ".txt": pass') == []


def test_names_read_off_the_listing_are_no_way_to_go_through_all() -> None:
    source = 'for n in ["a.txt", "b.txt"]: pass'
    assert (
        "names (a.txt, b.txt)" in doubts("Change every text.", changed("a.txt"), source=source)[0]
    )
    assert doubts("Change a.txt and b.txt.", changed("a.txt"), source=source) == []


def test_an_answer_has_the_number_and_no_object() -> None:
    assert "number" in doubts("How many texts are here?", answer="There are some texts.")[0]
    assert doubts("How many texts are here?", answer="3") == []
    assert "object" in doubts("Which are here?", answer="<generator object x at 0x1>")[0]


def test_new_names_have_the_form_of_the_example() -> None:
    request = "Put each text into a folder for its month, like 2024-03."
    assert "form of 2024-03" in doubts(request, moved("a.txt", "2023/07/a.txt"))[0]
    assert doubts(request, moved("a.txt", "2023-07/a.txt")) == []
    assert doubts("Move texts like a.txt into old.", moved("a.txt", "old/a.txt")) == []
    assert doubts("Sum up the days (like 2024-03-15) as s.csv.", made("s.csv")) == []


def test_a_pattern_that_fits_no_name_is_told() -> None:
    source = 'import re\nre.search(r"IMG_(\\d+)", p.name)'
    assert "fits no name here" in doubts("Rename the pictures.", source=source)[0]
    assert doubts("Rename.", source='import re\nre.search(r"[ab]\\.txt", p.name)') == []
    assert doubts("Rename.", moved("a.txt", "x.txt"), source=source) == []


class TestContents:
    """What was written is read back from the stage."""

    @pytest.fixture
    def stage(self, tmp_path: Path) -> Stage:
        folder = tmp_path / "desk"
        folder.mkdir()
        return Stage([FolderGrant(path=folder)], BlobStore(tmp_path / "blobs"))

    def doubts(self, stage: Stage, request: str, name: str, text: str) -> list[str]:
        before = FilesBefore.of(stage)
        stage.push()
        stage.write_bytes(f"{stage.cwd}/{name}", text.encode())
        finished = Finished(source="pass", answer="Done.", changes=stage.changes())
        doubts = unmet(request, finished, before, stage)
        stage.drop()
        return doubts

    def test_a_table_has_rows_and_the_columns_that_were_asked_for(self, stage: Stage) -> None:
        request = "Make t.csv with the columns name and age."
        assert "no rows" in self.doubts(stage, request, "t.csv", "name,age\n")[0]
        assert "has to be name,age" in self.doubts(stage, request, "t.csv", "Ada,36\nBob,7\n")[0]
        assert self.doubts(stage, request, "t.csv", "name,age\nAda,36\n") == []

    def test_endings_without_their_dot(self, stage: Stage) -> None:
        request = "Count the files by extension (without the dot) into t.csv."
        assert "dot" in self.doubts(stage, request, "t.csv", "type,n\n.jpg,2\n")[0]
        assert self.doubts(stage, request, "t.csv", "type,n\njpg,2\n") == []

    def test_an_empty_text_and_an_object_are_doubted(self, stage: Stage) -> None:
        request = "Make t.txt with all names."
        assert "is empty" in self.doubts(stage, request, "t.txt", "\n")[0]
        assert "object" in self.doubts(stage, request, "t.txt", "PosixPath('a')\n")[0]
        assert self.doubts(stage, request, "t.txt", "a\nb\n") == []
