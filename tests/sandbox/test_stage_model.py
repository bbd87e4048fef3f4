"""The stage against the real thing: random programs on a stage and on a folder, compared."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox.blobs import BlobStore
from sandbox.changeset import ChangeSet, select
from sandbox.redo import redo
from sandbox.stage import FolderGrant, Stage
from sandbox.undo import undo
from tests.sandbox.trees import Yard, build, contents, make_yard, picture

START = {
    "a/x.txt": "ex",
    "a/y.txt": "why",
    "a/deep/z.txt": "zed",
    "b/x.txt": "other ex",
    "empty": None,
    "top.txt": "top",
    "ü中\n.txt": "strange",
}
NAMES = ("a", "b", "x.txt", "y.txt", "deep", "empty", "top.txt", "new", "ü中\n.txt")

LIKELY = ("a", "b", "empty", "a/deep", "c", "a/x.txt", "a/y.txt", "b/x.txt", "top.txt", "c/x.txt")

likely = st.sampled_from(LIKELY)
path = st.one_of(
    likely, likely, st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map("/".join)
)
data = st.binary(max_size=4)
operation = st.one_of(
    st.tuples(st.just("write"), path, data),
    st.tuples(st.just("append"), path, data),
    st.tuples(st.just("patch"), path, st.integers(0, 6), data),
    st.tuples(st.just("patch"), path, st.integers(0, 6), data),
    st.tuples(st.just("truncate"), path, st.integers(0, 6)),
    st.tuples(st.just("mkdir"), path),
    st.tuples(st.just("unlink"), path),
    st.tuples(st.just("rmdir"), path),
    st.tuples(st.just("rmtree"), path),
    st.tuples(st.just("rename"), path, path),
    st.tuples(st.just("rename"), path, path),
    st.tuples(st.just("copy"), path, path),
    st.tuples(st.just("chmod"), path, st.sampled_from([0o700, 0o750, 0o755])),
)
programs = st.lists(operation, max_size=14)
thorough = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def on_disk(folder: Path, step: tuple[object, ...]) -> None:
    """The same operation with `os`, with the stage's two kindnesses: parents come by themselves."""
    kind, name = str(step[0]), str(step[1])
    at = folder / name
    match kind:
        case "write" | "append":
            at.parent.mkdir(parents=True, exist_ok=True)
            with at.open("wb" if kind == "write" else "ab") as out:
                out.write(step[2])  # type: ignore[arg-type]
        case "mkdir":
            at.mkdir()
        case "unlink":
            at.unlink()
        case "rmdir":
            at.rmdir()
        case "rmtree":
            shutil.rmtree(at)
        case "rename":
            move_on_disk(at, folder / str(step[2]))
        case "copy":
            target = folder / str(step[2])
            content = at.read_bytes()
            if at == target:
                raise shutil.SameFileError
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            shutil.copystat(at, target)
        case _:
            change_in_part(at, step)


def change_in_part(at: Path, step: tuple[object, ...]) -> None:
    """Write into a file, cut it, or change its mode."""
    if step[0] == "chmod":
        at.chmod(int(str(step[2])))
    elif step[0] == "truncate":
        os.truncate(at, int(str(step[2])))
    else:
        with at.open("r+b") as out:
            out.seek(int(str(step[2])))
            out.write(step[3])  # type: ignore[arg-type]


def move_on_disk(source: Path, target: Path) -> None:
    """Rename; the parents of the target only come when the move itself can be."""
    if not source.exists():
        raise FileNotFoundError
    if target != source and target.is_relative_to(source):
        raise OSError
    target.parent.mkdir(parents=True, exist_ok=True)
    source.rename(target)


def on_stage(stage: Stage, step: tuple[object, ...]) -> None:
    kind, name = str(step[0]), str(step[1])
    calls: dict[str, Callable[[], object]] = {
        "write": lambda: stage.write_bytes(name, step[2]),  # type: ignore[arg-type]
        "append": lambda: stage.append_bytes(name, step[2]),  # type: ignore[arg-type]
        "patch": lambda: stage.write_at(name, int(str(step[2])), step[3]),  # type: ignore[arg-type]
        "truncate": lambda: stage.truncate(name, int(str(step[2]))),
        "mkdir": lambda: stage.mkdir(name, parents=False, exist_ok=False),
        "unlink": lambda: stage.unlink(name),
        "rmdir": lambda: stage.rmdir(name),
        "rmtree": lambda: stage.rmtree(name),
        "rename": lambda: stage.rename(name, str(step[2])),
        "copy": lambda: stage.copy_file(name, str(step[2]), metadata=True),
        "chmod": lambda: stage.chmod(name, int(str(step[2]))),
    }
    calls[kind]()


def outcome(call: Callable[[], None]) -> str:
    try:
        call()
    except OSError as error:
        return "error" if isinstance(error, shutil.SameFileError) else type(error).__name__
    return "ok"


def modes_and_contents(folder: Path) -> dict[str, tuple[int, object]]:
    return {name: (mode, content) for name, (mode, _, content) in picture(folder).items()}


