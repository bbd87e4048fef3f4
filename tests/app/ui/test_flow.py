"""The whole flow in the window: the real engine, sandbox and stage, and a model with a script."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.engine.mailbox import Mailbox
from app.paths import Paths
from app.store.records import TurnRecord
from tests.app.ui.conftest import OpenWindow, Stage
from tests.app.ui.test_main_window import press, texts
from tests.fakes import Script, ScriptedModels, program_reply

WAIT_MS = 60_000
SORT = """
from pathlib import Path
target = Path("pictures")
target.mkdir()
for path in sorted(Path(".").glob("*.png")):
    path.rename(target / path.name)
Path("list.txt").write_text("sorted")
print("Sorted the pictures.")
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two pictures and notes."""
    made = tmp_path / "Ordner"
    made.mkdir()
    for name in ("a.png", "b.png", "notes.txt"):
        (made / name).write_text(name)
    return made


def listing(folder: Path) -> list[str]:
    """All entries beneath a folder."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def maker(home: Path, script: Script) -> Any:
    """Makes the real engine over a scripted model."""

    def make(mailbox: Mailbox) -> Any:
        from app.engine.engine import Engine

        return Engine(Paths(home=home), mailbox, models=ScriptedModels(script=script))

    return make


def send(stage: Stage, folder: Path, text: str = "Put the pictures away") -> None:
    """Add the folder and send a request, as a person does."""
    stage.window._session.add_folder(str(folder))
    stage.window.composer.set_text(text)
    stage.window.composer.send()


def last(stage: Stage) -> TurnRecord | None:
    """The newest turn on the screen."""
    return stage.window.transcript.model.last


def wait_for(qtbot: QtBot, stage: Stage, status: str) -> None:
    """Wait until the newest turn is in a state."""

    def reached() -> None:
        turn = last(stage)
        assert turn is not None
        assert turn.status == status, turn.problem

    qtbot.waitUntil(reached, timeout=WAIT_MS)


def test_send_stream_review_uncheck_approve_and_undo(
    open_window: OpenWindow, qtbot: QtBot, drydock_home: Path, folder: Path
) -> None:
    before = listing(folder)
    stage = open_window(maker(drydock_home, Script([program_reply(SORT)])))
    send(stage, folder)
    wait_for(qtbot, stage, "waiting")
    assert listing(folder) == before
    assert "Nothing is on disk yet." in texts(stage.window.transcript)

    press(stage.window.transcript, "Review 4 changes")
    dialog = stage.window.dialogs.review
    assert dialog is not None
    model = dialog.model
    rows = [
        model.index(row, 0, model.index(group, 0))
        for group in range(model.rowCount())
        for row in range(model.rowCount(model.index(group, 0)))
    ]
    created = next(row for row in rows if str(row.data()).endswith("list.txt"))
    dialog.tree.setCurrentIndex(created)
    qtbot.waitUntil(lambda: "+sorted" in dialog.preview.text(), timeout=WAIT_MS)
    model.setData(created, Qt.CheckState.Unchecked.value, Qt.ItemDataRole.CheckStateRole)
    assert dialog.approve_button.text() == "Approve 3 changes"
    dialog.approve_button.click()

    wait_for(qtbot, stage, "done")
    assert listing(folder) == ["notes.txt", "pictures", "pictures/a.png", "pictures/b.png"]
    press(stage.window.transcript, "Undo these 3 changes")
    wait_for(qtbot, stage, "undone")
    assert listing(folder) == before
    press(stage.window.transcript, "Redo these 3 changes")
    wait_for(qtbot, stage, "done")
    assert listing(folder) == ["notes.txt", "pictures", "pictures/a.png", "pictures/b.png"]


def test_a_file_that_appeared_meanwhile_is_asked_about_and_both_are_kept(
    open_window: OpenWindow, qtbot: QtBot, drydock_home: Path, folder: Path
) -> None:
    stage = open_window(maker(drydock_home, Script([program_reply(SORT)])))
    send(stage, folder)
    wait_for(qtbot, stage, "waiting")
    press(stage.window.transcript, "Review 4 changes")
    dialog = stage.window.dialogs.review
    assert dialog is not None
    (folder / "list.txt").write_text("mine")
    dialog.approve_button.click()
    qtbot.waitUntil(dialog.conflicts.isVisible, timeout=WAIT_MS)
    assert "pictures" not in listing(folder)
    (change_id,) = dialog.conflicts.reasons()
    box = dialog.conflicts.box_of(change_id)
    box.setCurrentIndex(box.findText("Keep both names"))
    box.activated.emit(box.currentIndex())
    dialog.approve_button.click()
    wait_for(qtbot, stage, "done")
    assert (folder / "list.txt").read_text() == "mine"
    assert (folder / "list (2).txt").read_text() == "sorted"
    qtbot.waitUntil(lambda: stage.window.dialogs.review is None, timeout=WAIT_MS)


