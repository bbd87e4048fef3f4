"""The window over a fake engine: what it asks for, what it shows, what it remembers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLabel, QLineEdit, QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from app.engine.events import FetchEnded, FetchProgressed, Notice, ReplyDelta, TurnChanged
from app.errors import AppError
from app.settings import Settings
from app.store.records import Folder
from tests.app.ui import samples
from tests.app.ui.conftest import OpenWindow, Stage
from tests.app.ui.fake_engine import FakeEngine, model


def texts(widget: QWidget) -> str:
    """All that can be read, one label a line."""
    QCoreApplication.sendPostedEvents()  # what was just added is shown through the queue
    return "\n".join(one.text() for one in widget.findChildren(QLabel) if one.isVisibleTo(widget))


def press(widget: QWidget, name: str) -> None:
    """Click the visible button of this accessible name."""
    QCoreApplication.sendPostedEvents()  # what was just added is shown through the queue
    found = [
        one
        for one in widget.findChildren(QAbstractButton)
        if one.accessibleName() == name and one.isVisibleTo(widget)
    ]
    assert found, f"no button is called {name}"
    found[0].click()


def with_chat(*turns: Any) -> Any:
    """Fills a fake engine with the sample chats, the first of which has `turns`."""

    def prepare(engine: FakeEngine) -> None:
        engine.stored = samples.chats()
        engine.turns = {"c1": list(turns)}

    return prepare


def open_first(stage: Stage, qtbot: QtBot) -> None:
    """Open the first chat."""
    session = stage.window._session
    with qtbot.waitSignal(session.chat_opened):
        session.open_chat("c1")


def test_an_empty_start_offers_folder_and_model(open_window: OpenWindow, qtbot: QtBot) -> None:
    def prepare(engine: FakeEngine) -> None:
        engine.catalog = [model(present=False)]

    stage = open_window(prepare=prepare)
    qtbot.waitUntil(lambda: "No model is on this machine yet" in texts(stage.window.empty))
    assert "Choose a folder, or drag one in" in texts(stage.window.empty)
    assert "No chats yet" in texts(stage.window.sidebar)
    press(stage.window.empty, "Download Qwen2.5-Coder 1.5B, 1.1 GB")
    qtbot.waitUntil(lambda: stage.asked("fetch") == [samples.MODEL])


def test_a_fetch_shows_its_progress_and_its_end(open_window: OpenWindow, qtbot: QtBot) -> None:
    def prepare(engine: FakeEngine) -> None:
        engine.catalog = [model(present=False)]

    stage = open_window(prepare=prepare)
    qtbot.waitUntil(lambda: "No model is on this machine yet" in texts(stage.window.empty))
    stage.engine.post(
        FetchProgressed(
            model_id=samples.MODEL,
            done_bytes=500_000_000,
            total_bytes=1_000_000_000,
            bytes_per_s=10_000_000.0,
            seconds_left=50.0,
            source="hub",
        )
    )
    expected = "500 MB of 1.0 GB, 10 MB per second, 50 s left"
    qtbot.waitUntil(lambda: expected in texts(stage.window.empty))
    press(stage.window.empty, "Cancel download")
    qtbot.waitUntil(lambda: stage.asked("cancel_fetch") == [samples.MODEL])
    stage.engine.catalog = [model()]
    stage.engine.post(FetchEnded(model_id=samples.MODEL))
    qtbot.waitUntil(lambda: "runs on this machine" in texts(stage.window.empty))


def test_a_failed_fetch_says_what_to_do_and_can_be_repeated(
    open_window: OpenWindow, qtbot: QtBot
) -> None:
    def prepare(engine: FakeEngine) -> None:
        engine.catalog = [model(present=False)]

    stage = open_window(prepare=prepare)
    qtbot.waitUntil(lambda: "No model is on this machine yet" in texts(stage.window.empty))
    stage.engine.post(
        FetchEnded(model_id=samples.MODEL, problem="No source answered.", hint="Check the network.")
    )
    wanted = "No source answered. Check the network."
    qtbot.waitUntil(lambda: wanted in texts(stage.window.empty))
    press(stage.window.empty, "Download Qwen2.5-Coder 1.5B, 1.1 GB")


def test_the_first_request_makes_a_chat_with_the_chosen_folders(
    open_window: OpenWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    stage = open_window()
    stage.window._session.add_folder(str(tmp_path))
    stage.window.composer.set_text("Sort it")
    stage.window.composer.send()
    qtbot.waitUntil(lambda: stage.asked("send") == ["Sort it"])
    assert stage.asked("new_chat") == [((Folder(path=str(tmp_path)),), "")]
    qtbot.waitUntil(lambda: "Sort it" in texts(stage.window.transcript))
    press(stage.window.composer, "Stop")
    qtbot.waitUntil(lambda: stage.asked("stop") == ["t1"])


def test_a_request_that_is_refused_is_not_lost(open_window: OpenWindow, qtbot: QtBot) -> None:
    def prepare(engine: FakeEngine) -> None:
        engine.refuse = AppError("That folder is gone.", hint="Choose another.")

    stage = open_window(prepare=prepare)
    stage.window.composer.set_text("Sort it")
    stage.window.composer.send()
    qtbot.waitUntil(lambda: stage.window.notice.isVisible())
    assert stage.window.notice.text() == "That folder is gone. Choose another."
    assert stage.window.composer.text() == "Sort it"


def test_chats_are_listed_by_day_and_searched(open_window: OpenWindow, qtbot: QtBot) -> None:
    stage = open_window(prepare=with_chat())
    listed = stage.window.sidebar.model
    qtbot.waitUntil(lambda: len(listed.chats()) == 6)
    rows = [listed.index(row, 0).data() for row in range(listed.rowCount())]
    assert rows[0] == "Today"
    assert "Yesterday" in rows
    stage.window.sidebar.search.setText("photos")
    qtbot.waitUntil(lambda: [chat.chat_id for chat in listed.chats()] == ["c3"])
    stage.window.sidebar.search.setText("nothing like it")
    qtbot.waitUntil(lambda: "No chat matches." in texts(stage.window.sidebar))


def test_opening_a_chat_shows_turns_folders_and_rights(
    open_window: OpenWindow, qtbot: QtBot
) -> None:
    stage = open_window(prepare=with_chat(samples.turn("done")))
    open_first(stage, qtbot)
    assert "Moved 41 files into 3 folders" in texts(stage.window.transcript)
    press(stage.window.sidebar, "Rights of Invoices: read")
    wanted = (samples.FOLDERS[0], Folder(path="/home/ada/Invoices", rights="write"))
    qtbot.waitUntil(lambda: stage.asked("set_folders") == [wanted])
    qtbot.waitUntil(lambda: stage.window._session.folders == wanted)
    press(stage.window.sidebar, "Remove Downloads from this chat")
    qtbot.waitUntil(lambda: stage.asked("set_folders")[-1] == wanted[1:])


def test_only_the_open_chat_takes_events(open_window: OpenWindow, qtbot: QtBot) -> None:
    stage = open_window(prepare=with_chat(samples.turn("writing")))
    open_first(stage, qtbot)
    stage.engine.post(
        ReplyDelta(chat_id="c2", turn_id="t1", text="other"),
        TurnChanged(turn=samples.turn("failed", "t9", chat_id="c2")),
        ReplyDelta(chat_id="c1", turn_id="t1", text="mine"),
    )
    view = stage.window.transcript.view_of("t1")
    assert view is not None
    qtbot.waitUntil(lambda: view.live_text() == "mine")
    assert stage.window.transcript.view_of("t9") is None


def test_review_uncheck_approve_and_undo(open_window: OpenWindow, qtbot: QtBot) -> None:
    stage = open_window(prepare=with_chat(samples.turn("waiting")))
    open_first(stage, qtbot)
    press(stage.window.transcript, "Review 46 changes")
    dialog = stage.window.dialogs.review
    assert dialog is not None
    qtbot.waitUntil(lambda: "+oat milk" in dialog.preview.text())
    dialog.model.setData(
        dialog.model.first_change(),
        Qt.CheckState.Unchecked.value,
        Qt.ItemDataRole.CheckStateRole,
    )
    dialog.approve_button.click()
    qtbot.waitUntil(lambda: bool(stage.asked("decide")))
    everything = {change.id for change in samples.changes().changes}
    assert stage.asked("decide") == [frozenset(everything - {"c0"})]
    qtbot.waitUntil(lambda: "45 changes on disk." in texts(stage.window.transcript))
    assert stage.window.dialogs.review is None
    press(stage.window.transcript, "Undo these 45 changes")
    qtbot.waitUntil(lambda: stage.asked("undo") == ["t1"])


def test_an_undone_turn_can_be_made_again_from_transcript_and_palette(
    open_window: OpenWindow, qtbot: QtBot
) -> None:
    stage = open_window(prepare=with_chat(samples.turn("undone")))
    open_first(stage, qtbot)
    redo = next(one for one in stage.window.actions_list.all() if one.text().startswith("Redo"))
    assert redo.isEnabled()
    assert not redo.shortcut().isEmpty()
    press(stage.window.transcript, "Redo these 46 changes")
    qtbot.waitUntil(lambda: stage.asked("redo") == ["t1"])
    qtbot.waitUntil(lambda: "46 changes on disk." in texts(stage.window.transcript))
    assert not redo.isEnabled()


def test_a_conflict_is_asked_about_in_the_review_and_its_choice_is_carried(
    open_window: OpenWindow, qtbot: QtBot
) -> None:
    def prepare(engine: FakeEngine) -> None:
        with_chat(samples.turn("waiting"))(engine)
        engine.conflicting = samples.conflicts()[:1]

    stage = open_window(prepare=prepare)
    open_first(stage, qtbot)
    press(stage.window.transcript, "Review 46 changes")
    dialog = stage.window.dialogs.review
    assert dialog is not None
    qtbot.waitUntil(dialog.conflicts.isVisible)
    box = dialog.conflicts.box_of("c0")
    box.setCurrentIndex(box.findText("Take ours"))
    box.activated.emit(box.currentIndex())
    dialog.approve_button.click()
    qtbot.waitUntil(lambda: stage.asked("choices") == [{"c0": "ours"}])
    qtbot.waitUntil(lambda: stage.window.dialogs.review is None)


def test_a_conflict_that_comes_up_while_approving_keeps_the_review_open(
    open_window: OpenWindow, qtbot: QtBot
) -> None:
    stage = open_window(prepare=with_chat(samples.turn("waiting")))
    open_first(stage, qtbot)
    press(stage.window.transcript, "Review 46 changes")
    dialog = stage.window.dialogs.review
    assert dialog is not None
    qtbot.waitUntil(lambda: bool(stage.asked("conflicts")))
    stage.engine.conflicting = samples.conflicts()[:1]
    dialog.approve_button.click()
    qtbot.waitUntil(dialog.conflicts.isVisible)
    assert stage.window.dialogs.review is dialog
    assert "1 change no longer fits what is on disk. Nothing" in texts(stage.window.transcript)


def test_a_decision_that_is_refused_closes_the_review_and_says_why(
    open_window: OpenWindow, qtbot: QtBot
) -> None:
    stage = open_window(prepare=with_chat(samples.turn("waiting")))
    open_first(stage, qtbot)
    press(stage.window.transcript, "Review 46 changes")
    dialog = stage.window.dialogs.review
    assert dialog is not None
    stage.engine.refuse = AppError("There is nothing to decide: this run is stopped.")
    dialog.approve_button.click()
    qtbot.waitUntil(lambda: stage.window.notice.isVisible())
    assert "There is nothing to decide" in stage.window.notice.text()
    assert stage.window.dialogs.review is None


def test_rejecting_says_so_and_applies_nothing(open_window: OpenWindow, qtbot: QtBot) -> None:
    stage = open_window(prepare=with_chat(samples.turn("waiting")))
    open_first(stage, qtbot)
    press(stage.window.transcript, "Review 46 changes")
    assert stage.window.dialogs.review is not None
    stage.window.dialogs.review.reject_button.click()
    qtbot.waitUntil(lambda: stage.asked("decide") == [None])
    qtbot.waitUntil(lambda: "rejected, nothing changed" in texts(stage.window.transcript))


def test_a_review_closes_when_its_turn_no_longer_waits(
    open_window: OpenWindow, qtbot: QtBot
) -> None:
    stage = open_window(prepare=with_chat(samples.turn("waiting")))
    open_first(stage, qtbot)
    press(stage.window.transcript, "Review 46 changes")
    stage.engine.post(TurnChanged(turn=samples.turn("stopped")))
    qtbot.waitUntil(lambda: stage.window.dialogs.review is None)
    assert stage.asked("decide") == []


def test_an_interrupted_turn_can_be_continued(open_window: OpenWindow, qtbot: QtBot) -> None:
    stage = open_window(prepare=with_chat(samples.turn("interrupted")))
    open_first(stage, qtbot)
    press(stage.window.transcript, "Continue")
    qtbot.waitUntil(lambda: stage.asked("resume") == ["t1"])


def test_escape_stops_a_running_turn(open_window: OpenWindow, qtbot: QtBot) -> None:
    stage = open_window(prepare=with_chat(samples.turn("running")))
    open_first(stage, qtbot)
    stage.window.activateWindow()
    qtbot.keyClick(stage.window, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: stage.asked("stop") == ["t1"])
    qtbot.waitUntil(lambda: "stopped" in texts(stage.window.transcript))


def test_the_palette_lists_every_action_and_runs_the_chosen(
    open_window: OpenWindow, qtbot: QtBot
) -> None:
    stage = open_window(prepare=with_chat(samples.turn("waiting")))
    open_first(stage, qtbot)
    qtbot.keyClick(stage.window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    palette = stage.window.dialogs.palette
    assert palette is not None
    usable = [one.text() for one in stage.window.actions_list.all() if one.isEnabled()]
    assert palette.shown() == usable
    assert "Stop" not in usable
    qtbot.keyClicks(palette.query, "review")
    assert palette.shown() == ["Review changes"]
    qtbot.keyClick(palette.query, Qt.Key.Key_Return)
    assert stage.window.dialogs.palette is None
    assert stage.window.dialogs.review is not None


def test_a_dropped_folder_is_added_and_a_dropped_file_is_named(
    open_window: OpenWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    stage = open_window()
    file = tmp_path / "a.txt"
    file.write_text("x")
    folder = tmp_path / "in"
    folder.mkdir()
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(folder)), QUrl.fromLocalFile(str(file))])
    stage.window.dropEvent(
        QDropEvent(
            QPointF(QPoint(5, 5)),
            Qt.DropAction.CopyAction,
            data,
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
        )
    )
    assert stage.window._session.folders == (Folder(path=str(folder)),)
    assert stage.window.composer.text() == f"{file} "


def test_a_deleted_chat_is_asked_about_first(open_window: OpenWindow, qtbot: QtBot) -> None:
    stage = open_window(prepare=with_chat(samples.turn("done")))
    open_first(stage, qtbot)
    stage.window._delete_this()
    box = stage.window.findChild(QMessageBox)
    assert box is not None
    default = box.defaultButton()
    assert isinstance(default, QAbstractButton)
    assert default.text() == "Keep chat"
    next(one for one in box.buttons() if one.text() == "Delete chat").click()
    qtbot.waitUntil(lambda: len(stage.engine.stored) == 5)
    qtbot.waitUntil(lambda: stage.window._session.chat is None)


def test_settings_are_saved_and_the_theme_is_in_force(
    open_window: OpenWindow, qtbot: QtBot
) -> None:
    stage = open_window()
    qtbot.waitUntil(lambda: stage.window._session.settings is not None)
    stage.window.dialogs.show_settings()
    dialog = stage.window.dialogs.settings
    assert dialog is not None
    dialog.theme.setCurrentIndex(dialog.theme.findData("dark"))
    press(dialog, "Save settings")
    qtbot.waitUntil(lambda: bool(stage.asked("settings")))
    assert stage.asked("settings") == [Settings(theme="dark")]
    qtbot.waitUntil(lambda: stage.window._theme.choice == "dark")


def test_a_notice_is_shown_until_it_is_closed(open_window: OpenWindow, qtbot: QtBot) -> None:
    stage = open_window()
    stage.engine.post(Notice(severity="caution", message="The disk is almost full."))
    qtbot.waitUntil(lambda: stage.window.notice.text() == "The disk is almost full.")
    press(stage.window.notice, "Close the notice")
    assert not stage.window.notice.isVisible()


def test_the_badges_explain_themselves(open_window: OpenWindow, qtbot: QtBot) -> None:
    stage = open_window()
    press(stage.window.header, "Where code runs: sandbox, no shell")
    assert "no shell and no network" in stage.window.notice.text()
    press(stage.window.header, "Where requests go: local")
    assert "Nothing of this chat leaves it" in stage.window.notice.text()


def test_size_panels_chat_and_unsent_text_come_back(open_window: OpenWindow, qtbot: QtBot) -> None:
    first = open_window(prepare=with_chat(samples.turn("done")))
    open_first(first, qtbot)
    first.window.resize(720, 600)
    first.window._toggle_sidebar()
    first.window.composer.set_text("half a thought")
    first.close()
    second = open_window(prepare=with_chat(samples.turn("done")))
    qtbot.waitUntil(lambda: second.window._session.chat is not None)
    assert second.window._session.chat.chat_id == "c1"
    assert second.window.size().width() == 720
    assert not second.window.sidebar.isVisible()
    assert second.window.composer.text() == "half a thought"


def test_a_remembered_chat_that_is_gone_opens_a_new_one(
    open_window: OpenWindow, qtbot: QtBot
) -> None:
    first = open_window(prepare=with_chat(samples.turn("done")))
    open_first(first, qtbot)
    first.close()
    second = open_window()
    assert second.window._session.chat is None
    assert not second.window.notice.isVisible()


def test_a_narrow_window_hides_the_panel_and_brings_it_back(open_window: OpenWindow) -> None:
    window = open_window().window
    window.resize(1280, 800)
    assert window.panel.isVisible()
    window.resize(900, 600)
    assert not window.panel.isVisible()
    window.resize(1280, 800)
    assert window.panel.isVisible()


def test_every_control_has_a_name_for_a_screen_reader(
    open_window: OpenWindow, qtbot: QtBot
) -> None:
    stage = open_window(prepare=with_chat(samples.turn("waiting"), samples.turn("failed", "t2")))
    open_first(stage, qtbot)
    kinds = (QAbstractButton, QComboBox, QLineEdit)
    nameless = [
        one
        for kind in kinds
        for one in stage.window.findChildren(kind)
        if one.focusPolicy() != Qt.FocusPolicy.NoFocus
        and one.isVisibleTo(stage.window)
        and not (one.accessibleName() or getattr(one, "text", str)())
    ]
    assert nameless == []


@pytest.mark.parametrize("status", ["writing", "checking", "running", "committing"])
def test_stop_is_offered_in_every_live_state(
    open_window: OpenWindow, qtbot: QtBot, status: Any
) -> None:
    stage = open_window(prepare=with_chat(samples.turn("writing")))
    open_first(stage, qtbot)
    turn = replace(samples.turn("writing"), status=status)
    stage.engine.post(TurnChanged(turn=turn))
    qtbot.waitUntil(lambda: stage.window.composer._running)
    stage.engine.post(TurnChanged(turn=samples.turn("done")))
    qtbot.waitUntil(lambda: not stage.window.composer._running)


def test_a_model_that_is_here_stands_in_for_a_default_that_is_not(
    open_window: OpenWindow, qtbot: QtBot
) -> None:
    def prepare(engine: FakeEngine) -> None:
        small = model("Small", model_id="local:small", default=False)
        engine.catalog = [model(present=False), small]

    stage = open_window(prepare=prepare)
    assert stage.window.composer.model_id() == "local:small"
    stage.window.composer.set_text("Sort it")
    stage.window.composer.send()
    qtbot.waitUntil(lambda: stage.asked("new_chat") == [((), "local:small")])


def test_the_keyboards_place_stays_when_rights_are_switched(
    open_window: OpenWindow, qtbot: QtBot
) -> None:
    stage = open_window(prepare=with_chat(samples.turn("done")))
    open_first(stage, qtbot)
    stage.window.activateWindow()
    QCoreApplication.sendPostedEvents()
    name = "Rights of Invoices: read"
    rights = next(
        one
        for one in stage.window.sidebar.findChildren(QAbstractButton)
        if one.accessibleName() == name
    )
    rights.setFocus()
    qtbot.keyClick(rights, Qt.Key.Key_Space)

    def moved() -> None:
        focused = stage.window.focusWidget()
        assert focused is not None
        assert focused.accessibleName() == "Rights of Invoices: read and write"

    qtbot.waitUntil(moved)
