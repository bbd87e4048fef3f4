"""What is shown of one change: texts, pictures and documents, before and after the decision."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from PIL import Image

from app.engine.previews import Preview, Previewer
from app.paths import Paths
from app.store.records import TurnRecord, TurnStatus
from sandbox.blobs import BlobStore
from sandbox.changeset import Change
from sandbox.commit import commit
from sandbox.stage import FolderGrant, Stage
from sandbox.undo import undo
from tests.sandbox.trees import build

TURN = "t1"


def picture(width: int, height: int, colour: str = "teal") -> bytes:
    made = io.BytesIO()
    Image.new("RGB", (width, height), colour).save(made, "PNG")
    return made.getvalue()


def document(*paragraphs: str) -> bytes:
    from docx import Document

    made = Document()
    for paragraph in paragraphs:
        made.add_paragraph(paragraph)
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


class Desk:
    """A staged folder, and its previews at each state of the turn."""

    def __init__(self, home: Path, previewer: Previewer, paths: Paths) -> None:
        self.folder = home / "granted"
        self.folder.mkdir()
        build(
            self.folder,
            {
                "a.txt": "one\n",
                "gone.txt": "gone\n",
                "p.png": picture(40, 20),
                "m.png": picture(30, 30),
                "d.docx": document("First.", "Second."),
                "x.bin": b"\0\1",
            },
        )
        self.blobs = BlobStore(paths.blobs / TURN)
        self.undo_folder = paths.undo / TURN
        self.stage = Stage([FolderGrant(path=self.folder)], self.blobs)
        self._previewer = previewer

    def previews(self, status: TurnStatus) -> dict[str, Preview]:
        turn = TurnRecord(
            turn_id=TURN,
            chat_id="c",
            request="",
            model_id="",
            status=status,
            started=datetime.now(UTC),
        )
        found = ((c, self._previewer.preview(turn, c)) for c in self.changes)
        return {Path(change.final_path).name: preview for change, preview in found}

    changes: tuple[Change, ...] = ()


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    paths = Paths(home=tmp_path / "home")
    paths.blobs.mkdir(parents=True)
    previewer = Previewer(paths)
    yield Desk(tmp_path.resolve(), previewer, paths)
    previewer.close()


def edit_all(stage: Stage) -> None:
    stage.write_bytes("a.txt", b"two\r\n")
    stage.unlink("gone.txt")
    stage.write_bytes("p.png", picture(20, 40, "navy"))
    stage.rename("m.png", "moved.png")
    stage.write_bytes("d.docx", document("First.", "Third."))
    stage.write_bytes("x.bin", b"\0\2")
    stage.mkdir("new")


def check(found: dict[str, Preview]) -> None:
    assert found["a.txt"].lines == ("@@ -1 +1 @@", "-one", "+two")
    assert found["a.txt"].note == "The line endings change: LF to CRLF."
    assert "-gone" in found["gone.txt"].lines
    before, after = found["p.png"].before, found["p.png"].after
    assert before is not None
    assert after is not None
    assert (before.width, before.height, after.width, after.height) == (40, 20, 20, 40)
    assert found["moved.png"].after is not None
    assert found["moved.png"].before is None
    assert {" First.", "-Second.", "+Third."} <= set(found["d.docx"].lines)
    assert found["x.bin"].kind == "binary"
    assert found["new"].kind == "folder"


@pytest.mark.parametrize("then", ["nothing", "committed", "undone"])
def test_each_kind_is_shown_while_it_waits_and_once_it_is_decided(desk: Desk, then: str) -> None:
    edit_all(desk.stage)
    changes = desk.stage.changes()
    desk.changes = changes.changes
    status: TurnStatus = "waiting"
    if then != "nothing":
        status = "done"
        commit(changes, blobs=desk.blobs, undo_folder=desk.undo_folder, grants=desk.stage.grants)
    if then == "undone":
        status = "undone"
        undo(desk.undo_folder)
    check(desk.previews(status))


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("p.png", b"not a picture", "text"),
        ("p.png", b"\0broken", "image"),
        ("d.docx", b"\0", "binary"),
    ],
)
def test_what_cannot_be_decoded_falls_back(desk: Desk, name: str, data: bytes, kind: str) -> None:
    write: Callable[[str, bytes], object] = desk.stage.write_bytes
    write(name, data)
    desk.changes = desk.stage.changes().changes
    assert desk.previews("waiting")[name].kind in (kind, "image")


def test_what_was_not_kept_says_so(desk: Desk) -> None:
    desk.stage.write_bytes("a.txt", b"two\n")
    desk.changes = desk.stage.changes().changes
    assert desk.previews("rejected")["a.txt"].note.startswith("Its content was not kept")
