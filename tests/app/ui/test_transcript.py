"""Turns on the screen: live pieces, states, what can be pressed, and many turns."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.engine.events import CallsProgress, ReplyDelta
from app.store.records import CallGroup, ConflictRecord, TurnRecord
from app.ui.transcript import Transcript
from app.ui.transcript_model import PAGE_TURNS
from app.ui.turn_view import TurnView
from app.ui.widgets import CUT_LINES, CutText
from tests.app.ui import samples


@pytest.fixture
def transcript(qtbot: QtBot) -> Transcript:
    """A transcript on the screen."""
    made = Transcript()
    qtbot.addWidget(made)
    made.resize(700, 500)
    made.show()
    return made


def view(transcript: Transcript, turn: TurnRecord) -> TurnView:
    """Show one turn."""
    transcript.show_chat([turn], samples.FOLDERS)
    found = transcript.view_of(turn.turn_id)
    assert found is not None
    return found


def texts(widget: QWidget) -> list[str]:
    """All that can be read."""
    return [one.text() for one in widget.findChildren(QLabel) if one.isVisibleTo(widget)]


def button(widget: QWidget, name: str) -> QPushButton:
    """A button by its accessible name."""
    return next(b for b in widget.findChildren(QPushButton) if b.accessibleName() == name)


def piece(text: str) -> ReplyDelta:
    """A streamed piece."""
    return ReplyDelta(chat_id="c1", turn_id="t1", text=text)


def test_a_reply_is_shown_as_it_streams(transcript: Transcript) -> None:
    shown = view(transcript, samples.turn("writing"))
    for part in ("I so", "rt.\n``", "`python\nx =", " 1\n"):
        transcript.append_reply(piece(part))
    assert shown.live_text() == "I sort.x = 1"


def test_a_chat_opened_in_mid_reply_shows_what_was_written(transcript: Transcript) -> None:
    shown = view(transcript, samples.turn("writing", reply="I will"))
    transcript.append_reply(piece(" sort."))
    assert shown.live_text() == "I will sort."


def test_a_second_try_starts_with_an_empty_reply(transcript: Transcript) -> None:
    shown = view(transcript, samples.turn("writing"))
    transcript.append_reply(piece("first"))
    transcript.put(samples.turn("checking", reply="first"))
    transcript.put(samples.turn("writing"))
    transcript.append_reply(piece("second"))
    assert shown.live_text() == "second"


def test_a_program_is_open_while_it_runs_and_folds_when_it_succeeded(
    transcript: Transcript,
) -> None:
    shown = view(transcript, samples.turn("running"))
    card = shown.program_views()[0]
    assert card.is_open
    transcript.put(samples.turn("waiting"))
    assert not card.is_open
    assert shown.program_views() == [card]
    transcript.put(samples.turn("failed"))
    assert card.is_open


def test_a_fold_that_a_person_chose_stays(transcript: Transcript) -> None:
    card = view(transcript, samples.turn("running")).program_views()[0]
    card.toggle()
    transcript.put(samples.turn("running", seconds=3.0))
    assert not card.is_open


def test_calls_appear_while_the_program_runs(transcript: Transcript) -> None:
    shown = view(transcript, samples.turn("running"))
    group = CallGroup(kind="read", folder=False, count=7, size_bytes=0, example="/x")
    transcript.update_calls(
        CallsProgress(chat_id="c1", turn_id="t1", program_id="t1-p1", calls=(group,))
    )
    assert "read 7 files" in texts(shown)


def test_a_failed_program_says_where_and_what_to_do(transcript: Transcript) -> None:
    found = texts(view(transcript, samples.turn("failed")))
    assert any(text.startswith("FileNotFoundError in line 9: No such file") for text in found)
    assert "List the folder first; the names are in it." in found
    assert "The program failed three times." in found


@pytest.mark.parametrize(
    ("status", "name", "signal"),
    [
        ("waiting", "Review 46 changes", "review_wanted"),
        ("done", "Undo these 46 changes", "undo_wanted"),
        ("undone", "Redo these 46 changes", "redo_wanted"),
        ("interrupted", "Continue", "resume_wanted"),
    ],
)
def test_each_state_offers_its_next_step(
    transcript: Transcript, qtbot: QtBot, status: str, name: str, signal: str
) -> None:
    shown = view(transcript, samples.turn(status))  # type: ignore[arg-type]
    with qtbot.waitSignal(getattr(transcript, signal)) as wanted:
        button(shown, name).click()
    assert wanted.args == ["t1"]


@pytest.mark.parametrize("status", ["rejected", "stopped", "undone", "failed", "running"])
def test_other_states_offer_neither_review_nor_undo(transcript: Transcript, status: str) -> None:
    shown = view(transcript, samples.turn(status, changes=samples.changes()))  # type: ignore[arg-type]
    names = " ".join(b.accessibleName() for b in shown.findChildren(QPushButton))
    assert "Undo" not in names
    assert "Review" not in names


def test_what_could_not_be_applied_is_named(transcript: Transcript) -> None:
    conflict = ConflictRecord(
        change_id="m1", path=f"{samples.ROOT}/a.pdf", reason="it was changed meanwhile"
    )
    found = texts(view(transcript, samples.turn("done", conflicts=(conflict,))))
    assert "Downloads/a.pdf: it was changed meanwhile" in found


@pytest.mark.parametrize(
    ("values", "said", "offered"),
    [
        ({}, "46 changes taken back. Nothing of this turn is on disk.", "Redo these 46 changes"),
        (
            {"conflicts": samples.conflicts()[:2], "committed": True},
            "44 changes taken back. 2 changes still on disk.",
            "Redo these 44 changes",
        ),
        (
            {"conflicts": samples.conflicts()[:1]},
            "1 change could not be made again.",
            "Redo these 46 changes",
        ),
    ],
)
def test_an_undone_turn_says_what_is_back_and_offers_the_rest_again(
    transcript: Transcript, values: dict[str, object], said: str, offered: str
) -> None:
    shown = view(transcript, samples.turn("undone", **values))
    assert said in texts(shown)
    assert button(shown, offered).isVisibleTo(shown)


def test_an_undone_turn_whose_changes_all_stayed_offers_no_redo(transcript: Transcript) -> None:
    turn = samples.turn(
        "undone", approved=("c0",), conflicts=samples.conflicts()[:1], committed=True
    )
    names = [b.accessibleName() for b in view(transcript, turn).findChildren(QPushButton)]
    assert not [name for name in names if "Redo" in name]


def test_what_a_redo_could_not_make_is_not_counted_as_on_disk(transcript: Transcript) -> None:
    shown = view(transcript, samples.turn("done", conflicts=samples.conflicts()[:2]))
    assert "44 changes on disk." in texts(shown)
    assert button(shown, "Undo these 44 changes").isVisibleTo(shown)


def test_a_turn_that_waits_with_conflicts_says_that_nothing_was_applied(
    transcript: Transcript,
) -> None:
    shown = view(transcript, samples.turn("waiting", conflicts=samples.conflicts()[:2]))
    assert "2 changes no longer fit what is on disk. Nothing was applied." in texts(shown)


def test_a_long_answer_is_cut_until_all_is_wanted(transcript: Transcript) -> None:
    answer = "\n".join(f"line {number}" for number in range(200))
    shown = view(transcript, samples.turn("done", answer=answer))
    cut = next(c for c in shown.findChildren(CutText) if c.text() == answer)
    label = cut.findChild(QLabel)
    assert label is not None
    assert label.text().count("\n") == CUT_LINES - 1
    button(cut, "Show all").click()
    assert label.text() == answer


def test_markup_in_a_reply_is_shown_not_read(transcript: Transcript) -> None:
    answer = "<img src='http://example.org/x.png'><b>bold</b>"
    shown = view(transcript, samples.turn("done", answer=answer))
    label = next(one for one in shown.findChildren(QLabel) if one.text() == answer)
    assert label.textFormat().name == "PlainText"


def test_older_turns_come_by_pages(transcript: Transcript) -> None:
    turns = [samples.turn(turn_id=f"t{number}") for number in range(PAGE_TURNS + 3)]
    transcript.show_chat(turns, samples.FOLDERS)
    assert transcript.view_of("t0") is None
    transcript.show_earlier()
    first, second = transcript.view_of("t0"), transcript.view_of("t1")
    assert first is not None
    assert second is not None


def test_a_chat_of_five_hundred_turns_makes_widgets_for_one_page(transcript: Transcript) -> None:
    turns = [samples.turn(turn_id=f"t{number}") for number in range(500)]
    transcript.show_chat(turns, samples.FOLDERS)
    shown = [turn.turn_id for turn in turns if transcript.view_of(turn.turn_id) is not None]
    assert shown == [turn.turn_id for turn in turns[-PAGE_TURNS:]]


def test_the_end_stays_in_view_while_text_streams(transcript: Transcript, qtbot: QtBot) -> None:
    turns = [samples.turn(turn_id=f"old{number}") for number in range(8)]
    transcript.show_chat([*turns, samples.turn("writing")], samples.FOLDERS)
    bar = transcript.verticalScrollBar()
    for _ in range(12):
        transcript.append_reply(piece("a line\n"))
    qtbot.waitUntil(lambda: bar.maximum() > 0 and bar.value() == bar.maximum())
