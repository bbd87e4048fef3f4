"""The stage as programs see it: Python's file semantics, the boundary, layers, strange entries."""

from __future__ import annotations

import errno
import os
import socket
import zipfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import pytest

from sandbox.blobs import BlobStore
from sandbox.changeset import Evidence
from sandbox.stage import FolderGrant, Stage
from tests.sandbox.trees import Yard, kinds, make_yard, picture

FILES = {
    "docs/a.txt": "alpha",
    "docs/deep/b.txt": "beta",
    "empty": None,
    "top.txt": "top",
}


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    return make_yard(tmp_path, FILES)


def test_untouched_entries_are_read_from_the_disk(yard: Yard) -> None:
    assert yard.stage.read_bytes("docs/a.txt") == b"alpha"
    assert yard.stage.listdir(".") == ["docs", "empty", "top.txt"]
    assert yard.stage.stat("docs/a.txt").size_bytes == 5
    assert yard.stage.stat("docs").size_bytes == 0
    assert yard.stage.changes().changes == ()


@pytest.mark.parametrize("form", ["docs/../top.txt", "./top.txt", "docs//../docs/.././top.txt"])
def test_dots_are_taken_out_of_paths(yard: Yard, form: str) -> None:
    assert yard.stage.read_bytes(form) == b"top"
    assert yard.stage.read_bytes(PurePosixPath(yard.folder.as_posix(), form)) == b"top"


def test_writing_leaves_the_disk_alone(yard: Yard) -> None:
    before = picture(yard.folder)
    stage = yard.stage
    stage.write_bytes("docs/a.txt", b"changed")
    stage.write_bytes("new/folder/c.txt", b"c")
    stage.append_bytes("top.txt", b"!")
    stage.rename("docs", "papers")
    stage.rmdir("empty")
    stage.mkdir("made", parents=False, exist_ok=False)
    stage.chmod("top.txt", 0o600)
    stage.utime("top.txt", 5)
    assert stage.listdir(".") == ["made", "new", "papers", "top.txt"]
    assert stage.read_bytes("papers/a.txt") == b"changed"
    assert stage.read_bytes("top.txt") == b"top!"
    assert picture(yard.folder) == before


def test_a_scan_is_in_order_and_bounded_by_depth(yard: Yard) -> None:
    yard.stage.write_bytes("docs/aa.txt", b"")
    paths = [entry.path for entry in yard.stage.scan(".", max_depth=None)]
    assert paths == [
        "",
        "docs",
        "docs/a.txt",
        "docs/aa.txt",
        "docs/deep",
        "docs/deep/b.txt",
        "empty",
        "top.txt",
    ]
    shallow = [entry.path for entry in yard.stage.scan(".", max_depth=1)]
    assert shallow == ["", "docs", "empty", "top.txt"]
    assert [entry.path for entry in yard.stage.scan("docs", max_depth=0)] == [""]


def test_a_renamed_folder_shows_its_files_and_is_one_change(yard: Yard) -> None:
    yard.stage.rename("docs", "archive/2024")
    assert yard.stage.read_bytes("archive/2024/deep/b.txt") == b"beta"
    assert not yard.stage.exists("docs/a.txt")
    assert kinds(yard.stage.changes(), yard.folder) == [
        ("mkdir", "archive", None),
        ("move", "docs", "archive/2024"),
    ]


def test_a_file_moved_there_and_back_is_no_change(yard: Yard) -> None:
    yard.stage.rename("top.txt", "docs/top.txt")
    yard.stage.rename("docs/top.txt", "top.txt")
    assert yard.stage.changes().changes == ()


def test_content_that_comes_out_the_same_is_no_change(yard: Yard) -> None:
    yard.stage.write_bytes("top.txt", b"top")
    assert yard.stage.changes().changes == ()


def test_a_deleted_file_written_again_is_modified(yard: Yard) -> None:
    yard.stage.unlink("top.txt")
    yard.stage.write_bytes("top.txt", b"again")
    assert kinds(yard.stage.changes(), yard.folder) == [("modify", "top.txt", None)]


def test_a_deleted_tree_lists_each_file_before_its_folder(yard: Yard) -> None:
    yard.stage.rmtree("docs")
    assert kinds(yard.stage.changes(), yard.folder) == [
        ("delete", "docs/a.txt", None),
        ("delete", "docs/deep/b.txt", None),
        ("rmdir", "docs/deep", None),
        ("rmdir", "docs", None),
    ]


