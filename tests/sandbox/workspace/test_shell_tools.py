"""`run_command` and its kin in programs: judged, recorded, in step with the program's own files."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from sandbox.blobs import BlobStore
from sandbox.builtin_tools import builtin_tools
from sandbox.effects import Effect
from sandbox.limits import Limits
from sandbox.outcome import Outcome, StopToken
from sandbox.pool import SandboxPool
from sandbox.ports import Gate, Verdict
from sandbox.program import prepare
from sandbox.runner import Runner
from sandbox.stage import FolderGrant, Stage
from sandbox.tape import Recorded, Tape
from sandbox.workspace.bubblewrap import BubblewrapMachine
from sandbox.workspace.session import Workspace
from sandbox.workspace.shell_tools import asks_for_shell, tools_with_shell
from sandbox.workspace.sync import bring_again
from tests.sandbox.running import AllowAll, DenyKind, ListJournal, fill

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

Run = Callable[..., Outcome]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    folder = tmp_path_factory.mktemp("tools") / "one"
    workspace = Workspace(BubblewrapMachine(folder), folder / "known.json")
    yield workspace
    workspace.machine.destroy()


@pytest.fixture(scope="module")
def pool() -> Iterator[SandboxPool]:
    with SandboxPool() as started:
        yield started


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    fill(tmp_path / "granted", {"a.txt": "a\n", "b/c.txt": "c\n"})
    return tmp_path / "granted"


@pytest.fixture
def stage(folder: Path) -> Stage:
    stage = Stage([FolderGrant(path=folder.resolve())], BlobStore(folder.parent / "blobs"))
    stage.push()
    return stage


@pytest.fixture
def run(stage: Stage, workspace: Workspace, pool: SandboxPool) -> Run:
    def run(
        source: str,
        *,
        gate: Gate | None = None,
        at: Workspace | None = workspace,
        tape: Tape | None = None,
        stage: Stage = stage,
    ) -> Outcome:
        tools = tools_with_shell() if at is not None else builtin_tools()
        return Runner(pool, Limits(interpreter_s=5.0), tools).run(
            prepare(source, tools),
            program_id="p1",
            stage=stage,
            gate=gate or AllowAll(),
            journal=ListJournal(),
            listen=lambda _: None,
            stop=StopToken(),
            tape=tape,
            workspace=at,
        )

    return run


class _Marks:
    """A tape's marks, in memory."""

    def __init__(self) -> None:
        self.marks: list[bytes] = []

    def append(self, mark: bytes, *, sync: bool) -> None:
        del sync
        self.marks.append(mark)

    def recorded(self) -> Recorded:
        recorded = Recorded()
        for mark in self.marks:
            recorded.add(mark)
        return recorded


class _Changing:
    """A gate that allows the command and refuses what it did."""

    def judge(self, effects: Sequence[Effect]) -> Verdict:
        if any(effect.kind == "delete" for effect in effects):
            return Verdict(outcome="deny", message="nothing may be deleted")
        return Verdict(outcome="allow")


def test_a_command_sees_what_the_program_wrote_and_the_other_way(run: Run, stage: Stage) -> None:
    outcome = run(
        "open('new.txt', 'w').write('from the program\\n')\n"
        "r = run_command('cat new.txt a.txt; sort b/c.txt > sorted.txt; exit 3')\n"
        "print(r['exit_code'], r['stdout'])\n"
        "print(open('sorted.txt').read())\n"
    )
    assert outcome.fault is None
    assert outcome.printed.split() == ["3", "from", "the", "program", "a", "c"]
    kinds = [(item.kind, item.call) for item in outcome.effects if item.path.endswith("sorted.txt")]
    assert ("create", "redirect") in kinds or ("create", "run_command") in kinds
    evidence = {
        change.path.rpartition("/")[2]: change.evidence[0].call
        for change in stage.changes().changes
    }
    assert evidence == {"new.txt": "open", "sorted.txt": "run_command"}


