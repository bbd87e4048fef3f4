"""Two granted folders on two devices: what goes across is copied, undone and done again exactly."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox.blobs import BlobStore
from sandbox.commit import commit
from sandbox.redo import redo
from sandbox.stage import FolderGrant, Stage
from sandbox.undo import undo
from tests.sandbox.test_stage_model import on_stage, outcome
from tests.sandbox.trees import Picture, build, contents, picture

MEMORY = Path("/dev/shm")
HERE = {"f": "f", "d/x": "x", "d/y": "y", "e/z": "z", "gone": "g"}
THERE = {"o": "o", "p/q": "q", "f": "far f"}
NAMES = ("f", "d", "d/x", "d/y", "d/new", "e", "e/z", "gone", "o", "p", "p/q", "n", "n/m")

pytestmark = pytest.mark.skipif(
    not MEMORY.is_dir() or MEMORY.stat().st_dev == Path(tempfile.gettempdir()).stat().st_dev,
    reason="needs a second device",
)


class Pair:
    """Two folders, one on each device; the undo folder is on one of them."""

    def __init__(self, near: Path, far: Path, *, undo_is_far: bool) -> None:
        self.near, self.far = near / "granted", far / "granted"
        for folder, files in ((self.near, HERE), (self.far, THERE)):
            folder.mkdir()
            build(folder, files)
        home = far if undo_is_far else near
        self.undo_folder = home / "undo"
        self.blobs = BlobStore(near / "blobs")
        grants = [FolderGrant(path=self.near), FolderGrant(path=self.far)]
        self.stage = Stage(grants, self.blobs)

    def pictures(self) -> tuple[Picture, Picture]:
        return picture(self.near), picture(self.far)

    def contents(self) -> tuple[dict[str, bytes | str | None], dict[str, bytes | str | None]]:
        return contents(self.near), contents(self.far)

    def commit(self) -> None:
        report = commit(
            self.stage.changes(),
            blobs=self.blobs,
            undo_folder=self.undo_folder,
            grants=self.stage.grants,
        )
        assert report.conflicts == ()


@contextmanager
def pair(*, undo_is_far: bool) -> Iterator[Pair]:
    near = Path(tempfile.mkdtemp()).resolve()
    far = Path(tempfile.mkdtemp(dir=MEMORY)).resolve()
    try:
        yield Pair(near, far, undo_is_far=undo_is_far)
    finally:
        for folder in (near, far):
            for path in folder.rglob("*"):
                if path.is_dir() and not path.is_symlink():
                    path.chmod(0o700)
            shutil.rmtree(folder)


def back_and_forth(two: Pair, before: tuple[Picture, Picture]) -> None:
    done = two.contents()
    for _ in range(2):
        assert undo(two.undo_folder).conflicts == ()
        assert two.pictures() == before
        assert redo(two.undo_folder, grants=two.stage.grants).conflicts == ()
        assert two.contents() == done
    assert undo(two.undo_folder).conflicts == ()
    assert two.pictures() == before


@pytest.mark.parametrize("undo_is_far", [False, True])
def test_moves_with_changes_go_across_and_back_and_across_again(undo_is_far: bool) -> None:
    with pair(undo_is_far=undo_is_far) as two:
        before = two.pictures()
        far, stage = two.far.as_posix(), two.stage
        stage.rename("f", f"{far}/f")
        stage.rename("d", f"{far}/d")
        stage.write_bytes(f"{far}/d/x", b"edited")
        stage.write_bytes(f"{far}/d/new", b"new")
        stage.rename(f"{far}/d/y", "y")
        stage.rename(f"{far}/p", "p")
        stage.rename(f"{far}/o", "o")
        stage.append_bytes("o", b"+")
        stage.rename("e/z", f"{far}/p2/z")
        stage.unlink("gone")
        two.commit()
        assert (two.far / "f").read_bytes() == b"f"
        back_and_forth(two, before)


side = st.sampled_from(["near", "far"])
place = st.tuples(side, st.sampled_from(NAMES))
step = st.one_of(
    st.tuples(st.just("rename"), place, place),
    st.tuples(st.just("rename"), place, place),
    st.tuples(st.just("write"), place, st.binary(max_size=3)),
    st.tuples(st.just("append"), place, st.binary(max_size=3)),
    st.tuples(st.just("copy"), place, place),
    st.tuples(st.just("unlink"), place),
    st.tuples(st.just("rmtree"), place),
    st.tuples(st.just("mkdir"), place),
)


@given(st.lists(step, max_size=8), st.booleans())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_program_over_two_devices_is_undone_and_done_again(
    steps: list[tuple[object, ...]], undo_is_far: bool
) -> None:
    with pair(undo_is_far=undo_is_far) as two:
        before = two.pictures()

        def at(value: object) -> object:
            if not isinstance(value, tuple):
                return value
            where, name = value
            return f"{two.near if where == 'near' else two.far}/{name}"

        for one in steps:
            paths = tuple(at(value) for value in one)
            outcome(lambda paths=paths: on_stage(two.stage, paths))
        two.commit()
        if two.undo_folder.joinpath("commit.jsonl").exists():
            back_and_forth(two, before)
        assert two.pictures() == before