def test_what_was_rescued_from_a_deleted_tree_is_a_move(yard: Yard) -> None:
    yard.stage.rename("docs/deep/b.txt", "b.txt")
    yard.stage.rmtree("docs")
    assert ("move", "docs/deep/b.txt", "b.txt") in kinds(yard.stage.changes(), yard.folder)
    assert len(yard.stage.changes().changes) == 4


def test_changes_carry_the_program_line_and_call(yard: Yard) -> None:
    yard.stage.evidence = first = Evidence(program_id="p1", line=3, call="Path.rename")
    yard.stage.rename("top.txt", "moved.txt")
    yard.stage.evidence = second = Evidence(program_id="p1", line=4, call="Path.write_text")
    yard.stage.write_bytes("moved.txt", b"more")
    yard.stage.unlink("docs/a.txt")
    delete, move = sorted(yard.stage.changes().changes, key=lambda change: change.kind)
    assert move.evidence == (first, second)
    assert delete.evidence == (second,)


def test_appending_many_times_keeps_one_tail(yard: Yard) -> None:
    for number in range(20_000):
        yard.stage.append_bytes("docs/a.txt", b"%d\n" % number)
    expected = b"alpha" + b"".join(b"%d\n" % number for number in range(20_000))
    assert yard.stage.read_bytes("docs/a.txt") == expected
    (change,) = yard.stage.changes().changes
    assert (change.kind, change.prefix_bytes) == ("modify", 5)
    assert yard.blobs.path_of(str(change.blob)).stat().st_size == len(expected) - 5


def test_a_large_tail_overflows_to_the_scratch_folder_and_reads_back(yard: Yard) -> None:
    block = bytes(range(256)) * 1024
    for _ in range(9):
        yard.stage.append_bytes("big", block)
    assert yard.stage.read_bytes("big") == block * 9
    with yard.stage.open_reader("big") as stream:
        stream.seek(5 * len(block) + 7)
        assert stream.read(3) == bytes([7, 8, 9])


def test_an_appended_archive_can_be_read_through_the_stream(yard: Yard, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "z.zip", "w") as archive:
        archive.writestr("inside.txt", "hello")
    data = (tmp_path / "z.zip").read_bytes()
    yard.stage.write_bytes("z.zip", data[:20])
    yard.stage.append_bytes("z.zip", data[20:])
    with yard.stage.open_reader("z.zip") as stream, zipfile.ZipFile(stream) as archive:
        assert archive.read("inside.txt") == b"hello"


def test_a_copy_takes_no_bytes_and_keeps_the_content_of_then(yard: Yard) -> None:
    yard.stage.copy_file("top.txt", "copies/one.txt", metadata=True)
    yard.stage.write_bytes("top.txt", b"later")
    assert yard.stage.read_bytes("copies/one.txt") == b"top"
    created = next(c for c in yard.stage.changes().changes if c.kind == "create")
    assert (created.blob, created.source) == (None, str(yard.folder / "top.txt"))
    assert (
        yard.stage.stat("copies/one.txt").mtime_ns == (yard.folder / "top.txt").stat().st_mtime_ns
    )


def test_the_digest_is_that_of_the_staged_content(yard: Yard) -> None:
    digest = yard.stage.sha256("top.txt")
    yard.stage.append_bytes("other.txt", b"to")
    yard.stage.append_bytes("other.txt", b"p")
    assert yard.stage.sha256("other.txt") == digest