def test_the_command_and_all_that_it_may_read_is_judged(run: Run, folder: Path) -> None:
    gate = AllowAll()
    run("run_command('true')", gate=gate)
    judged = [(item.kind, item.path) for item in gate.judged]
    assert judged == [("read", str(folder)), ("command", "true")]


def test_a_command_that_is_not_allowed_does_not_run(run: Run, stage: Stage) -> None:
    outcome = run("run_command('touch x')", gate=DenyKind("command"))
    assert outcome.fault is not None
    assert outcome.fault.type == "PermissionError"
    assert not stage.exists("x")


def test_what_a_command_did_and_may_not_is_not_taken(run: Run, stage: Stage) -> None:
    outcome = run("run_command('rm a.txt; touch x')", gate=_Changing())
    assert outcome.fault is not None
    assert "nothing may be deleted" in outcome.fault.message
    assert stage.changes().changes == ()


def test_without_a_workspace_there_is_no_such_function(run: Run) -> None:
    outcome = run("run_command('true')", at=None)
    assert outcome.fault is not None
    assert outcome.fault.type == "NameError"


def test_what_a_command_changed_can_be_brought_in_again(
    run: Run, stage: Stage, folder: Path
) -> None:
    command = "date +%N > stamp; mkdir d; mv a.txt d/; rm -r b; ln -s d e"
    outcome = run(f"print(run_command({command!r})['changes'])")
    assert outcome.fault is None
    fresh = Stage([FolderGrant(path=folder.resolve())], BlobStore(folder.parent / "blobs"))
    fresh.push()
    fresh.evidence = stage.changes().changes[0].evidence[0]
    bring_again(fresh, outcome.printed.strip())
    assert fresh.changes() == stage.changes()


def test_a_command_in_the_background_is_waited_for(run: Run, stage: Stage) -> None:
    outcome = run(
        "n = start_command('sleep 0.2; echo done > d.txt')\n"
        "print(check_command(n)['exit_code'], check_command(n, wait_s=20)['exit_code'])\n"
        "m = start_command('sleep 600')\n"
        "print(stop_command(m)['exit_code'])\n"
    )
    assert outcome.printed == "None 0\n137\n"
    assert stage.read_bytes("d.txt") == b"done\n"


def test_a_command_that_takes_too_long_is_an_error_of_the_programs(run: Run) -> None:
    outcome = run(
        "try:\n    run_command('sleep 600', timeout_s=0.3)\n"
        "except OSError as error:\n    print(error)\n"
    )
    assert "took longer than 0.3 seconds" in outcome.printed


def test_a_program_that_is_played_again_gets_the_changes_without_the_command(
    run: Run, stage: Stage, folder: Path
) -> None:
    source = (
        "import os\n"
        "r = run_command('date +%N > stamp; mkdir d; mv a.txt d/; rm -r b; ln -s d e')\n"
        "print(r['changes'] != '', open('stamp').read(), sorted(os.listdir('.')))\n"
    )
    marks = _Marks()
    first = run(source, tape=Tape(marks))
    assert first.fault is None
    assert first.printed.startswith("True")
    fresh = Stage([FolderGrant(path=folder.resolve())], BlobStore(folder.parent / "blobs"))
    fresh.push()
    again = run(source, tape=Tape(marks, marks.recorded()), stage=fresh)
    assert again.fault is None
    assert again.printed == first.printed
    assert fresh.changes() == stage.changes()


@pytest.mark.parametrize(
    ("request_text", "wanted"),
    [
        ("Run the tests in this project and fix the failing one.", True),
        ("Commit the change with git", True),
        ("Rename these photos by the date taken", False),
        ("Merge these CSV files", False),
    ],
)
def test_a_request_that_needs_a_shell_is_known(request_text: str, wanted: bool) -> None:
    assert asks_for_shell(request_text) is wanted
