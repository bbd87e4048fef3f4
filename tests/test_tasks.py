"""Every task of the benchmark suite is sound: it can be done, and doing nothing does not do it.

The oracle runs here as plain Python in a copy of the fixture; whether the sandbox runs it too is
shown by ``bench_tasks.py --oracle``.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "assets" / "suites" / "kit"))
sys.path.insert(0, str(Path(__file__).parent / "benchmarks"))

import bench_tasks
from task_answer import says_names, says_number
from task_folder import Snapshot, compare, has_lines, has_table, put, untouched
from task_suite import Task, load_tasks

TASKS = load_tasks()
each_task = pytest.mark.parametrize("task", TASKS, ids=[task.name for task in TASKS])


def _prepare(task: Task, folder: Path, seed: int) -> Snapshot:
    folder.mkdir()
    task.make(folder, seed)
    return Snapshot.take(folder)


def _run_oracle(task: Task, folder: Path) -> dict[str, object]:
    done = subprocess.run(
        [sys.executable, "-X", "utf8", str(task.solution)],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        timeout=30,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return {"answer": done.stdout}


def test_the_suite_has_the_promised_size() -> None:
    assert len(TASKS) >= 60


@each_task
@pytest.mark.parametrize("seed", [1, 2])
def test_the_oracle_passes(task: Task, seed: int, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    before = _prepare(task, folder, seed)
    result = _run_oracle(task, folder)
    assert task.verify(before, folder, result) is None


@each_task
def test_doing_nothing_fails(task: Task, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    before = _prepare(task, folder, 1)
    assert task.verify(before, folder, {"answer": ""}) is not None


@each_task
def test_a_stray_file_fails_even_when_the_rest_is_right(task: Task, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    before = _prepare(task, folder, 1)
    result = _run_oracle(task, folder)
    put(folder, "stray.bin", b"left behind")
    assert "stray.bin" in (task.verify(before, folder, result) or "")


@each_task
def test_the_fixture_is_the_same_for_a_seed_and_another_for_another(
    task: Task, tmp_path: Path
) -> None:
    first = _prepare(task, tmp_path / "first", 1)
    again = _prepare(task, tmp_path / "again", 1)
    other = _prepare(task, tmp_path / "other", 2)
    assert (first.files, first.folders) == (again.files, again.folders)
    assert (first.files, first.folders) != (other.files, other.folders)


@each_task
def test_the_instruction_is_one_plain_paragraph(task: Task) -> None:
    assert "\n" not in task.instruction
    assert 20 < len(task.instruction) < 450
    assert not any(word in task.instruction for word in ("import ", "pathlib", "os.", "def "))


def test_an_unknown_task_is_refused_with_the_known_names() -> None:
    with pytest.raises(ValueError, match="sort_by_type"):
        load_tasks(["no_such_task"])


class TestComparing:
    """The comparison that all verifiers stand on."""

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        put(tmp_path, "a.txt", "one\n")
        put(tmp_path, "sub/b.txt", "two\n")
        return tmp_path

    def test_an_untouched_folder_is_untouched(self, folder: Path) -> None:
        assert untouched(Snapshot.take(folder), folder) is None

    def test_each_kind_of_change_is_noticed(self, folder: Path) -> None:
        before = Snapshot.take(folder)
        put(folder, "a.txt", "One\n")
        assert "wrong content" in (untouched(before, folder) or "")
        put(folder, "a.txt", "one\n")
        (folder / "a.txt").chmod(0o600 if before.modes["a.txt"] != 0o600 else 0o640)
        assert "mode" in (untouched(before, folder) or "")
        (folder / "a.txt").chmod(before.modes["a.txt"])
        (folder / "new").mkdir()
        assert "'new' should not be there" in (untouched(before, folder) or "")
        (folder / "new").rmdir()
        (folder / "a.txt").rename(folder / "c.txt")
        assert "'a.txt' was lost" in (untouched(before, folder) or "")

    def test_a_left_folder_must_stay_unless_it_is_meant_to_go(self, folder: Path) -> None:
        before = Snapshot.take(folder)
        (folder / "sub" / "b.txt").rename(folder / "b.txt")
        (folder / "sub").rmdir()
        wanted = {"a.txt": b"one\n", "b.txt": b"two\n"}
        assert "'sub' is gone" in (compare(before, folder, wanted) or "")
        assert compare(before, folder, wanted, gone=["sub"]) is None


class TestContents:
    """Checks of what a program wrote."""

    def test_line_ends_and_a_missing_last_newline_do_not_matter(self) -> None:
        assert has_lines(["a", "b"])(b"a\r\nb") is None
        assert has_lines(["a", "b"])(b"b\na\n") is not None
        assert has_lines(["a", "b"], ordered=False)(b"b\na\n") is None

    def test_equal_numbers_are_equal_cells(self) -> None:
        check = has_table(["k", "n"], [["x", 1.5], ["y", 2]])
        assert check(b"k,n\nx,1.50\ny,2.0\n") is None
        assert check(b"k,n\nx,1.51\ny,2.0\n") is not None
        assert check(b"k,n\ny,2\nx,1.5\n") is not None
        assert check(b"x,1.5\ny,2\n") is not None

    def test_text_that_is_not_utf_8_is_refused(self) -> None:
        assert has_table(["k"], [["\u00fc"]])(b"k\n\xfc\n") is not None
        assert has_lines(["\u00fc"])(b"\xfc\n") is not None


class TestAnswers:
    """Checks of what a program said."""

    @pytest.mark.parametrize("answer", ["17", "There are 17 files.", "17 of 20", "n=17"])
    def test_the_number_is_found_in_any_wording(self, answer: str) -> None:
        assert says_number(answer, 17) is None

    @pytest.mark.parametrize("answer", ["", "seventeen", "170", "file17", "1.17", "1 2 3 4 17"])
    def test_another_number_or_a_heap_of_numbers_is_no_answer(self, answer: str) -> None:
        assert says_number(answer, 17) is not None

    def test_thousands_separators_are_read(self) -> None:
        assert says_number("1,204.50 EUR", 1204.5) is None

    def test_names_must_be_all_and_only_those_wanted(self) -> None:
        among = ["a.txt", "data.txt", "c.txt"]
        assert says_names("data.txt", ["data.txt"], among) is None
        assert says_names("data.txt", ["a.txt"], among) is not None
        assert says_names("a.txt, c.txt", ["a.txt"], among) is not None
        assert says_names("c.txt, a.txt", ["a.txt", "c.txt"], among, ordered=True) is not None


FAKE_APP = '''
"""Stands in for the command line: runs the oracle, or says nothing, or crashes."""
import json, os, runpy, sys

command, what, *options = sys.argv[1:]
if "silent" in options:
    sys.exit("the model fell over")
if command == "exec":
    os.chdir(options[options.index("--folder") + 1])
    runpy.run_path(what)
usage = {"prompt_tokens": 40, "completion_tokens": 2}
print(json.dumps({"answer": "", "error": None, "programs": [{}, {}], "usage": usage}))
'''


class TestBenchmark:
    """The command that measures a model."""

    @pytest.fixture
    def fake_app(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        put(tmp_path, "repository/app/__init__.py", "")
        put(tmp_path, "repository/app/__main__.py", FAKE_APP)
        monkeypatch.setattr(bench_tasks, "REPOSITORY", tmp_path / "repository")

    @pytest.mark.usefixtures("fake_app")
    def test_an_oracle_that_does_it_passes(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert bench_tasks.main(["--oracle", "--only", "sort_by_type"]) == 0
        trial, summary = capsys.readouterr().out.splitlines()
        assert trial.startswith("pass sort_by_type")
        assert "2 tries" in trial
        assert json.loads(summary)["pass_rate"] == 1.0
        assert json.loads(summary)["tokens"] == 42

    @pytest.mark.usefixtures("fake_app")
    def test_an_oracle_that_fails_is_an_error_and_a_model_that_fails_is_not(self) -> None:
        assert bench_tasks.main(["--oracle", "--only", "largest_files"]) == 1
        assert bench_tasks.main(["--model", "local:some", "--only", "largest_files"]) == 0

    @pytest.mark.usefixtures("fake_app")
    def test_a_run_without_a_result_fails_with_its_last_words(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert bench_tasks.main(["--model", "silent", "--only", "sort_by_type"]) == 0
        assert "no result: the model fell over" in capsys.readouterr().out

    def test_doing_nothing_is_measured_and_kept(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        arguments = ["--nothing", "--only", "sort_by_type", "--trials", "2", "--out", str(tmp_path)]
        assert bench_tasks.main(arguments) == 0
        first, second, summary = capsys.readouterr().out.splitlines()
        assert "FAIL sort_by_type" in first
        assert "seed 2" in second
        assert json.loads(summary)["tasks"] == {"sort_by_type": "0/2"}
        kept = (tmp_path / "trials.jsonl").read_text(encoding="utf-8").splitlines()
        assert [json.loads(line)["seed"] for line in kept] == [1, 2]
        assert json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))["passed"] == 0

    def test_an_unknown_task_is_a_usage_error(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert bench_tasks.main(["--nothing", "--only", "no_such_task"]) == 2
        assert "no_such_task" in capsys.readouterr().err