def test_a_file_larger_than_the_limit_is_refused_and_told_so(yard: Yard) -> None:
    with pytest.raises(OSError, match="File too large") as caught:
        yard.stage.read_bytes("top.txt", limit_bytes=2)
    assert caught.value.errno == errno.EFBIG


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda s: s.read_bytes("nothing"), FileNotFoundError),
        (lambda s: s.read_bytes("docs"), IsADirectoryError),
        (lambda s: s.read_bytes("top.txt/x"), NotADirectoryError),
        (lambda s: s.listdir("nothing"), FileNotFoundError),
        (lambda s: s.listdir("top.txt"), NotADirectoryError),
        (lambda s: s.stat("nothing"), FileNotFoundError),
        (lambda s: list(s.scan("nothing", max_depth=None)), FileNotFoundError),
        (lambda s: s.write_bytes("docs", b""), IsADirectoryError),
        (lambda s: s.write_bytes("top.txt/x", b""), NotADirectoryError),
        (lambda s: s.unlink("docs"), IsADirectoryError),
        (lambda s: s.unlink("nothing"), FileNotFoundError),
        (lambda s: s.rmdir("docs"), OSError),
        (lambda s: s.rmdir("top.txt"), NotADirectoryError),
        (lambda s: s.rmtree("top.txt"), NotADirectoryError),
        (lambda s: s.mkdir("docs", parents=True, exist_ok=False), FileExistsError),
        (lambda s: s.mkdir("top.txt", parents=True, exist_ok=True), FileExistsError),
        (lambda s: s.mkdir("x/y", parents=False, exist_ok=False), FileNotFoundError),
        (lambda s: s.rename("nothing", "x"), FileNotFoundError),
        (lambda s: s.rename("top.txt", "docs"), IsADirectoryError),
        (lambda s: s.rename("empty", "top.txt"), NotADirectoryError),
        (lambda s: s.rename("empty", "docs"), OSError),
        (lambda s: s.rename("docs", "docs/deep/docs"), OSError),
        (lambda s: s.write_bytes("n" * 300, b""), OSError),
        (lambda s: s.read_bytes("a\0b"), ValueError),
    ],
)
def test_errors_are_those_of_python_and_change_nothing(
    yard: Yard, call: Callable[[Stage], object], error: type[Exception]
) -> None:
    with pytest.raises(error) as caught:
        call(yard.stage)
    assert type(caught.value) is error
    assert error is ValueError or caught.value.filename  # type: ignore[attr-defined]
    assert yard.stage.changes().changes == ()


OUTSIDE: list[Callable[[Stage], object]] = [
    lambda s: s.read_bytes("/etc/passwd"),
    lambda s: s.read_bytes("../../../../etc/passwd"),
    lambda s: s.exists("/etc/passwd"),
    lambda s: s.write_bytes("../escaped.txt", b""),
    lambda s: s.rename("top.txt", "../escaped.txt"),
    lambda s: s.rename("../blobs", "b"),
    lambda s: s.read_bytes("out/passwd"),
    lambda s: s.listdir("out"),
    lambda s: s.write_bytes("out/evil", b""),
    lambda s: s.stat("out/passwd"),
    lambda s: s.stat("out"),
    lambda s: s.rename("top.txt", "out/top.txt"),
    lambda s: s.mkdir("out/new", parents=True, exist_ok=True),
    lambda s: s.copy_file("hidden", "seen", metadata=False),
    lambda s: s.chmod("hidden", 0o777),
    lambda s: list(s.scan("out", max_depth=None)),
    lambda s: s.rmtree("."),
    lambda s: s.rename(".", "elsewhere"),
]


@pytest.mark.parametrize("call", OUTSIDE)
def test_nothing_outside_the_folders_can_be_reached(
    yard: Yard, call: Callable[[Stage], object]
) -> None:
    (yard.folder / "out").symlink_to("/etc")
    (yard.folder / "hidden").symlink_to("../../../../../etc/passwd")
    with pytest.raises(PermissionError) as caught:
        call(yard.stage)
    assert "folder" in str(caught.value.strerror)
    assert yard.stage.changes().changes == ()


def test_what_a_link_leads_out_to_is_not_there_and_the_link_is(yard: Yard) -> None:
    (yard.folder / "out").symlink_to("/etc")
    (yard.folder / "hidden").symlink_to("/etc/passwd")
    stage = yard.stage
    assert stage.listdir(".") == ["docs", "empty", "hidden", "out", "top.txt"]
    for path in ("out", "hidden", "out/passwd"):
        assert (stage.exists(path), stage.is_file(path), stage.is_dir(path)) == (False,) * 3
    assert stage.is_symlink("out")
    assert stage.is_symlink("hidden")
    assert not stage.is_symlink("out/passwd")
    with pytest.raises(PermissionError, match="skip links"):
        stage.open_reader("hidden")


def test_folders_above_a_granted_one_are_there_and_no_more(yard: Yard) -> None:
    assert yard.stage.exists("..")
    assert yard.stage.is_dir("/")
    assert not yard.stage.is_file("..")
    yard.stage.mkdir(yard.folder.parent, parents=True, exist_ok=True)
    with pytest.raises(PermissionError):
        yard.stage.listdir("..")


