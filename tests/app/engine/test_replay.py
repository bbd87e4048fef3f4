"""A finished run is run again from its record, and what it does is the same, or is named."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from app import cli
from tests.sandbox.loopback import serve

PROGRAM = """
import os, random, time, uuid
from pathlib import Path
print(random.random(), time.time(), uuid.uuid4())
Path("made").mkdir()
for path in sorted(Path(".").glob("*.txt")):
    (Path("made") / path.name).write_text(path.read_text() + str(random.randint(1, 10**9)))
    path.rename(path.with_suffix(".old"))
Path("edited.csv").write_text("new")
os.remove("gone.csv")
print(os.listdir("."), [os.stat(name).st_size for name in sorted(os.listdir("."))])
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "desk"
    folder.mkdir()
    for name in ("a.txt", "b.txt", "edited.csv", "gone.csv"):
        (folder / name).write_text(f"text of {name}", encoding="utf-8")
    return folder


class Runs:
    """The command line, and what it told as JSON."""

    def __init__(self, capsys: pytest.CaptureFixture[str], base: Path, folder: Path) -> None:
        self._capsys = capsys
        self._base = base
        self._folder = folder

    def __call__(self, *argv: str) -> tuple[int, dict[str, Any], str]:
        self._capsys.readouterr()
        code = cli.run([*argv, "--json"])
        told = self._capsys.readouterr()
        return code, json.loads(told.out.splitlines()[-1]) if told.out else {}, told.err

    def program(self, source: str, *argv: str) -> dict[str, Any]:
        path = self._base / "program.py"
        path.write_text(source, encoding="utf-8")
        where = () if "--after" in argv else ("--folder", str(self._folder))
        return self("exec", str(path), *where, *argv)[1]


@pytest.fixture
def runs(
    capsys: pytest.CaptureFixture[str], drydock_home: Path, tmp_path: Path, folder: Path
) -> Runs:
    return Runs(capsys, tmp_path, folder)


def tree(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(path): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("approve", ["never", "all"])
def test_a_run_does_the_same_again_and_nothing_is_changed(
    runs: Runs, folder: Path, approve: str
) -> None:
    run_id = runs.program(PROGRAM, "--approve", approve)["run_id"]
    before = tree(folder)
    code, told, said = runs("runs", "replay", run_id)
    assert (code, told["differences"], told["same"]) == (0, [], True)
    assert told["programs"] == 1
    assert told["effects"] > 5
    assert "The same again" in said
    assert tree(folder) == before


def test_an_undone_run_can_be_replayed(runs: Runs) -> None:
    run_id = runs.program(PROGRAM, "--approve", "all")["run_id"]
    assert runs("runs", "undo", run_id)[0] == 0
    code, told, _ = runs("runs", "replay", run_id)
    assert (code, told["differences"]) == (0, [])


def test_what_was_sent_is_not_sent_again(runs: Runs) -> None:
    with serve() as server:
        server.page("/once", "got it", headers=(("Content-Type", "text/plain"),))
        url = f"http://127.0.0.1:{server.port}/once"
        source = f'print(http_request("POST", "{url}", None, "hello")["text"])'
        run = runs.program(source, "--grant", f"host:127.0.0.1:{server.port}", "--approve", "all")
        assert run["answer"] == "got it"
        assert runs("runs", "replay", run["run_id"])[0] == 0
        assert len(server.seen) == 1


def test_a_folder_that_has_changed_is_a_named_difference(runs: Runs, folder: Path) -> None:
    run_id = runs.program("print(open('a.txt').read())")["run_id"]
    (folder / "a.txt").write_text("another text", encoding="utf-8")
    code, told, said = runs("runs", "replay", run_id)
    assert code == 1
    assert not told["same"]
    assert "line 1" in told["differences"][0]
    assert "Not the same" in said


def test_what_undo_has_not_kept_makes_it_impossible_and_is_said(
    runs: Runs, drydock_home: Path
) -> None:
    run_id = runs.program(PROGRAM, "--approve", "all")["run_id"]
    undo = drydock_home / "undo" / run_id
    undo.rename(undo.with_name("elsewhere"))
    code, _, said = runs("runs", "replay", run_id)
    assert code == 1
    assert "cannot be replayed" in said


def test_a_run_on_what_an_earlier_one_defined_is_replayed_until_that_is_forgotten(
    runs: Runs,
) -> None:
    first = runs.program("def twice(n):\n    return 2 * n\nstart = 4\n")["run_id"]
    second = runs.program("start += 1\nprint(twice(start))", "--after", first)["run_id"]
    assert runs("runs", "replay", second)[:2][1]["same"]
    assert runs("runs", "reset", first)[0] == 0
    code, _, said = runs("runs", "replay", second)
    assert code == 1
    assert "forgotten" in said


def test_a_run_that_failed_fails_in_the_same_way(runs: Runs) -> None:
    run_id = runs.program("open('new.txt', 'w').write('x')\nraise ValueError('no')")["run_id"]
    code, told, _ = runs("runs", "replay", run_id)
    assert (code, told["differences"]) == (0, [])


def test_a_record_that_was_altered_is_refused(runs: Runs, drydock_home: Path) -> None:
    run_id = runs.program("print(1)")["run_id"]
    tape = drydock_home / "tapes" / run_id
    data = bytearray(tape.read_bytes())
    data[-3] ^= 1
    tape.write_bytes(bytes(data))
    code, _, said = runs("runs", "replay", run_id)
    assert code == 1
    assert "altered" in said


def test_a_run_is_exported_to_a_file_that_stands_for_itself(runs: Runs, tmp_path: Path) -> None:
    run_id = runs.program(PROGRAM, "--approve", "all")["run_id"]
    path = tmp_path / "run.zip"
    code, told, _ = runs("runs", "export", run_id, str(path))
    assert (code, told["path"]) == (0, str(path))
    with zipfile.ZipFile(path) as archive:
        texts = {name: archive.read(name).decode() for name in archive.namelist()}
    assert texts["programs/1.py"].strip() == PROGRAM.strip()
    assert "rename from a.txt" in texts["changes.patch"]
    assert json.loads(texts["run.json"])["run_id"] == run_id
    assert "committed" in [step["step"] for step in json.loads(texts["timeline.json"])]
    code, _, said = runs("runs", "export", run_id, str(path))
    assert code == 1
    assert "already" in said
