"""What a program asks, on the command line: left, answered, refused, each in its own process life.

Every command opens an engine of its own, so an answered program always goes on from its tape.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app import cli, cli_ask
from sandbox.question import PersonsAnswer
from tests.sandbox.loopback import Loopback, serve

SEND = """
import random
from pathlib import Path
name = f"{random.random()}.txt"
Path(name).write_text(Path("notes.txt").read_text())
print(http_request("POST", URL, {"Authorization": "Bearer abc", "X-Plain": "p"}, "hello")["text"])
Path("sent.txt").write_text(name)
"""
ASK = """
from pathlib import Path
colour = ask_user("Which colour?", ["red", "blue"])
name = ask_user("Which name?")
Path(f"{name}.txt").write_text(colour)
print(colour, name)
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Loopback]:
    with serve() as loopback:
        yield loopback


class Shell:
    """Runs commands of `drydock` in a home of its own."""

    def __init__(self, capsys: pytest.CaptureFixture[str], folder: Path) -> None:
        self._capsys = capsys
        self.folder = folder
        self.result: dict[str, Any] = {}
        self.err = ""

    def exec(self, source: str, *options: str) -> int:
        program = self.folder.parent / "program.py"
        program.write_text(source, encoding="utf-8")
        return self("exec", str(program), "--folder", str(self.folder), *options)

    def resume(self, *options: str) -> int:
        return self("runs", "resume", self.result["run_id"], *options)

    def __call__(self, *argv: str) -> int:
        self._capsys.readouterr()
        code = cli.run([*argv, "--json"])
        out, self.err = self._capsys.readouterr()
        self.result = json.loads(out.splitlines()[-1]) | {
            "run_id": self.result.get("run_id") or json.loads(out.splitlines()[-1])["run_id"]
        }
        return code


@pytest.fixture
def shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Shell:
    monkeypatch.setenv("DRYDOCK_HOME", str(tmp_path / "home"))
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "notes.txt").write_text("a note\n", encoding="utf-8")
    return Shell(capsys, folder)


def sending(server: Loopback, path: str) -> str:
    url = server.page(path, "received", headers=(("Content-Type", "text/plain"),))
    return SEND.replace("URL", repr(url))


def sent(server: Loopback, path: str) -> list[bytes]:
    return [body for method, at, _, body in server.seen if (method, at) == ("POST", path)]


def test_a_request_waits_with_what_it_would_send_and_then_goes_on_at_that_call(
    shell: Shell, server: Loopback
) -> None:
    assert shell.exec(sending(server, "/one"), "--approve", "never") == 3
    question = shell.result["question"]
    assert shell.result["status"] == "asking"
    assert (question["kind"], question["call"], question["line"]) == ("effects", "http_request", 6)
    assert question["text"].startswith("POST http://127.0.0.1:")
    assert "hello" in question["text"]
    assert "X-Plain: p" in question["text"]
    assert "abc" not in question["text"], "what lets somebody in is masked"
    assert question["so_far"] == {"read": 1, "create": 1}
    assert sent(server, "/one") == []
    assert shell.resume("--approve", "never") == 3
    assert sent(server, "/one") == []
    assert shell.resume("--approve", "all") == 0
    assert sent(server, "/one") == [b"hello"]
    assert shell.result["answer"] == "received"
    name = (shell.folder / "sent.txt").read_text(encoding="utf-8")
    assert (shell.folder / name).read_text(encoding="utf-8") == "a note\n"


def test_approving_everything_answers_at_once(shell: Shell, server: Loopback) -> None:
    assert shell.exec(sending(server, "/two"), "--approve", "all") == 0
    assert sent(server, "/two") == [b"hello"]


def test_a_refusal_is_an_error_in_the_program_with_the_word_of_the_person(
    shell: Shell, server: Loopback
) -> None:
    source = sending(server, "/three")
    assert shell.exec(source, "--approve", "never") == 3
    assert shell.resume("--refuse", "not to that server", "--approve", "never") == 1
    assert sent(server, "/three") == []
    fault = shell.result["programs"][0]["error"]
    assert fault["type"] == "PermissionError"
    assert "the person refused this: not to that server" in fault["message"]


def test_a_program_may_go_on_after_a_refusal(shell: Shell, server: Loopback) -> None:
    url = server.page("/four", "received")
    source = (
        f"try:\n    http_request('POST', {url!r}, None, 'x')\n"
        "except PermissionError:\n    print('without it')\n"
    )
    assert shell.exec(source, "--approve", "never") == 3
    assert shell.resume("--refuse") == 0
    assert shell.result["answer"] == "without it"
    assert any("refused http_request()" in note for note in shell.result["programs"][0]["notes"])
    assert sent(server, "/four") == []


def test_a_program_asks_and_nobody_else_answers_for_the_person(shell: Shell) -> None:
    assert shell.exec(ASK, "--approve", "all") == 3
    question = shell.result["question"]
    assert (question["kind"], question["text"]) == ("person", "Which colour?")
    assert question["choices"] == ["red", "blue"]
    assert shell.resume("--answer", "green", "--approve", "all") == 1
    assert "Choose: red, blue" in shell.err
    assert shell.resume("--answer", "blue", "--approve", "all") == 3
    assert shell.result["question"]["text"] == "Which name?"
    assert shell.resume("--answer", "sky", "--approve", "all") == 0
    assert (shell.folder / "sky.txt").read_text(encoding="utf-8") == "blue"


