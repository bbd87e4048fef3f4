"""A closed folder inside a granted one: programs can neither see nor touch it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox.stage import FolderGrant, Stage
from tests.sandbox.trees import Yard, contents, make_yard

FILES = {
    "notes.txt": "notes",
    "share/app/store.db": "state",
    "share/app/demo/copy/a.txt": "a",
    "share/other.txt": "other",
}


def close(yard: Yard, *more: Path) -> Yard:
    """The yard with `share/app` closed, and with `more` granted folders."""
    shut = (yard.folder / "share/app",)
    grants = [FolderGrant(path=path, closed=shut) for path in (yard.folder, *more)]
    yard.stage = Stage(grants, yard.blobs)
    return yard


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    return close(make_yard(tmp_path, FILES))


TOUCHING: list[Callable[[Stage], object]] = [
    lambda s: s.read_bytes("share/app/store.db"),
    lambda s: s.write_bytes("share/app/store.db", b"x"),
    lambda s: s.write_bytes("share/app/new.txt", b"x"),
    lambda s: s.append_bytes("share/app/store.db", b"x"),
    lambda s: s.stat("share/app"),
    lambda s: s.stat("share/app/store.db", follow=False),
    lambda s: s.exists("share/app/store.db"),
    lambda s: s.is_dir("share/app"),
    lambda s: s.listdir("share/app"),
    lambda s: list(s.scan("share/app", max_depth=None)),
    lambda s: s.mkdir("share/app/made"),
    lambda s: s.mkdir("share/app", exist_ok=True),
    lambda s: s.unlink("share/app/store.db"),
    lambda s: s.rmtree("share/app"),
    lambda s: s.rename("share/app", "mine"),
    lambda s: s.rename("share/app/store.db", "mine.db"),
    lambda s: s.rename("notes.txt", "share/app/notes.txt"),
    lambda s: s.copy_file("share/app/store.db", "mine.db", metadata=False),
    lambda s: s.chmod("share/app/store.db", 0o777),
    lambda s: s.read_bytes("share/x/../app/store.db"),
]


@pytest.mark.parametrize("call", TOUCHING)
def test_what_is_in_a_closed_folder_can_neither_be_read_nor_changed(
    yard: Yard, call: Callable[[Stage], object]
) -> None:
    with pytest.raises(PermissionError, match="belongs to Drydock"):
        call(yard.stage)
    assert yard.stage.changes().changes == ()


def test_a_closed_folder_is_not_listed_and_not_scanned(yard: Yard) -> None:
    yard.stage.write_bytes("share/new.txt", b"")
    assert yard.stage.listdir("share") == ["new.txt", "other.txt"]
    found = [entry.path for entry in yard.stage.scan(".", max_depth=None)]
    assert found == ["", "notes.txt", "share", "share/new.txt", "share/other.txt"]


@pytest.mark.parametrize(
    "call",
    [
        lambda s: s.rename("share", "elsewhere"),
        lambda s: s.rmtree("share"),
        lambda s: s.rmdir("share"),
    ],
)
def test_a_folder_that_holds_a_closed_one_stays(
    yard: Yard, call: Callable[[Stage], object]
) -> None:
    yard.stage.unlink("share/other.txt")  # what is left of the folder looks empty
    with pytest.raises(PermissionError, match="has to stay"):
        call(yard.stage)


def test_a_folder_does_not_take_the_place_of_one_that_holds_a_closed_one(yard: Yard) -> None:
    yard.stage.unlink("share/other.txt")
    yard.stage.mkdir("full")
    with pytest.raises(OSError, match="busy"):
        yard.stage.rename("full", "share")


def test_a_link_into_a_closed_folder_leads_out(yard: Yard) -> None:
    (yard.folder / "way").symlink_to("share/app")
    assert yard.stage.is_symlink("way")
    assert not yard.stage.exists("way/store.db")
    with pytest.raises(PermissionError, match="leads out"):
        yard.stage.read_bytes("way/store.db")


def test_another_name_for_a_closed_folder_is_closed_too(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.lstat

    def folded(path: str) -> os.stat_result:
        """As on a disk that does not tell capitals apart."""
        return real(str(path).replace("/APP", "/app"))

    monkeypatch.setattr(os, "lstat", folded)
    with pytest.raises(PermissionError, match="belongs to Drydock"):
        yard.stage.read_bytes("share/APP/store.db")


def test_a_folder_granted_inside_a_closed_one_is_open_and_the_rest_is_not(tmp_path: Path) -> None:
    made = make_yard(tmp_path, FILES)
    yard = close(made, made.folder / "share/app/demo/copy")
    inside = "share/app/demo/copy"
    assert yard.stage.listdir(inside) == ["a.txt"]
    yard.stage.write_bytes(f"{inside}/b.txt", b"b")
    yard.stage.push()
    assert yard.stage.listdir("share") == ["other.txt"]
    for path in ("share/app/store.db", "share/app/demo", "share/app/demo/other"):
        with pytest.raises(PermissionError, match="belongs to Drydock"):
            yard.stage.stat(path)
    report = yard.commit()
    assert not report.conflicts
    assert (yard.folder / inside / "b.txt").read_text("utf-8") == "b"


def test_a_grant_of_the_folder_inside_alone_works(tmp_path: Path) -> None:
    yard = make_yard(tmp_path, FILES)
    inside = yard.folder / "share/app/demo/copy"
    stage = Stage([FolderGrant(path=inside, closed=(yard.folder / "share/app",))], yard.blobs)
    assert stage.read_bytes("a.txt") == b"a"
    with pytest.raises(PermissionError):
        stage.read_bytes("../../store.db")


def test_a_commit_refuses_changes_in_a_closed_folder(yard: Yard) -> None:
    open_stage = Stage([FolderGrant(path=yard.folder)], yard.blobs)
    open_stage.unlink("share/app/store.db")
    open_stage.write_bytes("share/app/new.txt", b"new")
    open_stage.rename("notes.txt", "share/app/notes.txt")
    before = contents(yard.folder)
    report = yard.commit(open_stage.changes())
    assert {conflict.reason for conflict in report.conflicts} == {"outside"}
    assert len(report.conflicts) == 3
    assert contents(yard.folder) == before


def test_a_fork_keeps_a_closed_folder_closed(yard: Yard) -> None:
    with pytest.raises(PermissionError):
        yard.stage.fork().read_bytes("share/app/store.db")
