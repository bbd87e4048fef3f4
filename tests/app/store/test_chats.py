"""Chats, turns, programs and effects survive a reopened store, exactly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.errors import AppError, NotFoundError
from app.store.chats import ChatStore, is_running, process_mark
from app.store.database import Tables, open_database
from app.store.journal import TurnJournal
from app.store.records import (
    CallGroup,
    ConflictRecord,
    Folder,
    Problem,
    ProgramRecord,
    Usage,
)
from sandbox.changeset import Base, Change, ChangeSet, Evidence
from sandbox.effects import Effect, Span
from sandbox.errors import Fault

FOLDER = Folder(path="/home/ann/Übung 会议", rights="read")


@pytest.fixture
def tables(tmp_path: Path) -> Iterator[Tables]:
    tables = open_database(tmp_path / "store.db")
    yield tables
    tables.close()


@pytest.fixture
def store(tables: Tables) -> ChatStore:
    return ChatStore(tables)


def test_a_turn_with_everything_reads_back_equal_after_reopening(tmp_path: Path) -> None:
    tables = open_database(tmp_path / "store.db")
    store = ChatStore(tables)
    chat = store.add_chat([FOLDER], "local:m", "Tidy")
    turn = store.add_turn(chat, "do it", "local:m")
    base = Base(kind="file", size_bytes=3, mtime_ns=5, mode=0o100644, inode=7, device=8)
    change = Change(
        id="c1",
        kind="move",
        path="/a/bad\udcff.txt",
        target="/a/b/ü\n.txt",
        size_before=3,
        size_after=3,
        base=base,
        evidence=(Evidence(program_id="p", line=2, call="Path.rename"),),
    )
    program = ProgramRecord(
        program_id="p",
        turn_id=turn.turn_id,
        index=1,
        source="print(1)",
        bridged="print(1)",
        notes=("line 1: x",),
        status="error",
        fault=Fault(type="KeyError", message="'a'", line=3, hint="Use another."),
        printed="1\n",
        value="2",
        wall_s=0.5,
        calls=(CallGroup(kind="read", folder=False, count=2, size_bytes=9, example="/a"),),
        file_calls=2,
    )
    store.save_program(program)
    turn = replace(
        turn,
        status="waiting",
        reply="```python\nprint(1)\n```",
        programs=(program,),
        answer="Done.",
        problem=Problem(message="m", hint="h", details="d", kind="model"),
        changes=ChangeSet(changes=(change,)),
        approved=("c1",),
        conflicts=(ConflictRecord(change_id="c1", path="/a", reason="changed"),),
        committed=True,
        usage=Usage(input_tokens=1, cached_tokens=2, output_tokens=3, model_s=0.5, money="0.01"),
        seconds=1.25,
    )
    store.save_turn(turn)
    tables.close()
    tables = open_database(tmp_path / "store.db")
    again = ChatStore(tables)
    assert again.turn(turn.turn_id) == turn
    view = again.view(chat.chat_id)
    assert view.turns == (turn,)
    assert view.chat.folders == (FOLDER,)
    assert view.chat.status == "waiting"
    tables.close()


def test_effects_keep_their_order_and_names_that_are_not_unicode(store: ChatStore) -> None:
    chat = store.add_chat([FOLDER], "m")
    turn = store.add_turn(chat, "x", "m")
    effects = [
        Effect(kind="read", path="/a/\udcff", size_bytes=3, call="open"),
        Effect(kind="move", path="/a", target="/b", span=Span(start=1, end=2, line=3)),
    ]
    store.add_effects(turn.turn_id, "p", effects[:1])
    store.add_effects(turn.turn_id, "p", effects[1:])
    assert store.effects(turn.turn_id) == effects


def test_text_with_lone_surrogates_is_stored_visibly(store: ChatStore) -> None:
    chat = store.add_chat([FOLDER], "m")
    turn = store.add_turn(chat, "x\udcff", "m")
    assert store.turn(turn.turn_id).request == "x\\udcff"


def test_chats_are_listed_latest_first_and_found_by_title_and_request(store: ChatStore) -> None:
    first = store.add_chat([], "m", "Sort 100% of it")
    second = store.add_chat([], "m", "Merge")
    store.add_turn(first, "by date_taken", "m")
    assert [chat.chat_id for chat in store.chats()] == [first.chat_id, second.chat_id]
    assert [chat.chat_id for chat in store.chats("100%")] == [first.chat_id]
    assert [chat.chat_id for chat in store.chats("date_taken")] == [first.chat_id]
    assert store.chats("dateXtaken") == []


def test_only_one_claim_of_a_turn_wins(store: ChatStore) -> None:
    chat = store.add_chat([], "m")
    turn = store.add_turn(chat, "x", "m")
    store.save_turn(replace(turn, status="waiting"))
    assert store.claim(turn.turn_id, ["waiting"], "committing")
    assert not store.claim(turn.turn_id, ["waiting"], "committing")


def test_turns_of_a_process_that_ended_are_unfinished_and_own_ones_are_not(
    store: ChatStore, tables: Tables
) -> None:
    chat = store.add_chat([], "m")
    mine = store.add_turn(chat, "x", "m")
    other = store.add_turn(chat, "y", "m")
    tables.update("turns", other.turn_id, {"owner": "999999999:1.00"})
    assert [turn.turn_id for turn in store.unfinished()] == [other.turn_id]
    assert mine.turn_id not in [turn.turn_id for turn in store.unfinished()]


def test_a_process_mark_is_running_only_with_its_start_time() -> None:
    mark = process_mark()
    assert is_running(mark)
    assert not is_running(mark + "1")
    assert not is_running("not a mark")


def test_deleting_a_chat_removes_all_that_belongs_to_it(store: ChatStore, tables: Tables) -> None:
    chat = store.add_chat([], "m")
    turn = store.add_turn(chat, "x", "m")
    store.add_effects(turn.turn_id, "p", [Effect(kind="read", path="/a")])
    TurnJournal(tables).add(turn.turn_id, "started")
    store.delete_chat(chat.chat_id)
    for table in ("turns", "programs", "effects", "journal"):
        assert tables.rows(f"SELECT COUNT(*) AS n FROM {table}") == [{"n": 0}]
    with pytest.raises(NotFoundError):
        store.turn(turn.turn_id)


def test_the_journal_keeps_steps_in_order_with_their_data(store: ChatStore, tables: Tables) -> None:
    chat = store.add_chat([], "m")
    turn = store.add_turn(chat, "x", "m")
    journal = TurnJournal(tables)
    journal.add(turn.turn_id, "started", model="m")
    journal.add(turn.turn_id, "review", changes=3)
    assert [(entry.step, entry.data) for entry in journal.entries(turn.turn_id)] == [
        ("started", {"model": "m"}),
        ("review", {"changes": 3}),
    ]


def test_a_file_that_is_no_database_is_named_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.write_bytes(b"this is not a database, it is a text " * 200)
    with pytest.raises(AppError, match=r"store\.db") as caught:
        open_database(path)
    assert "Move the file away" in caught.value.hint
    assert path.read_bytes().startswith(b"this is not")


def test_a_store_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    tables = open_database(tmp_path / "store.db")
    tables.execute("PRAGMA user_version=999")
    tables.close()
    with pytest.raises(AppError, match="newer Drydock"):
        open_database(tmp_path / "store.db")
