"""What can be told from outside: a program that cannot have done what was asked."""

from __future__ import annotations

import pytest

from app.engine.idle import idle_fault, only_report_failed
from sandbox.changeset import Change, ChangeSet
from sandbox.errors import Fault

NOTHING = ChangeSet()
FOLDER = Change(id="1", kind="mkdir", path="/d/old")
EMPTY = Change(id="2", kind="create", path="/d/a.csv", size_after=0)
FILE = Change(id="3", kind="create", path="/d/a.csv", size_after=9)


def fault_of(request: str, *changes: Change, answer: str = "Done.", notes: tuple[str, ...] = ()):
    return idle_fault(request, "pass", answer, ChangeSet(changes=changes), notes=notes)


@pytest.mark.parametrize("request_", ["Move the old files.", "Please sort this folder by type."])
def test_a_change_that_was_asked_for_and_did_not_happen_is_a_fault(request_: str) -> None:
    fault = fault_of(request_, answer="Moved 0 files.")
    assert fault is not None
    assert fault.message == "the program changed no file"


def test_only_empty_folders_and_files_are_a_fault() -> None:
    assert fault_of("Move the old files into old.", FOLDER) is not None
    assert fault_of("Save the totals as a.csv.", EMPTY) is not None
    assert fault_of("Move the old files into old.", FOLDER, FILE) is None


def test_empty_files_are_fine_when_they_were_asked_for() -> None:
    assert fault_of("Create an empty file a.csv.", EMPTY) is None


@pytest.mark.parametrize("request_", ["How many files were moved?", "Which copies are here?"])
def test_a_question_needs_an_answer_and_no_change(request_: str) -> None:
    assert fault_of(request_, answer="7") is None
    fault = fault_of(request_, answer="")
    assert fault is not None
    assert "print" in fault.hint


def test_a_mere_question_changes_no_file() -> None:
    fault = fault_of("Which files are the largest?", FILE, answer="Wrote a.csv.")
    assert fault is not None
    assert "only asks" in fault.message
    assert fault_of("Which are the largest? Save them as a.csv.", FILE, answer="Done.") is None


def test_an_answer_is_doubted_when_what_was_looked_for_is_not_there() -> None:
    note = "The pattern '*.jpeg' matched nothing."
    fault = fault_of("How many photos are here?", answer="0", notes=(note,))
    assert fault is not None
    assert note in fault.hint


def test_a_request_that_is_no_clear_order_is_not_judged() -> None:
    assert fault_of("Was ist hier los?", answer="3 Dateien") is None


def test_a_misread_table_is_a_fault_whatever_was_written() -> None:
    doubt = "a.csv is separated by ';': read it with delimiter=';'."
    fault = idle_fault("Sort a.csv.", "pass", "Done.", ChangeSet(changes=(FILE,)), doubts=(doubt,))
    assert fault is not None
    assert doubt in fault.brief()


def test_what_is_often_the_reason_is_told() -> None:
    fault = idle_fault("Rename the scans.", "re.match(r'x', name)", "", NOTHING)
    assert fault is not None
    assert "use re.search" in fault.hint


WORK = "x = 1\nopen('a.csv', 'w').write('a')\nprint(f'{len(x)} rows')\n"

REPORTS: dict[str, tuple[bool, str, str, int | None, Change]] = {
    "the last print": (True, "Write a.csv.", WORK, 3, FILE),
    "a line before it": (False, "Write a.csv.", WORK, 2, FILE),
    "no known line": (False, "Write a.csv.", WORK, None, FILE),
    "a question": (False, "How many rows has a.csv?", WORK, 3, FILE),
    "nothing changed but folders": (False, "Write a.csv.", WORK, 3, FOLDER),
    "a last line of another kind": (False, "Write a.csv.", "x = 1\nsave(x)\n", 2, FILE),
    "nothing else": (False, "Write a.csv.", "print(x)\n", 1, FILE),
}


@pytest.mark.parametrize("name", REPORTS)
def test_work_is_kept_when_only_its_report_fails(name: str) -> None:
    kept, request, source, line, change = REPORTS[name]
    fault = Fault(type="TypeError", message="no len()", line=line)
    assert only_report_failed(request, source, fault, ChangeSet(changes=(change,))) is kept
