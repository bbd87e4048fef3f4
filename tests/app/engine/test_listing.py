"""The listing that a model sees: complete when it fits, honest when it is cut."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.engine.listing import estimate_tokens, list_folders, size_text
from sandbox.blobs import BlobStore
from sandbox.stage import FolderGrant, Stage


def stage_of(folder: Path, *more: Path) -> Stage:
    grants = [FolderGrant(path=path) for path in (folder, *more)]
    return Stage(grants, BlobStore(folder.parent / "blobs"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "desk"
    folder.mkdir()
    return folder


def test_a_small_folder_is_listed_whole_with_first_lines(folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "deep.bin").write_bytes(b"\0" * 1500)
    (folder / "sales.csv").write_text("name;amount\nAnn;3\nBob;4\nCid;5\n", encoding="utf-8")
    text = list_folders(stage_of(folder), "x", budget_tokens=1000)
    assert text.splitlines() == [
        "Current folder: 2 files, 1 folder",
        "- sales.csv  30 B",
        "- sub/",
        "- sub/deep.bin  2 kB",
        'First lines of sales.csv (use delimiter=";"):',
        "    name;amount",
        "    Ann;3",
        "    Bob;4",
        "    Cid;5",
    ]


def test_like_files_are_shown_by_a_few_of_them(folder: Path) -> None:
    for number in range(40):
        (folder / f"IMG_20240101_{number:06}.jpg").touch()
    (folder / "plan.md").touch()
    text = list_folders(stage_of(folder), "x", budget_tokens=500)
    shown = sum(".jpg  " in line for line in text.splitlines())
    assert 3 <= shown < 40
    assert "- plan.md" in text
    assert f"and {40 - shown} more not listed here: {40 - shown} .jpg" in text


def test_few_files_of_a_kind_show_their_first_lines_and_the_named_one_always(
    folder: Path,
) -> None:
    for number in range(9):
        (folder / f"note {number}.txt").write_text(f"I am {number}", encoding="utf-8")
    text = list_folders(stage_of(folder), "What is in note 7?", budget_tokens=1000)
    assert text.count("First lines of") == 2
    (folder / "special.txt").write_text("I am special", encoding="utf-8")
    text = list_folders(stage_of(folder), "What is in special?", budget_tokens=1000)
    assert "    I am special" in text


def test_indented_json_shows_more_than_its_brackets(folder: Path) -> None:
    (folder / "a.json").write_text('[\n  {\n    "name": "Ann"\n  }\n]\n', encoding="utf-8")
    text = list_folders(stage_of(folder), "x", budget_tokens=400)
    assert '    [ { "name": "Ann" } ]' in text.splitlines()


def test_a_folder_of_dozens_of_files_costs_no_more_than_its_budget(folder: Path) -> None:
    for number in range(36):
        file = folder / f"IMG_202403{number:02}_{number * 7919:06}.csv"
        file.write_text("date,item,amount\n2024-01-01,tea,1.50\n" * 9, encoding="utf-8")
    text = list_folders(stage_of(folder), "x", budget_tokens=640)
    assert estimate_tokens(text) <= 640


def test_an_empty_folder_says_so(folder: Path) -> None:
    text = list_folders(stage_of(folder), "x", budget_tokens=100)
    assert text == "Current folder: 0 files (it is empty)"


def test_a_large_folder_is_cut_within_the_budget_and_says_what_is_missing(folder: Path) -> None:
    for number in range(3000):
        (folder / f"IMG_{number:04}.jpg").touch()
    (folder / "insurance contract.pdf").touch()
    os.utime(folder / "insurance contract.pdf", (1, 1))
    os.utime(folder / "IMG_1234.jpg", (4_000_000_000, 4_000_000_000))
    text = list_folders(stage_of(folder), "Where is my insurance?", budget_tokens=400)
    assert len(text) <= 400 * 3
    assert "3001 files" in text
    assert "insurance contract.pdf" in text, "the request names it"
    assert "IMG_1234.jpg" in text, "it is the newest"
    shown = sum(line.startswith("- ") for line in text.splitlines()) - 1
    assert f"and {3001 - shown} more not listed here: {3001 - shown} .jpg" in text


def test_names_with_line_breaks_stay_on_one_line(folder: Path) -> None:
    (folder / "two\nlines.txt").touch()
    text = list_folders(stage_of(folder), "x", budget_tokens=400)
    assert "- 'two\\nlines.txt'  0 B" in text.splitlines()


def test_several_folders_are_told_apart(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "b.txt").touch()
    text = list_folders(stage_of(folder, other), "x", budget_tokens=400)
    assert text.startswith("Current folder: 0 files")
    assert f"Folder {other}: 1 file" in text


def test_the_listing_shows_the_stage_and_not_the_disk(folder: Path) -> None:
    (folder / "old.txt").touch()
    stage = stage_of(folder)
    stage.push()
    stage.rename("old.txt", "new.txt")
    text = list_folders(stage, "x", budget_tokens=400)
    assert "new.txt" in text
    assert "old.txt" not in text


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (999, "999 B"), (1500, "2 kB"), (1_200_000, "1.2 MB"), (25_000_000_000, "25 GB")],
)
def test_sizes_read_as_people_write_them(size: int, text: str) -> None:
    assert size_text(size) == text
