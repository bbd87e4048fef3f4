"""The patch of a change set does what the commit does, when git or patch applies it."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox.kept import KeptContents
from sandbox.patch import patch_of
from sandbox.redo import redo
from sandbox.undo import undo
from tests.sandbox.trees import Yard, contents, make_yard

FILES: dict[str, bytes | str | None] = {
    "a.txt": "1\n2\n3\n",
    "gone.txt": "x\n",
    "pic": b"\0\1",
    "dos.txt": "a\r\nb\r\nc",
    "in/latin.txt": "h\u00f6he\n".encode("latin-1"),
    "long.txt": "".join(f"{n}\n" for n in range(200)),
    'tab\tand \u00fc "quote"': "odd\n",
}
TOOLS = [tool for tool in ("git", "patch") if shutil.which(tool)]


def changed(home: Path) -> Yard:
    yard = make_yard(home, FILES)
    stage = yard.stage
    stage.write_bytes("a.txt", b"1\nzwei\n3")
    stage.write_bytes("new/b.txt", b"b\n")
    stage.write_bytes("new/empty", b"")
    stage.write_bytes("new/run.sh", b"#!/bin/sh\n")
    stage.chmod("new/run.sh", 0o755)
    stage.unlink("gone.txt")
    stage.append_bytes("dos.txt", b"\r\nd\r\n")
    stage.write_bytes("in/latin.txt", b"t\xf6f\n")
    stage.rename("in/latin.txt", "moved.txt")
    lines = [f"{n}\n" for n in range(200)]
    lines[50] = "fifty\n"
    del lines[150]
    stage.write_bytes("long.txt", "".join(lines).encode())
    stage.append_bytes('tab\tand \u00fc "quote"', b"more\n")
    return yard


def apply(tool: str, patch: bytes, folder: Path) -> None:
    command = {"git": ["git", "apply", "-"], "patch": ["patch", "-p1", "-s", "--binary"]}[tool]
    done = subprocess.run(command, cwd=folder, input=patch, capture_output=True, check=False)
    assert done.returncode == 0, (done.stdout, done.stderr, patch)


def files_of(folder: Path) -> dict[str, bytes | str | None]:
    return {name: content for name, content in contents(folder).items() if content is not None}


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_makes_the_same_files_of_it(tmp_path: Path, tool: str) -> None:
    yard = changed(tmp_path)
    other = make_yard(tmp_path / "other", FILES)
    patch = patch_of(yard.stage.changes(), [str(yard.folder)], blobs=yard.blobs)
    apply(tool, patch, other.folder)
    yard.commit()
    assert files_of(other.folder) == files_of(yard.folder)
    assert (other.folder / "new/run.sh").stat().st_mode & 0o100


def test_it_is_the_same_while_the_turn_waits_and_once_it_is_decided(tmp_path: Path) -> None:
    yard = changed(tmp_path)
    changes = yard.stage.changes()
    roots = [str(yard.folder)]
    waiting = patch_of(changes, roots, blobs=yard.blobs)
    assert b"#" not in waiting.replace(b"+#!/bin/sh", b"")
    yard.commit(changes)
    assert patch_of(changes, roots, kept=KeptContents(yard.undo_folder)) == waiting
    undo(yard.undo_folder)
    assert patch_of(changes, roots, kept=KeptContents(yard.undo_folder)) == waiting
    redo(yard.undo_folder, grants=yard.stage.grants)
    assert patch_of(changes, roots, kept=KeptContents(yard.undo_folder)) == waiting


def test_what_was_edited_since_or_is_no_longer_kept_is_named(tmp_path: Path) -> None:
    yard = make_yard(tmp_path, {"one": "1\n", "two": "2\n"})
    yard.stage.write_bytes("one", b"ours\n")
    yard.stage.write_bytes("two", b"ours\n")
    changes = yard.stage.changes()
    yard.commit(changes)
    (yard.folder / "one").write_text("by hand\n")
    patch = patch_of(changes, [str(yard.folder)], kept=KeptContents(yard.undo_folder))
    assert b"# one: its content was not kept, or has changed since" in patch
    assert b"-2\n+ours\n" in patch
    shutil.rmtree(yard.undo_folder)
    patch = patch_of(changes, [str(yard.folder)], kept=KeptContents(yard.undo_folder))
    assert patch.count(b"# ") == 2


def test_a_binary_and_a_large_file_are_named_only(tmp_path: Path) -> None:
    yard = make_yard(tmp_path, {"pic": b"\0\1", "large": "x"})
    yard.stage.write_bytes("pic", b"\0\2")
    yard.stage.write_bytes("large", b"line\n" * 600_000)
    patch = patch_of(yard.stage.changes(), [str(yard.folder)], blobs=yard.blobs)
    assert b"Binary files a/pic and b/pic differ" in patch
    assert b"# large: too large to compare" in patch
    assert len(patch) < 1000


texts = st.lists(st.sampled_from([b"a", b"b", b"\r", b"\n", b"\n", b"\xe4"]), max_size=30).map(
    b"".join
)


@pytest.mark.skipif("git" not in TOOLS, reason="needs git")
@given(texts, texts)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_two_texts(before: bytes, after: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        yard = make_yard(Path(name), {"f": before})
        yard.stage.write_bytes("f", after)
        patch = patch_of(yard.stage.changes(), [str(yard.folder)], blobs=yard.blobs)
        if patch:
            apply("git", patch, yard.folder)
        assert (yard.folder / "f").read_bytes() == after