def test_when_the_folder_changed_meanwhile_it_is_asked_again(
    shell: Shell, server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    approvals = [PersonsAnswer(approved=True), None, PersonsAnswer(approved=True)]
    monkeypatch.setattr(cli_ask, "_decided", lambda *_: approvals.pop(0))
    source = sending(server, "/five")
    approvals.insert(0, None)
    assert shell.exec(source) == 3
    (shell.folder / "notes.txt").write_text("another note\n", encoding="utf-8")
    assert shell.resume() == 3, "the approval was of what was shown"
    notes = shell.result["programs"][0]["notes"]
    assert any("had changed meanwhile" in note for note in notes)
    assert sent(server, "/five") == []
    assert shell.resume() == 3, "without a terminal the changes wait"
    assert sent(server, "/five") == [b"hello"]
    written = {Path(change["path"]).name for change in shell.result["changes"]}
    assert "sent.txt" in written


def test_a_refusal_stands_when_the_folder_changed_meanwhile(shell: Shell, server: Loopback) -> None:
    assert shell.exec(sending(server, "/six"), "--approve", "never") == 3
    (shell.folder / "notes.txt").write_text("another note\n", encoding="utf-8")
    assert shell.resume("--refuse", "--approve", "all") == 1
    assert sent(server, "/six") == []


@pytest.mark.parametrize("harm", ["altered", "older", "gone", "interpreter"])
def test_a_run_whose_record_is_unusable_stays_readable_and_can_start_again(
    shell: Shell, server: Loopback, harm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"/harm-{harm}"
    assert shell.exec(sending(server, path), "--approve", "never") == 3
    (tape,) = (shell.folder.parent / "home" / "tapes").iterdir()
    data = bytearray(tape.read_bytes())
    match harm:
        case "altered":
            data[len(data) // 2] ^= 1
        case "older":
            data = data.replace(b'"version": 1', b'"version": 0')
        case "gone":
            tape.unlink()
        case _:
            monkeypatch.setattr("pydantic_monty.__version__", "9.9.9")
    if harm != "gone":
        tape.write_bytes(data)
    assert shell.resume("--approve", "all") == 1
    assert "cannot go on where it was" in shell.err
    assert sent(server, path) == []
    run_id = shell.result["run_id"]
    assert shell("runs", "show", run_id) == 0
    assert shell.result["status"] == "interrupted"
    assert "cannot go on where it was" in shell.result["error"]["message"]
    assert shell.resume("--from-start", "--approve", "all") == 0
    assert sent(server, path) == [b"hello"]
    assert (shell.folder / "sent.txt").exists()


def test_a_grant_that_is_given_later_answers_for_the_person(shell: Shell, server: Loopback) -> None:
    assert shell.exec(sending(server, "/later"), "--approve", "never") == 3
    grant = ("--grant", f"send:127.0.0.1:{server.port}")
    assert shell.resume("--approve", "never", "--grant", "host:elsewhere.example") == 3
    assert shell.result["status"] == "asking"
    assert shell.resume("--approve", "never", *grant) == 3
    assert (shell.result["status"], sent(server, "/later")) == ("waiting", [b"hello"])


def test_a_choice_is_answered_by_its_number_too(shell: Shell) -> None:
    assert shell.exec(ASK, "--approve", "never") == 3
    assert "--answer TEXT" in shell.err
    assert shell.resume("--approve", "never", "--answer", "2") == 3
    assert shell.resume("--approve", "all", "--answer", "ada") == 0
    assert (shell.folder / "ada.txt").read_text(encoding="utf-8") == "blue"


def test_a_text_for_what_is_no_question_is_refused_and_nothing_is_sent(
    shell: Shell, server: Loopback
) -> None:
    assert shell.exec(sending(server, "/text"), "--approve", "never") == 3
    assert "--approve all, or --refuse" in shell.err
    run = shell.result["run_id"]
    assert shell("runs", "resume", run, "--answer", "yes", "--approve", "all") == 2
    assert sent(server, "/text") == []


TABLE = """
rows = [{"name": "Ann", "age": 31}, {"name": "Bob", "age": 27}]
rows = ui.table(rows, editable=True, title="People")
for path in await ui.selection():
    ui.open(path)
ui.set_filter("*.txt")
shown = ui.table([["a", 1]])
print(rows, path.rpartition("/")[2], shown)
"""


def test_a_table_and_a_selection_come_back_into_the_program_from_the_command_line(
    shell: Shell,
) -> None:
    assert shell.exec(TABLE, "--approve", "never") == 3
    question = shell.result["question"]
    assert (question["kind"], question["call"]) == ("person", "ui_table")
    assert "People" in question["text"]
    rows = '[{"name": "Anna", "age": "32"}, ["Cy", 5]]'
    assert shell.resume("--answer", rows) == 3
    assert shell.result["question"]["call"] == "ui_selection"
    assert shell.resume("--answer", str(shell.folder / "notes.txt")) == 0
    assert shell.result["answer"] == (
        "[{'name': 'Anna', 'age': 32}, {'name': 'Cy', 'age': 5}] notes.txt "
        "[{'column 1': 'a', 'column 2': 1}]"
    )


def test_a_selection_outside_of_the_folders_is_refused(shell: Shell) -> None:
    source = "try:\n    print(ui_selection())\nexcept Exception as e:\n    print('no:', e)\n"
    assert shell.exec(source, "--approve", "never") == 3
    assert shell.resume("--answer", "/etc/passwd") == 0
    assert shell.result["answer"].startswith("no:")


def test_rows_that_are_not_those_of_the_table_are_an_error_in_the_program(shell: Shell) -> None:
    source = (
        "try:\n    ui.table([{'a': 1}], editable=True)\n"
        "except ValueError as e:\n    print('no:', e)\n"
    )
    assert shell.exec(source, "--approve", "never") == 3
    assert shell.resume("--answer", '[{"b": 2}]') == 0
    assert "columns are a" in shell.result["answer"]