def staged(stage: Stage) -> dict[str, tuple[int, object]]:
    """What the stage shows, in the shape of `modes_and_contents`."""
    shown: dict[str, tuple[int, object]] = {}
    for entry in stage.scan(".", max_depth=None):
        content = stage.read_bytes(entry.path) if entry.is_file else None
        mode = stage.stat(entry.path or ".").mode
        shown[entry.path or "."] = (mode, content)
    return shown


@given(programs)
@thorough
def test_a_program_does_on_the_stage_what_it_does_on_a_folder(
    steps: list[tuple[object, ...]],
) -> None:
    with tempfile.TemporaryDirectory() as home:
        yard = make_yard(Path(home), START)
        real = Path(home) / "real"
        real.mkdir(mode=yard.folder.stat().st_mode)
        build(real, START)
        before = picture(yard.folder)
        for step in steps:
            on_real = outcome(lambda step=step: on_disk(real, step))
            on_staged = outcome(lambda step=step: on_stage(yard.stage, step))
            assert (on_real == "ok") == (on_staged == "ok"), (step, on_real, on_staged)
            assert staged(yard.stage) == modes_and_contents(real), step
        assert picture(yard.folder) == before
        assert yard.commit().conflicts == ()
        assert modes_and_contents(yard.folder) == modes_and_contents(real)
        assert yard.stage.cwd == str(yard.folder)
        if yard.undo_folder.joinpath("commit.jsonl").exists():
            assert undo(yard.undo_folder).conflicts == ()
            assert picture(yard.folder) == before
            assert redo(yard.undo_folder, grants=yard.stage.grants).conflicts == ()
            assert modes_and_contents(yard.folder) == modes_and_contents(real)
            assert undo(yard.undo_folder).conflicts == ()
        assert picture(yard.folder) == before


@given(programs, programs)
@thorough
def test_a_dropped_layer_leaves_no_trace(
    first: list[tuple[object, ...]], second: list[tuple[object, ...]]
) -> None:
    with tempfile.TemporaryDirectory() as home:
        yard = make_yard(Path(home), START)
        for step in first:
            outcome(lambda step=step: on_stage(yard.stage, step))
        shown, changes = staged(yard.stage), yard.stage.changes()
        yard.stage.push()
        for step in second:
            outcome(lambda step=step: on_stage(yard.stage, step))
        yard.stage.drop()
        assert staged(yard.stage) == shown
        assert yard.stage.changes() == changes


@given(programs, programs)
@thorough
def test_a_fork_goes_its_own_way(
    first: list[tuple[object, ...]], second: list[tuple[object, ...]]
) -> None:
    with tempfile.TemporaryDirectory() as home:
        yard = make_yard(Path(home), START)
        for step in first:
            outcome(lambda step=step: on_stage(yard.stage, step))
        other = yard.stage.fork()
        shown = staged(yard.stage)
        for step in second:
            outcome(lambda step=step: on_stage(other, step))
        assert staged(yard.stage) == shown
        after = staged(other)
        for step in first:
            outcome(lambda step=step: on_stage(yard.stage, step))
        assert staged(other) == after


@given(programs, st.data())
@thorough
def test_any_subset_commits_without_conflict_and_comes_back(
    steps: list[tuple[object, ...]], draw: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as home:
        yard = make_yard(Path(home), START)
        before = picture(yard.folder)
        for step in steps:
            outcome(lambda step=step: on_stage(yard.stage, step))
        changes = yard.stage.changes()
        ids = [change.id for change in changes.changes]
        wanted = draw.draw(st.sets(st.sampled_from(ids)) if ids else st.just(set()))
        chosen = select(changes, wanted)
        assert {c.id for c in chosen.changes} <= wanted
        report = yard.commit(chosen)
        assert report.conflicts == ()
        assert_applied(yard, chosen, before)
        if chosen.changes:
            assert undo(yard.undo_folder).conflicts == ()
        assert picture(yard.folder) == before


def assert_applied(yard: Yard, chosen: ChangeSet, before: dict[str, object]) -> None:
    """Every chosen change shows, and what nothing chosen touches is as before."""
    for change in chosen.changes:
        if change.kind in ("create", "modify", "move", "mkdir"):
            assert os.path.lexists(change.final_path), change
    files_before = sum(1 for entry in before.values() if entry[2] is not None)  # type: ignore[index]
    deleted = sum(c.kind == "delete" for c in chosen.changes)
    overwritten = sum(c.overwrites for c in chosen.changes)
    created = sum(c.kind == "create" for c in chosen.changes)
    files_now = sum(1 for content in contents(yard.folder).values() if content is not None)
    assert files_now == files_before - deleted - overwritten + created


def test_two_stages_over_one_folder_share_nothing(tmp_path: Path) -> None:
    yard = make_yard(tmp_path, START)
    other = Stage([FolderGrant(path=yard.folder)], BlobStore(tmp_path / "blobs"))
    yard.stage.unlink("top.txt")
    assert other.exists("top.txt")