def test_a_link_inside_is_followed_and_moved_as_a_link(yard: Yard) -> None:
    (yard.folder / "link").symlink_to("docs/a.txt")
    (yard.folder / "way").symlink_to("docs")
    assert yard.stage.is_symlink("link")
    assert yard.stage.is_file("link")
    yard.stage.append_bytes("link", b"!")
    assert yard.stage.read_bytes("docs/a.txt") == b"alpha!"
    yard.stage.rename("link", "docs/link")
    assert yard.stage.is_symlink("docs/link")
    assert not yard.stage.exists("docs/link")
    yard.stage.unlink("way")
    assert yard.stage.exists("docs/a.txt")
    with pytest.raises(FileNotFoundError):
        yard.stage.read_bytes("way/a.txt")


def test_a_scan_names_links_and_does_not_follow_them(yard: Yard) -> None:
    (yard.folder / "docs/up").symlink_to("..")
    (yard.folder / "dangling").symlink_to("nowhere")
    (yard.folder / "out").symlink_to("/etc")
    found = {entry.path: entry for entry in yard.stage.scan(".", max_depth=None)}
    assert found["docs/up"].is_symlink
    assert found["docs/up"].is_dir
    assert "docs/up/top.txt" not in found
    assert (found["dangling"].is_dir, found["dangling"].is_file) == (False, False)
    assert (found["out"].is_dir, found["out"].is_symlink) == (False, True)
    followed = [e.path for e in yard.stage.scan(".", max_depth=None, follow_symlinks=True)]
    assert len(followed) == len(found)


def test_links_in_a_circle_end_in_an_error(yard: Yard) -> None:
    (yard.folder / "one").symlink_to("two")
    (yard.folder / "two").symlink_to("one")
    assert not yard.stage.exists("one")
    with pytest.raises(OSError) as caught:
        yard.stage.read_bytes("one")
    assert caught.value.errno == errno.ELOOP


def test_a_dangling_link_can_be_written_through_and_deleted(yard: Yard) -> None:
    (yard.folder / "dangling").symlink_to("docs/new.txt")
    assert not yard.stage.exists("dangling")
    yard.stage.write_bytes("dangling", b"n")
    assert yard.stage.read_bytes("docs/new.txt") == b"n"
    yard.stage.unlink("dangling")
    assert kinds(yard.stage.changes(), yard.folder) == [
        ("delete", "dangling", None),
        ("create", "docs/new.txt", None),
    ]


def test_sockets_and_pipes_are_listed_and_refused(yard: Yard) -> None:
    os.mkfifo(yard.folder / "pipe")
    server = socket.socket(socket.AF_UNIX)
    here = Path.cwd()
    os.chdir(yard.folder)
    try:
        server.bind("socket")
    finally:
        os.chdir(here)
        server.close()
    for name in ("pipe", "socket"):
        assert name in yard.stage.listdir(".")
        assert not yard.stage.is_file(name)
        for call in (
            yard.stage.read_bytes,
            yard.stage.unlink,
            lambda path: yard.stage.write_bytes(path, b""),
            lambda path: yard.stage.rename(path, "x"),
            lambda path: yard.stage.chmod(path, 0o600),
        ):
            with pytest.raises(PermissionError, match="socket"):
                call(name)


@pytest.mark.parametrize(
    "name",
    [
        "Müller.txt",
        "发票.txt",
        "two\nlines",
        "invalid-\udcff\udce4",
        "x" * 255,
        " ",
        "*?[a]",
        "-rf",
    ],
)
def test_strange_names_work_like_others(yard: Yard, name: str) -> None:
    Path(yard.folder, name).write_bytes(b"strange")
    assert name in yard.stage.listdir(".")
    yard.stage.rename(name, f"docs/{name}")
    yard.stage.append_bytes(f"docs/{name}", b"!")
    assert yard.stage.read_bytes(f"docs/{name}") == b"strange!"
    yard.commit()
    assert Path(yard.folder, "docs", name).read_bytes() == b"strange!"


def test_a_change_of_case_alone_is_a_move(yard: Yard) -> None:
    yard.stage.rename("top.txt", "Top.txt")
    assert yard.stage.listdir(".") == ["Top.txt", "docs", "empty"]
    yard.commit()
    assert sorted(path.name for path in yard.folder.iterdir()) == ["Top.txt", "docs", "empty"]


