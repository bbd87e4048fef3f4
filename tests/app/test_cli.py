"""The command line in one process: exit codes, JSON, reviews, resuming and undoing."""

from __future__ import annotations

import errno
import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from app import cli, cli_run
from app.engine.engine import Engine
from models.catalog import load_catalog
from sandbox.transaction import FileSystem
from tests.fakes import ScriptedModels, program_reply

MODEL = "local:qwen2.5-coder-0.5b"
RENAME = 'from pathlib import Path\nPath("a.txt").rename("b.txt")\nprint("Renamed.")\n'
CREATE = 'from pathlib import Path\nPath("new.txt").write_text("x", encoding="utf-8")\n'


class Terminal:
    """Runs commands and keeps what they print."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.out = ""
        self.err = ""

    def __call__(self, *argv: str) -> int:
        self._capsys.readouterr()
        code = cli.run(argv)
        self.out, self.err = self._capsys.readouterr()
        return code

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.out.splitlines()[-1])


@pytest.fixture
def drydock(capsys: pytest.CaptureFixture[str]) -> Terminal:
    return Terminal(capsys)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.txt").write_text("hello\n", encoding="utf-8")
    return folder


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(RENAME, encoding="utf-8")
    return path


@pytest.fixture
def scripted(drydock_home: Path, monkeypatch: pytest.MonkeyPatch) -> ScriptedModels:
    """A model that is here and answers from a script."""
    models = ScriptedModels()
    (drydock_home / "models").mkdir()
    entry = load_catalog().get(MODEL)
    with (drydock_home / "models" / f"{entry.id}.gguf").open("wb") as file:
        file.truncate(entry.size_bytes)  # sparse: as large as the real one
    monkeypatch.setattr(cli_run, "Engine", partial(Engine, models=models))
    return models


def test_exec_approved_changes_the_disk_and_undo_restores_it(
    drydock: Terminal, folder: Path, program: Path
) -> None:
    before = (folder / "a.txt").stat()
    assert drydock("exec", str(program), "--folder", str(folder), "--approve", "all", "--json") == 0
    run = drydock.json
    assert run["status"] == "done"
    assert run["committed"] is True
    assert run["answer"] == "Renamed."
    assert run["model"] == "program"
    assert [(c["kind"], c["path"], c["target"]) for c in run["changes"]] == [
        ("move", str(folder / "a.txt"), str(folder / "b.txt"))
    ]
    assert [(e["kind"], e["target"]) for e in run["effects"]] == [("move", str(folder / "b.txt"))]
    assert run["programs"][0]["source"] == RENAME
    assert run["error"] is None
    assert set(run["usage"]) >= {"prompt_tokens", "completion_tokens", "seconds", "money"}
    assert [path.name for path in folder.iterdir()] == ["b.txt"]
    assert drydock("runs", "undo", run["run_id"]) == 0
    after = (folder / "a.txt").stat()
    assert (after.st_mtime_ns, after.st_mode) == (before.st_mtime_ns, before.st_mode)
    assert drydock("runs", "undo", run["run_id"]) == 1
    assert "undone" in drydock.err


def test_without_a_terminal_the_run_waits_and_can_be_resumed(
    drydock: Terminal, folder: Path, program: Path
) -> None:
    assert drydock("exec", str(program), "--folder", str(folder), "--json") == 3
    run = drydock.json
    assert run["status"] == "waiting"
    assert run["run_id"] in drydock.err
    assert (folder / "a.txt").exists()
    assert drydock("runs", "resume", run["run_id"], "--approve", "never", "--json") == 3
    assert drydock("runs", "resume", run["run_id"], "--approve", "all", "--json") == 0
    assert drydock.json["committed"] is True
    assert (folder / "b.txt").exists()


def test_a_grant_for_new_files_covers_them_and_nothing_else(
    drydock: Terminal, folder: Path, program: Path
) -> None:
    grant = ("--approve", "never", "--grant", "commit:new-files", "--json")
    assert drydock("exec", str(program), "--folder", str(folder), *grant) == 3
    program.write_text(CREATE, encoding="utf-8")
    assert drydock("exec", str(program), "--folder", str(folder), *grant) == 0
    assert (folder / "new.txt").read_text(encoding="utf-8") == "x"
    assert drydock("exec", str(program), "--folder", str(folder), "--grant", "magic:1") == 2
    assert "commit:new-files" in drydock.err


def test_run_gives_the_answer_on_standard_output_and_the_rest_on_standard_error(
    drydock: Terminal, folder: Path, scripted: ScriptedModels
) -> None:
    scripted.script.replies.append(program_reply("print(6 * 7)"))
    assert drydock("run", "What is it?", "--folder", str(folder), "--model", MODEL) == 0
    assert drydock.out == "42\n"
    assert "Program 1 done" in drydock.err


def test_run_reports_programs_tries_and_usage_as_json(
    drydock: Terminal, folder: Path, scripted: ScriptedModels
) -> None:
    scripted.script.replies += [program_reply("x = 1 / 0"), program_reply(RENAME)]
    assert drydock("run", "Rename it", "--folder", str(folder), "--model", MODEL, "--json") == 3
    run = drydock.json
    assert [(p["tries"], p["status"]) for p in run["programs"]] == [(1, "error"), (2, "ok")]
    assert run["programs"][0]["error"]["type"] == "ZeroDivisionError"
    assert run["usage"]["prompt_tokens"] == 200
    assert run["usage"]["cached_tokens"] == 160


def test_a_read_folder_cannot_be_changed(drydock: Terminal, folder: Path, program: Path) -> None:
    assert drydock("exec", str(program), "--read-folder", str(folder), "--json") == 1
    assert "may only be read" in drydock.json["error"]["details"]
    assert (folder / "a.txt").exists()


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["run"], "Say what to do"),
        (["run", "x"], "which folder"),
        (["run", "x", "--folder", "/f", "--approve", "maybe"], "invalid choice"),
        (["run", "x", "--folder", "/", "--model", "local:nothing"], "no model named"),
        (["run", "x", "--folder", "/", "--model", "nobody:x"], "no provider named nobody"),
        (["run", "--demo", "--folder", "/"], "--demo brings its own"),
        (["exec", "/nowhere.py", "--folder", "/"], "cannot be read"),
        (["frobnicate"], "invalid choice"),
        (["runs"], "required"),
    ],
)
def test_wrong_use_exits_two_and_says_what_is_wrong(
    drydock: Terminal, argv: list[str], said: str
) -> None:
    assert drydock(*argv) == 2
    assert said in drydock.err
    assert drydock.out == ""


def test_errors_are_json_too_when_asked(drydock: Terminal, tmp_path: Path, program: Path) -> None:
    missing = tmp_path / "missing"
    assert drydock("exec", str(program), "--folder", str(missing), "--json") == 2
    assert str(missing) in drydock.json["error"]["message"]
    assert drydock("runs", "show", "nope", "--json") == 1
    assert "no run nope" in drydock.json["error"]["message"]


def test_runs_are_listed_newest_first(drydock: Terminal, folder: Path, program: Path) -> None:
    assert drydock("runs", "list", "--json") == 0
    assert drydock.json["runs"] == []
    ids: list[str] = []
    for _ in range(2):
        drydock("exec", str(program), "--folder", str(folder), "--approve", "never", "--json")
        ids.append(drydock.json["run_id"])
    assert drydock("runs", "list", "--json") == 0
    rows = drydock.json["runs"]
    assert [row["run_id"] for row in rows] == ids[::-1]
    assert all(row["status"] == "waiting" and row["task"] == "program.py" for row in rows)
    assert drydock("runs", "show", ids[0]) == 0
    assert "Moves 1 file. Deletes nothing. Sends nothing." in drydock.out


def test_the_review_names_every_change_to_a_person(
    drydock: Terminal, folder: Path, program: Path
) -> None:
    program.write_text(
        "import os\nfrom pathlib import Path\n"
        'Path("d").mkdir()\nPath("d/x.txt").write_text("12345")\nos.remove("a.txt")\n',
        encoding="utf-8",
    )
    assert drydock("exec", str(program), "--folder", str(folder)) == 3
    assert "Makes 1 new folder, creates 1 file, deletes 1 file. Sends nothing." in drydock.err
    assert f"delete  {folder / 'a.txt'}  6 B" in drydock.err
    assert f"create  {folder / 'd' / 'x.txt'}  5 B" in drydock.err


def test_models_are_listed_with_what_is_here(drydock: Terminal, scripted: ScriptedModels) -> None:
    assert drydock("models", "list", "--json") == 0
    here = {row["id"]: row["present"] for row in drydock.json["models"]}
    assert here[MODEL] is True
    assert here["local:qwen2.5-coder-1.5b"] is False
    assert drydock("models", "remove", MODEL) == 0
    assert drydock("models", "remove", MODEL) == 1
    assert drydock("models", "pull", "no-such-model", "--json") == 4


def test_doctor_checks_everything_and_names_a_fix(drydock: Terminal, drydock_home: Path) -> None:
    assert drydock("doctor", "--json") == 0
    checks = {row["name"]: row for row in drydock.json["checks"]}
    assert checks["Interpreter"]["state"] == "ok"
    assert checks["Models"]["state"] == "note"
    assert "drydock models pull" in checks["Models"]["fix"]
    (drydock_home / "settings.json").write_text("{", encoding="utf-8")
    assert drydock("doctor", "--json") == 1
    checks = {row["name"]: row for row in drydock.json["checks"]}
    assert checks["Settings"]["state"] == "problem"


def test_an_undone_run_is_done_again_and_undo_space_is_told(
    drydock: Terminal, folder: Path, program: Path
) -> None:
    assert drydock("exec", str(program), "--folder", str(folder), "--approve", "all", "--json") == 0
    run_id = drydock.json["run_id"]
    assert drydock("runs", "redo", run_id) == 1
    assert "nothing to do again" in drydock.err
    assert drydock("runs", "undo", run_id) == 0
    assert drydock("runs", "redo", run_id, "--json") == 0
    assert (drydock.json["status"], drydock.json["committed"]) == ("done", True)
    assert [path.name for path in folder.iterdir()] == ["b.txt"]
    assert drydock("runs", "list", "--json") == 0
    assert drydock.json["undo"]["runs"] == 1
    assert drydock("runs", "list") == 0
    assert "Undo is kept for 30 days" in drydock.err


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("theirs", {"new.txt": "theirs"}),
        ("ours", {"new.txt": "x"}),
        ("both", {"new.txt": "theirs", "new (2).txt": "x"}),
    ],
)
def test_where_the_folder_changed_meanwhile_the_choice_is_made(
    drydock: Terminal, folder: Path, program: Path, choice: str, expected: dict[str, str]
) -> None:
    program.write_text(CREATE, encoding="utf-8")
    (folder / "a.txt").unlink()
    assert drydock("exec", str(program), "--folder", str(folder), "--json") == 3
    run_id = drydock.json["run_id"]
    (folder / "new.txt").write_text("theirs", encoding="utf-8")
    drydock("runs", "resume", run_id, "--approve", "all", "--conflicts", choice)
    assert {path.name: path.read_text("utf-8") for path in folder.iterdir()} == expected
    assert f"Chosen: {choice}" in drydock.err


def test_a_model_that_is_not_known_cannot_be_removed(drydock: Terminal) -> None:
    assert drydock("models", "remove", "nope", "--json") == 4
    assert "no model named nope" in drydock.json["error"]["message"]


def test_a_store_damaged_inside_says_what_to_do(
    drydock: Terminal, drydock_home: Path, folder: Path, program: Path
) -> None:
    drydock("exec", str(program), "--folder", str(folder), "--approve", "never")
    path = drydock_home / "store.db"
    for extra in drydock_home.glob("store.db-*"):
        extra.unlink()
    data = bytearray(path.read_bytes())
    data[100:] = b"\xa5" * (len(data) - 100)
    path.write_bytes(data)
    assert drydock("runs", "list", "--json") == 1
    assert "damaged" in drydock.json["error"]["message"]
    assert "Move the file away" in drydock.json["error"]["hint"]


def test_a_run_that_is_done_cannot_be_resumed(
    drydock: Terminal, folder: Path, program: Path
) -> None:
    drydock("exec", str(program), "--folder", str(folder), "--approve", "all", "--json")
    assert drydock("runs", "resume", drydock.json["run_id"]) == 1
    assert "this run is done" in drydock.err


def test_show_prints_a_patch_that_is_the_same_before_and_after_the_decision(
    drydock: Terminal, folder: Path, tmp_path: Path
) -> None:
    program = tmp_path / "edit.py"
    program.write_text('open("a.txt", "w").write("hi\\n")\nopen("b.txt", "w").write("new\\n")\n')
    assert drydock("exec", str(program), "--folder", str(folder), "--json") == 3
    run_id = drydock.json["run_id"]
    assert drydock("runs", "show", run_id, "--patch") == 0
    patch = drydock.out
    assert "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-hello\n+hi\n" in patch
    assert "new file mode 100644\n--- /dev/null\n+++ b/b.txt\n" in patch
    assert drydock("runs", "show", run_id) == 0
    assert patch in drydock.out
    drydock("runs", "resume", run_id, "--approve", "all")
    assert drydock("runs", "show", run_id, "--json") == 0
    assert drydock.json["patch"] == patch
    assert drydock.json["changes"][0]["evidence"][0]["line"] == 1
    drydock("runs", "undo", run_id)
    assert drydock("runs", "show", run_id, "--patch") == 0
    assert drydock.out == patch


def test_programs_that_stage_more_than_may_be_are_told_so(
    drydock: Terminal, drydock_home: Path, folder: Path, tmp_path: Path
) -> None:
    (drydock_home / "settings.json").write_text('{"sandbox": {"staged_mib": 16}}')
    program = tmp_path / "write.py"
    program.write_text('for n in range(20):\n    open(f"{n}", "w").write(f"{n}" * 1_000_000)\n')
    assert drydock("exec", str(program), "--folder", str(folder), "--json") == 1
    error = drydock.json["programs"][0]["error"]
    assert "more than 16 MiB of new content" in error["message"]
    assert "settings" in error["message"]
    assert [path.name for path in folder.iterdir()] == ["a.txt"]


def test_where_the_disk_refuses_one_change_the_rest_can_be_kept_and_is_listed(
    drydock: Terminal, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = FileSystem.rename

    def rename(self: FileSystem, src: str, dst: str) -> None:
        if dst.endswith("/refused"):
            raise OSError(errno.EBUSY, "Device or resource busy", dst)
        real(self, src, dst)

    monkeypatch.setattr(FileSystem, "rename", rename)
    program = tmp_path / "write.py"
    program.write_text('open("fine", "w").write("f")\nopen("refused", "w").write("r")\n')
    assert drydock("exec", str(program), "--folder", str(folder), "--approve", "all", "--json") == 3
    assert drydock.json["error"]["message"].startswith(
        "Nothing was changed: Device or resource busy"
    )
    assert "--on-fault keep" in drydock.err
    run_id = drydock.json["run_id"]
    assert not (folder / "fine").exists()
    keep = ("--approve", "all", "--on-fault", "keep", "--json")
    assert drydock("runs", "resume", run_id, *keep) == 1
    run = drydock.json
    assert run["status"] == "done"
    assert [Path(one["path"]).name for one in run["conflicts"]] == ["refused"]
    assert (folder / "fine").read_text() == "f"
    assert not (folder / "refused").exists()
    assert drydock("runs", "undo", run_id) == 0
    assert [path.name for path in folder.iterdir()] == ["a.txt"]


def test_what_is_deleted_goes_into_the_bin_too_when_the_settings_say_so(
    drydock: Terminal,
    drydock_home: Path,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    (drydock_home / "settings.json").write_text('{"undo": {"system_bin": true}}')
    program = tmp_path / "delete.py"
    program.write_text('import os\nos.remove("a.txt")\n')
    assert drydock("exec", str(program), "--folder", str(folder), "--approve", "all", "--json") == 0
    binned = tmp_path / "data" / "Trash" / "files" / "a.txt"
    assert binned.read_text() == "hello\n"
    assert drydock("runs", "undo", drydock.json["run_id"]) == 0
    assert (folder / "a.txt").read_text() == "hello\n"
    assert not binned.exists()


def test_a_run_goes_on_after_another_with_what_it_defined_until_it_is_reset(
    drydock: Terminal, folder: Path, tmp_path: Path
) -> None:
    first, second = tmp_path / "one.py", tmp_path / "two.py"
    first.write_text("def twice(n):\n    return 2 * n\nstart = 4\n", encoding="utf-8")
    second.write_text("print(twice(start))\n", encoding="utf-8")
    assert drydock("exec", str(first), "--folder", str(folder), "--json") == 0
    run_id = drydock.json["run_id"]
    assert drydock("exec", str(second), "--after", run_id, "--json") == 0
    assert drydock.json["answer"] == "8"
    assert drydock("runs", "reset", run_id, "--json") == 0
    assert drydock.json["forgotten"] == ["start", "twice()"]
    assert drydock("exec", str(second), "--after", run_id) == 1
    assert "is not defined" in drydock.err
    assert drydock("exec", str(second), "--after", run_id, "--folder", str(folder)) == 2
