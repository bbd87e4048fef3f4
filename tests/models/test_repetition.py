"""A reply that goes round in circles is noticed; a program with like lines is not."""

from __future__ import annotations

import pytest

from models.repetition import RepetitionWatch


def fed(text: str, size: int = 3) -> bool:
    watch = RepetitionWatch()
    pieces = (text[at : at + size] for at in range(0, len(text), size))
    return any(watch.push(piece) for piece in pieces)


@pytest.mark.parametrize("size", [1, 3, 50])
def test_a_short_phrase_said_over_and_over_is_noticed(size: int) -> None:
    assert fed("exts = {" + '".txt", ".csv", ".json", ' * 60, size)


def test_a_long_passage_is_noticed_in_its_third_copy() -> None:
    passage = "".join(f"if name == 'file{number}':\n    count += {number}\n" for number in range(9))
    assert not fed(passage * 2)
    assert fed(passage * 4)


def test_a_dozen_lines_that_differ_by_a_number_are_no_loop_but_dozens_are() -> None:
    lines = [f'rows.append(["item {number}", {number * 7}])\n' for number in range(80)]
    assert not fed("".join(lines[:12]))
    assert fed("".join(lines))


def test_a_program_written_twice_is_no_loop() -> None:
    program = """
import csv
with open("a.csv", newline="", encoding="utf-8") as f:
    rows = list(csv.DictReader(f))
with open("b.csv", "w", newline="", encoding="utf-8") as f:
    writer = csv.DictWriter(f, fieldnames=list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
print(f"Copied {len(rows)} rows.")
"""
    assert not fed(program + "Here it is again, corrected:\n" + program)


def test_one_word_without_end_is_a_loop_too() -> None:
    assert fed("x = '" + "A" * 5000)