def test_rejecting_leaves_the_disk_alone(
    open_window: OpenWindow, qtbot: QtBot, drydock_home: Path, folder: Path
) -> None:
    before = listing(folder)
    stage = open_window(maker(drydock_home, Script([program_reply(SORT)])))
    send(stage, folder)
    wait_for(qtbot, stage, "waiting")
    press(stage.window.transcript, "Review 4 changes")
    assert stage.window.dialogs.review is not None
    stage.window.dialogs.review.reject_button.click()
    wait_for(qtbot, stage, "rejected")
    assert listing(folder) == before


def test_stop_in_mid_generation(
    open_window: OpenWindow, qtbot: QtBot, drydock_home: Path, folder: Path
) -> None:
    script = Script([program_reply(SORT)], piece_chars=40, hold=asyncio.Event())
    stage = open_window(maker(drydock_home, script))
    send(stage, folder)

    def streams() -> None:
        turn = last(stage)
        assert turn is not None
        view = stage.window.transcript.view_of(turn.turn_id)
        assert view is not None
        assert turn.status == "writing"
        assert "from pathlib import Path" in view.live_text(), "the first piece is on the screen"

    qtbot.waitUntil(streams, timeout=WAIT_MS)
    qtbot.waitUntil(lambda: bool(script.seen), timeout=WAIT_MS)
    press(stage.window.composer, "Stop")
    wait_for(qtbot, stage, "stopped")
    assert script.stopped == 1
    assert listing(folder) == ["a.png", "b.png", "notes.txt"]


def test_closing_with_a_run_in_progress_and_opening_again_goes_on_by_itself(
    open_window: OpenWindow, qtbot: QtBot, drydock_home: Path, folder: Path
) -> None:
    held = Script([program_reply(SORT)], hold=asyncio.Event())
    first = open_window(maker(drydock_home, held))
    send(first, folder)
    qtbot.waitUntil(lambda: bool(held.seen), timeout=WAIT_MS)
    first.close()
    second = open_window(maker(drydock_home, Script([program_reply(SORT)])))
    wait_for(qtbot, second, "waiting")
    assert listing(folder) == ["a.png", "b.png", "notes.txt"]


def test_closing_while_a_change_set_waits_keeps_it(
    open_window: OpenWindow, qtbot: QtBot, drydock_home: Path, folder: Path
) -> None:
    first = open_window(maker(drydock_home, Script([program_reply(SORT)])))
    send(first, folder)
    wait_for(qtbot, first, "waiting")
    first.close()
    second = open_window(maker(drydock_home, Script([])))
    wait_for(qtbot, second, "waiting")
    press(second.window.transcript, "Review 4 changes")
    assert second.window.dialogs.review is not None
    second.window.dialogs.review.approve_button.click()
    wait_for(qtbot, second, "done")
    assert "pictures/a.png" in listing(folder)


def test_a_folder_that_does_not_exist_is_said_and_the_request_is_kept(
    open_window: OpenWindow, qtbot: QtBot, drydock_home: Path, tmp_path: Path
) -> None:
    stage = open_window(maker(drydock_home, Script([])))
    send(stage, tmp_path / "gone")
    qtbot.waitUntil(lambda: stage.window.notice.isVisible(), timeout=WAIT_MS)
    assert "gone" in stage.window.notice.text()
    assert stage.window.composer.text() == "Put the pictures away"


def test_the_demo_brings_a_folder_of_its_own_and_a_task(
    open_window: OpenWindow, qtbot: QtBot, drydock_home: Path
) -> None:
    stage = open_window(make=maker(drydock_home, Script([])))
    press(stage.window.empty, "Or try it on a demo folder, a copy that is yours to keep")
    qtbot.waitUntil(lambda: bool(stage.window.composer.text()), timeout=WAIT_MS)
    (granted,) = stage.window._session.folders
    assert Path(granted.path).is_relative_to(drydock_home / "demo")
    assert "invoice_1043.txt" in listing(Path(granted.path))
    assert "Pictures" in stage.window.composer.text()
