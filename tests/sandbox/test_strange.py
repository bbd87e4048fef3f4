"""Strange entries: each handled like any other, or refused with a clear message; never harmed."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from sandbox.stage import Stage
from sandbox.undo import undo
from tests.sandbox.strange import KINDS, Strange
from tests.sandbox.trees import Picture, Yard, make_yard, picture

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs what POSIX has")


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    return make_yard(tmp_path, {"ordinary": "o", "beside/file": "f"})


def made(yard: Yard, kind: Strange) -> Picture:
    kind.make(yard.folder / kind.name)
    yard.restage()
    return picture(yard.folder)


def kinds_of(*fates: str) -> list[Strange]:
    return [kind for kind in KINDS if kind.fate in fates]


def titles(kind: Strange) -> str:
    return kind.title


def test_there_are_fifty_kinds_and_no_two_are_the_same() -> None:
    assert len({kind.title for kind in KINDS}) == len({kind.name for kind in KINDS}) == len(KINDS)
    assert len(KINDS) >= 50


@pytest.mark.parametrize("kind", KINDS, ids=titles)
def test_it_is_listed_and_looking_changes_nothing(yard: Yard, kind: Strange) -> None:
    before = made(yard, kind)
    assert kind.name in yard.stage.listdir(".")
    assert kind.name in {entry.path for entry in yard.stage.scan(".", max_depth=None)}
    found = yard.stage.stat(kind.name, follow=False)
    st = (yard.folder / kind.name).lstat()
    assert (found.mode, found.mtime_ns) == (st.st_mode, st.st_mtime_ns)
    assert yard.stage.changes().changes == ()
    assert picture(yard.folder) == before


@pytest.mark.parametrize("kind", kinds_of("handled"), ids=titles)
def test_it_is_read_as_python_reads_it(yard: Yard, kind: Strange) -> None:
    made(yard, kind)
    path = yard.folder / kind.name
    if path.is_file():
        assert yard.stage.read_bytes(kind.name) == path.read_bytes()
    else:
        assert yard.stage.listdir(kind.name) == sorted(item.name for item in path.iterdir())


@pytest.mark.parametrize("kind", kinds_of("handled", "kept"), ids=titles)
@pytest.mark.parametrize("target", ["moved", "new/moved"])
def test_it_moves_and_comes_back(yard: Yard, kind: Strange, target: str) -> None:
    before = made(yard, kind)
    yard.stage.rename(kind.name, target)
    assert yard.commit().conflicts == ()
    after = picture(yard.folder)
    assert after[target] == before[kind.name]
    assert kind.name not in after
    undo(yard.undo_folder)
    assert picture(yard.folder) == before


@pytest.mark.parametrize("kind", kinds_of("handled", "kept"), ids=titles)
def test_it_is_deleted_and_comes_back(yard: Yard, kind: Strange) -> None:
    before = made(yard, kind)
    delete(yard.stage, kind.name)
    assert yard.commit().conflicts == ()
    assert not os.path.lexists(yard.folder / kind.name)
    undo(yard.undo_folder)
    assert picture(yard.folder) == before


@pytest.mark.parametrize("kind", kinds_of("handled"), ids=titles)
def test_writing_to_it_works_or_says_why_not(yard: Yard, kind: Strange) -> None:
    before = made(yard, kind)
    path = yard.folder / kind.name
    is_folder = path.is_dir()
    name = f"{kind.name}/added" if is_folder else kind.name
    if not path.stat().st_mode & 0o222:
        with pytest.raises(PermissionError, match="read-only; make it writable"):
            yard.stage.write_bytes(name, b"ours")
        return
    yard.stage.append_bytes(name, b"ours")
    assert yard.commit().conflicts == ()
    written = yard.folder / name
    assert written.read_bytes().endswith(b"ours")
    if not is_folder:
        assert stat.S_IMODE(written.stat().st_mode) == stat.S_IMODE(before[kind.name][0]) or (
            path.is_symlink()
        )
    undo(yard.undo_folder)
    assert picture(yard.folder) == before


@pytest.mark.parametrize("kind", kinds_of("kept", "refused"), ids=titles)
def test_what_is_no_file_of_this_folder_is_not_read(yard: Yard, kind: Strange) -> None:
    made(yard, kind)
    with pytest.raises(OSError) as caught:
        yard.stage.read_bytes(kind.name)
    assert caught.value.strerror
    assert caught.value.filename


@pytest.mark.parametrize("kind", kinds_of("refused"), ids=titles)
def test_what_is_no_file_at_all_stays_where_it_is(yard: Yard, kind: Strange) -> None:
    before = made(yard, kind)
    for change in (
        lambda: yard.stage.unlink(kind.name),
        lambda: yard.stage.rename(kind.name, "moved"),
        lambda: yard.stage.rename("ordinary", kind.name),
        lambda: yard.stage.write_bytes(kind.name, b"ours"),
        lambda: yard.stage.copy_file(kind.name, "copy", metadata=True),
    ):
        with pytest.raises(PermissionError, match="socket, a device or a pipe"):
            change()
    assert yard.stage.changes().changes == ()
    assert picture(yard.folder) == before


@pytest.mark.parametrize("name", ["out", "up", "proc", "itself"])
def test_a_link_out_is_never_written_through(yard: Yard, name: str) -> None:
    before = made(yard, next(kind for kind in KINDS if kind.name == name))
    with pytest.raises(OSError, match=r"leads out|Too many levels"):
        yard.stage.write_bytes(f"{name}/through", b"ours")
    assert yard.stage.changes().changes == ()
    assert picture(yard.folder) == before


def test_all_of_them_at_once_move_into_a_folder_and_back(yard: Yard) -> None:
    for kind in KINDS:
        kind.make(yard.folder / kind.name)
    yard.restage()
    before = picture(yard.folder)
    for kind in kinds_of("handled", "kept"):
        yard.stage.rename(kind.name, f"all/{kind.name}")
    report = yard.commit()
    assert report.conflicts == ()
    assert len(report.applied) == len(kinds_of("handled", "kept")) + 1
    undo(yard.undo_folder)
    assert picture(yard.folder) == before


def delete(stage: Stage, name: str) -> None:
    found = stage.stat(name, follow=False)
    if not found.is_dir:
        stage.unlink(name)
        return
    if not found.mode & 0o222:
        stage.chmod(name, 0o755)
    stage.rmtree(name)
