"""Suites are read whole or refused with the reason; nothing of them is half used."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from app.errors import UsageError
from app.lab.suite import load_suite, select, shipped_suites

TASK_TOML = '[metadata]\ncapability = "files"\n'


def write_task(folder: Path, *, leave_out: str = "", toml: str = TASK_TOML) -> Path:
    """A small task in Harbor's layout, without the file `leave_out`."""
    files = {
        "task.toml": toml,
        "instruction.md": "Make done.txt.\n",
        "environment/make.py": (
            "def make(folder, seed):\n    (folder / 'a.txt').write_text(f'{seed}')\n"
        ),
        "tests/verify.py": (
            "def verify(before, folder, result):\n"
            "    return None if (folder / 'done.txt').is_file() else 'done.txt is missing'\n"
        ),
        "solution/solution.py": "open('done.txt', 'w').write('done')\n",
    }
    for name, text in files.items():
        if name != leave_out:
            place = folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
    return folder


def test_shipped_suites_have_no_invalid_task() -> None:
    for name in shipped_suites():
        suite = load_suite(name)
        assert suite.trusted
        assert not suite.invalid
        assert suite.tasks


@pytest.mark.parametrize(
    "missing", ["task.toml", "instruction.md", "tests/verify.py", "solution/solution.py"]
)
def test_a_task_without_a_file_is_listed_with_the_reason(tmp_path: Path, missing: str) -> None:
    write_task(tmp_path / "whole")
    write_task(tmp_path / "half", leave_out=missing)
    suite = load_suite(str(tmp_path))
    assert [task.name for task in suite.tasks] == ["whole"]
    assert suite.invalid[0].name == "half"
    assert Path(missing).name in suite.invalid[0].reason


@pytest.mark.parametrize(
    ("toml", "word"),
    [
        ("[metadata\n", "not TOML"),
        ('[metadata]\ncapability = "magic"\n', "metadata.capability"),
        ("[task]\n", "task.name"),
        ('[metadata]\ncapability = "files"\n[agent]\ntimeout_sec = -1\n', "agent.timeout_sec"),
    ],
)
def test_a_wrong_task_file_is_listed_with_the_place(tmp_path: Path, toml: str, word: str) -> None:
    write_task(tmp_path / "wrong", toml=toml)
    write_task(tmp_path / "whole")
    assert word in load_suite(str(tmp_path)).invalid[0].reason


def test_a_task_that_needs_a_container_is_listed(tmp_path: Path) -> None:
    write_task(tmp_path / "t", leave_out="environment/make.py")
    write_task(tmp_path / "whole")
    assert "container" in load_suite(str(tmp_path)).invalid[0].reason


def test_a_zip_file_of_a_checkout_is_a_suite(tmp_path: Path) -> None:
    write_task(tmp_path / "src" / "suite-main" / "t")
    archive = tmp_path / "suite.zip"
    with zipfile.ZipFile(archive, "w") as opened:
        for path in (tmp_path / "src").rglob("*"):
            opened.write(path, path.relative_to(tmp_path / "src").as_posix())
    suite = load_suite(str(archive), unpack_to=tmp_path / "unpacked")
    assert [task.name for task in suite.tasks] == ["t"]
    assert not suite.trusted


def test_a_zip_file_that_leads_out_is_refused(tmp_path: Path) -> None:
    archive = tmp_path / "bad.zip"
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr("../outside.txt", "x")
    with pytest.raises(UsageError, match="leads out"):
        load_suite(str(archive), unpack_to=tmp_path / "unpacked")
    assert not (tmp_path / "outside.txt").exists()


def test_an_unknown_suite_or_task_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        load_suite("no-such-suite")
    assert "everyday" in error.value.hint
    with pytest.raises(UsageError) as error:
        select(load_suite("everyday"), ["nope"])
    assert "sort_by_type" in error.value.hint
    with pytest.raises(UsageError, match="no task"):
        load_suite(str(tmp_path))


def test_a_suite_whose_tasks_are_all_invalid_is_refused_with_the_reasons(tmp_path: Path) -> None:
    write_task(tmp_path / "t", toml="nonsense [")
    with pytest.raises(UsageError, match="not TOML"):
        load_suite(str(tmp_path))
