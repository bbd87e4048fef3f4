"""Folders and stage in step around commands: what goes in, what comes back, and what does not."""

from __future__ import annotations

import os
import shlex
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox.blobs import BlobStore
from sandbox.effects import Effect
from sandbox.errors import StoppedError
from sandbox.ports import Verdict
from sandbox.stage import FolderGrant, Stage
from sandbox.workspace.bubblewrap import BubblewrapMachine
from sandbox.workspace.errors import WorkspaceLimitError, WorkspaceTimeError
from sandbox.workspace.session import CommandOutcome, Workspace
from tests.sandbox.strange import KINDS
from tests.sandbox.trees import Yard, build, make_yard, picture

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

ALLOW = Verdict(outcome="allow")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    folder = tmp_path_factory.mktemp("workspace") / "one"
    workspace = Workspace(BubblewrapMachine(folder), folder / "known.json")
    yield workspace
    workspace.machine.destroy()


@pytest.fixture
def run(workspace: Workspace) -> Callable[..., CommandOutcome]:
    def run(stage: Stage, command: str, **options: object) -> CommandOutcome:
        judge = options.pop("judge", lambda _: ALLOW)
        return workspace.run(command, stage=stage, judge=judge, stopped=lambda: False, **options)

    return run


Run = Callable[..., CommandOutcome]


def inside(run: Run, stage: Stage, command: str) -> str:
    outcome = run(stage, command)
    assert outcome.exit_code == 0, outcome.stderr
    assert outcome.effects == ()
    return outcome.stdout


def test_commands_see_the_stage_and_not_the_disk(tmp_path: Path, run: Run) -> None:
    yard = make_yard(tmp_path, {"a.txt": "old", "b/c.txt": "kept"})
    yard.stage.write_bytes("a.txt", b"staged")
    yard.stage.rename("b/c.txt", "d/e.txt")
    yard.stage.write_bytes("new.txt", b"new")
    out = inside(run, yard.stage, "cat a.txt d/e.txt new.txt; ls b")
    assert out == "stagedkeptnew"
    assert (yard.folder / "a.txt").read_text() == "old"


def test_what_a_command_changes_is_staged_with_it_as_evidence(tmp_path: Path, run: Run) -> None:
    yard = make_yard(tmp_path, {"a.txt": "a", "b.txt": "b", "c/d.txt": "d", "e/f.txt": "f"})
    before = picture(yard.folder)
    outcome = run(
        yard.stage,
        "echo more >> a.txt; rm b.txt; mv c moved; mkdir new; echo x > new/x; chmod 755 e/f.txt",
    )
    assert outcome.exit_code == 0
    assert picture(yard.folder) == before
    kinds = sorted((item.kind, os.path.relpath(item.path, yard.folder)) for item in outcome.effects)
    assert kinds == [
        ("create", "new"),
        ("create", "new/x"),
        ("delete", "b.txt"),
        ("modify", "a.txt"),
        ("modify", "e/f.txt"),
        ("move", "c"),
    ]
    yard.commit()
    assert (yard.folder / "a.txt").read_text() == "amore\n"
    assert not (yard.folder / "b.txt").exists()
    assert (yard.folder / "moved/d.txt").read_text() == "d"
    assert (yard.folder / "new/x").read_text() == "x\n"
    assert stat.S_IMODE((yard.folder / "e/f.txt").stat().st_mode) == 0o755


def test_a_command_that_changes_nothing_leaves_no_effect(tmp_path: Path, run: Run) -> None:
    yard = make_yard(tmp_path, {f"{n}/{m}.txt": str(n) for n in range(5) for m in range(5)})
    assert inside(run, yard.stage, "ls | wc -l").strip() == "5"
    assert inside(run, yard.stage, "touch x; rm x; cat 1/1.txt") == "1"
    assert yard.stage.changes().changes == ()


def test_unchanged_files_are_sent_once(tmp_path: Path, workspace: Workspace, run: Run) -> None:
    yard = make_yard(tmp_path, {"large": os.urandom(3_000_000), "small": "x"})
    channel = workspace.machine.channel()
    sent: list[int] = []
    write = channel._transport.write

    def counted(data: bytes) -> None:
        sent.append(len(data))
        write(data)

    channel._transport.write = counted
    try:
        run(yard.stage, "true")
        assert sum(sent) > 3_000_000
        sent.clear()
        run(yard.stage, "true")
        yard.stage.rename("large", "renamed")
        yard.stage.utime("renamed", 10**18)
        assert run(yard.stage, "stat -c %s renamed").stdout == "3000000\n"
        yard.commit()
        yard.restage()
        assert run(yard.stage, "stat -c %Y renamed").stdout == "1000000000\n"
        assert sum(sent) < 20_000
    finally:
        channel._transport.write = write