def test_a_read_only_folder_is_read_and_not_written(tmp_path: Path) -> None:
    yard = make_yard(tmp_path, FILES)
    notes = make_yard(tmp_path / "second", {"note.txt": "n"})
    grants = [FolderGrant(path=yard.folder), FolderGrant(path=notes.folder, rights="read")]
    stage = Stage(grants, yard.blobs)
    there = notes.folder.as_posix()
    assert stage.read_bytes(f"{there}/note.txt") == b"n"
    stage.copy_file(f"{there}/note.txt", "note.txt", metadata=False)
    for call in (
        lambda: stage.write_bytes(f"{there}/note.txt", b""),
        lambda: stage.write_bytes(f"{there}/new.txt", b""),
        lambda: stage.unlink(f"{there}/note.txt"),
        lambda: stage.rename(f"{there}/note.txt", "n.txt"),
        lambda: stage.rename("top.txt", f"{there}/top.txt"),
        lambda: stage.mkdir(f"{there}/d", parents=True, exist_ok=False),
        lambda: stage.chmod(f"{there}/note.txt", 0o600),
    ):
        with pytest.raises(PermissionError, match="may only be read"):
            call()


def test_a_part_of_a_folder_can_be_for_reading_only(yard: Yard) -> None:
    grants = [
        FolderGrant(path=yard.folder),
        FolderGrant(path=yard.folder / "docs", rights="read"),
    ]
    stage = Stage(grants, yard.blobs)
    stage.write_bytes("top.txt", b"yes")
    with pytest.raises(PermissionError):
        stage.write_bytes("docs/a.txt", b"no")
    with pytest.raises(PermissionError):
        stage.rename("docs", "papers")


def test_read_only_files_and_folders_say_what_to_do(yard: Yard) -> None:
    (yard.folder / "top.txt").chmod(0o444)
    (yard.folder / "empty").chmod(0o555)
    with pytest.raises(PermissionError, match=r"os\.chmod"):
        yard.stage.write_bytes("top.txt", b"")
    with pytest.raises(PermissionError, match=r"os\.chmod"):
        yard.stage.write_bytes("empty/x", b"")
    yard.stage.chmod("top.txt", 0o644)
    yard.stage.write_bytes("top.txt", b"now")
    assert yard.stage.read_bytes("top.txt") == b"now"


def test_layers_drop_and_merge_one_by_one(yard: Yard) -> None:
    stage = yard.stage
    stage.write_bytes("kept.txt", b"1")
    stage.push()
    stage.append_bytes("kept.txt", b"2")
    stage.rename("docs", "moved")
    stage.push()
    stage.append_bytes("kept.txt", b"3")
    stage.rmtree("moved")
    stage.drop()
    assert stage.read_bytes("kept.txt") == b"12"
    assert stage.read_bytes("moved/a.txt") == b"alpha"
    stage.append_bytes("kept.txt", b"4")
    stage.merge()
    assert stage.read_bytes("kept.txt") == b"124"
    assert stage.listdir("moved") == ["a.txt", "deep"]


def test_forks_that_append_to_one_tail_do_not_mix(yard: Yard) -> None:
    yard.stage.append_bytes("log", b"start ")
    other = yard.stage.fork()
    yard.stage.append_bytes("log", b"one")
    other.append_bytes("log", b"two")
    assert yard.stage.read_bytes("log") == b"start one"
    assert other.read_bytes("log") == b"start two"


def test_twenty_thousand_files_are_walked_and_moved(tmp_path: Path) -> None:
    folder = tmp_path.resolve() / "many"
    for number in range(100):
        (folder / f"{number:03}").mkdir(parents=True)
        for inner in range(200):
            (folder / f"{number:03}/{inner:03}.txt").touch()
    stage = Stage([FolderGrant(path=folder)], BlobStore(tmp_path / "blobs"))
    files = [entry.path for entry in stage.scan(".", max_depth=None) if entry.is_file]
    assert len(files) == 20_000
    for path in files:
        stage.rename(path, f"flat/{path.replace('/', '-')}")
    assert len(stage.listdir("flat")) == 20_000
    assert len(stage.changes().changes) == 20_001