def test_what_is_known_outlasts_a_restart(tmp_path: Path) -> None:
    yard = make_yard(tmp_path, {"large": os.urandom(2_000_000)})
    folder = tmp_path / "machine"
    for number in range(2):
        workspace = Workspace(BubblewrapMachine(folder), folder / "known.json")
        pushed = workspace._sync.push(workspace.machine.channel(), yard.stage, lambda: False)
        assert pushed.sent_bytes == (2_000_000 if number == 0 else 0)
        workspace.close()
    workspace.machine.destroy()


def test_a_dropped_layer_is_undone_inside(tmp_path: Path, run: Run) -> None:
    yard = make_yard(tmp_path, {"a": "a", "b": "b"})
    yard.stage.push()
    run(yard.stage, "echo changed > a; rm b; echo c > c")
    yard.stage.drop()
    assert inside(run, yard.stage, "cat a b; ls") == "aba\nb\n"


def test_what_the_gate_refuses_leaves_the_stage_as_it_was(tmp_path: Path, run: Run) -> None:
    yard = make_yard(tmp_path, {"a": "a", "b": "b"})
    seen: list[Effect] = []

    def judge(effects: list[Effect]) -> Verdict:
        seen.extend(effects)
        return Verdict(outcome="deny", message="too much")

    with pytest.raises(PermissionError, match="too much"):
        run(yard.stage, "rm a b", judge=judge)
    assert [item.kind for item in seen] == ["delete", "delete"]
    assert yard.stage.changes().changes == ()
    assert inside(run, yard.stage, "cat a b") == "ab"


def test_a_folder_that_may_only_be_read_stays(tmp_path: Path, run: Run) -> None:
    folders = [tmp_path / "written", tmp_path / "read"]
    for folder in folders:
        folder.mkdir()
        build(folder, {"x": "x"})
    grants = [FolderGrant(path=folders[0]), FolderGrant(path=folders[1], rights="read")]
    stage = Stage(grants, BlobStore(tmp_path / "blobs"))
    outcome = run(stage, "echo y > x; echo y > ../read/x; rm -f ../read/x; echo z > ../read/z")
    assert len(outcome.notes) == 2
    assert all("may only be read" in note for note in outcome.notes)
    assert [change.path for change in stage.changes().changes] == [f"{folders[0]}/x"]
    assert inside(run, stage, "cat x ../read/x; ls ../read") == "y\nxx\n"


def test_links_inside_are_data_and_lead_nowhere_here(tmp_path: Path, run: Run) -> None:
    secret = tmp_path / "secret"
    secret.write_text("mine")
    yard = make_yard(tmp_path / "home", {"a": "a", "d/e": "e"})
    run(yard.stage, f"rm -r d; ln -s {tmp_path} d; ln -sf {secret} a; echo x > d/evil || true")
    yard.commit()
    assert secret.read_text() == "mine"
    assert not (tmp_path / "evil").exists()
    assert not (yard.folder / "a").is_file() or (yard.folder / "a").read_text() != "x"


def test_a_command_that_is_stopped_or_takes_too_long_changes_nothing(
    tmp_path: Path, workspace: Workspace
) -> None:
    yard = make_yard(tmp_path, {"a": "a"})
    with pytest.raises(WorkspaceTimeError):
        workspace.run(
            "echo b > a; sleep 600",
            stage=yard.stage,
            judge=lambda _: ALLOW,
            stopped=lambda: False,
            timeout_s=0.3,
        )
    with pytest.raises(StoppedError):
        workspace.run(
            "echo b > a; sleep 600", stage=yard.stage, judge=lambda _: ALLOW, stopped=lambda: True
        )
    assert yard.stage.changes().changes == ()
    outcome = workspace.run("cat a", stage=yard.stage, judge=lambda _: ALLOW, stopped=lambda: False)
    assert (outcome.stdout, outcome.effects) == ("a", ())


def test_too_many_new_bytes_are_not_taken(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sandbox.workspace.pull.MOST_BYTES", 1_000)
    yard = make_yard(tmp_path, {"a": "a"})
    with pytest.raises(WorkspaceLimitError):
        run(yard.stage, "head -c 2000 /dev/zero > a")
    assert yard.stage.changes().changes == ()
    assert inside(run, yard.stage, "cat a") == "a"


def test_a_command_in_the_background_is_followed_and_ended(
    tmp_path: Path, workspace: Workspace
) -> None:
    yard = make_yard(tmp_path, {"a": "a"})
    options = {"stage": yard.stage, "judge": lambda _: ALLOW}
    number = workspace.start(
        "echo begun; echo b > a; while [ ! -e go ]; do sleep 0.05; done; echo done > a",
        stage=yard.stage,
        stopped=lambda: False,
    )
    while not (outcome := workspace.check(number, **options)).stdout:
        pass
    assert (outcome.exit_code, outcome.stdout, outcome.effects) == (None, "begun\n", ())
    other = workspace.start("sleep 600", stage=yard.stage, stopped=lambda: False)
    assert workspace.stop(other, **options).exit_code == 137
    workspace.machine.channel().start(
        ["touch", f"/workspace/{yard.folder.name}/go"], cwd="/", env={"PATH": "/usr/bin:/bin"}
    )
    outcome = workspace.check(number, wait_s=30, **options)
    assert outcome.exit_code == 0
    assert {item.kind for item in outcome.effects} == {"create", "modify"}
    assert yard.stage.read_bytes("a") == b"done\n"
    with pytest.raises(ValueError, match="no command 99"):
        workspace.check(99, **options)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.title)
def test_a_strange_entry_goes_in_and_stays_what_it_is(
    tmp_path: Path, run: Run, kind: object
) -> None:
    folder = tmp_path / "granted"
    folder.mkdir()
    (folder / "ordinary").write_text("x")
    kind.make(folder / kind.name)
    stage = Stage([FolderGrant(path=folder.resolve())], BlobStore(tmp_path / "blobs"))
    outcome = run(stage, "ls -a | cat > /dev/null; touch seen; rm seen")
    assert (outcome.exit_code, outcome.effects) == (0, ())
    assert stage.changes().changes == ()


NAMES = ["a", "b", "c d", "caf\udce9", "\u00fc", "-rf", "*", "e", "f'\"$(x)", "two\nlines"]
names = st.sampled_from(NAMES)
paths = st.one_of(names, st.tuples(names, names).map("/".join))
word = st.sampled_from(["x", "yy", "zzz" * 50])


def quoted(path: str) -> str:
    return shlex.quote(f"./{path}")


step = st.one_of(
    st.builds(lambda p, w: f"printf {w} > {quoted(p)}", paths, word),
    st.builds(lambda p, w: f"printf {w} >> {quoted(p)}", paths, word),
    st.builds(lambda p: f"rm -rf {quoted(p)}", paths),
    st.builds(lambda p: f"mkdir -p {quoted(p)}", paths),
    st.builds(lambda p, q: f"mv -fT {quoted(p)} {quoted(q)}", paths, paths),
    st.builds(lambda p, m: f"chmod {m} {quoted(p)}", paths, st.sampled_from(["600", "755", "444"])),
    st.builds(lambda p, q: f"cp -a {quoted(p)} {quoted(q)}", names, names),
    st.builds(lambda p, t: f"ln -sfT {shlex.quote(t)} {quoted(p)}", paths, names),
    st.builds(lambda p, t: f"touch -hcd @{t} {quoted(p)}", paths, st.integers(0, 2**31)),
)

steps = st.lists(step, max_size=6)


def shape(folder: Path) -> dict[str, tuple[int, bytes | str | None]]:
    return {path: (mode, content) for path, (mode, _, content) in picture(folder).items()}


def old_times(folder: Path) -> dict[str, int]:
    """Times of before today, which somebody gave."""
    return {
        path: time
        for path, (mode, time, _) in picture(folder).items()
        if time < 1_700_000_000 * 10**9 and stat.S_ISREG(mode)
    }


@pytest.mark.timeout(300)
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    before=st.lists(step, max_size=8),
    first=st.lists(step, max_size=6),
    second=st.lists(step, max_size=6),
)
def test_a_round_trip_does_what_the_command_does_here(
    tmp_path_factory: pytest.TempPathFactory,
    run: Run,
    before: list[str],
    first: list[str],
    second: list[str],
) -> None:
    home = tmp_path_factory.mktemp("trip")
    yard = make_yard(home, {"a": "1", "b/c d": "2", "e/f": "3", "e/g": None})
    script_of = "\n".join
    encoded = [
        os.fsencode(script_of(["umask 022", *steps, "true"])) for steps in (before, first, second)
    ]
    shell = ["/bin/bash", "-c"]
    subprocess.run([*shell, encoded[0]], cwd=yard.folder, check=True, stderr=subprocess.DEVNULL)
    yard.restage()
    copy = home / "copy"
    subprocess.run(["cp", "-a", yard.folder, copy], check=True)
    for script in encoded[1:]:
        subprocess.run([*shell, script], cwd=copy, check=True, stderr=subprocess.DEVNULL)
        run(yard.stage, os.fsdecode(script))
    outcome = run(yard.stage, "true")
    assert outcome.effects == ()
    assert yard.commit().conflicts == ()
    assert shape(yard.folder) == shape(copy)
    assert old_times(yard.folder) == old_times(copy)
    shutil.rmtree(home, ignore_errors=True)
    Yard  # noqa: B018 - the type of `yard`
