"""Undo, redo, conflicts and how long undo is kept, through the real engine."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from app.engine.engine import Engine
from app.engine.events import Notice
from app.engine.mailbox import Mailbox
from app.errors import AppError
from app.paths import Paths
from app.store.chats import ChatStore
from app.store.database import open_database
from app.store.records import TurnRecord
from sandbox.blobs import BlobStore
from tests.app.engine.test_engine import MOVE, ask, engine_with, run, tree
from tests.fakes import ScriptedModels, program_reply

MAKE = """
from pathlib import Path
Path("made.txt").write_text("ours")
Path("notes.txt").write_text("ours too")
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "pictures and notes"
    folder.mkdir()
    for name in ("a.png", "b.png", "notes.txt"):
        (folder / name).write_text(f"content of {name}\n", encoding="utf-8")
    return folder


def test_an_undone_turn_can_be_done_again_and_undone_again(
    drydock_home: Path, folder: Path
) -> None:
    async def work() -> None:
        before = tree(folder)
        async with engine_with(drydock_home, ScriptedModels(program_reply(MOVE))) as engine:
            turn = await ask(engine, folder)
            with pytest.raises(AppError, match="nothing to do again"):
                await engine.redo(turn.turn_id)
            assert turn.changes is not None
            ids = [change.id for change in turn.changes.changes]
            await engine.decide(turn.turn_id, approved=ids)
            await engine.undo(turn.turn_id)
            turn = await engine.redo(turn.turn_id)
            assert (turn.status, turn.committed) == ("done", True)
            assert (folder / "pictures" / "a.png").exists()
            assert (await engine.undo_space()).runs == 1
            turn = await engine.undo(turn.turn_id)
            assert (turn.status, turn.committed) == ("undone", False)
            assert tree(folder) == before
            steps = [entry.step for entry in await engine.journal(turn.turn_id)]
            assert steps[-3:] == ["undone", "redone", "undone"]

    run(work)


def test_a_conflict_waits_for_a_choice_and_the_choice_is_made(
    drydock_home: Path, folder: Path
) -> None:
    async def work() -> None:
        async with engine_with(drydock_home, ScriptedModels(program_reply(MAKE))) as engine:
            turn = await ask(engine, folder)
            assert turn.changes is not None
            ids = [change.id for change in turn.changes.changes]
            assert await engine.conflicts(turn.turn_id) == ()
            (folder / "notes.txt").write_text("theirs")
            (conflict,) = await engine.conflicts(turn.turn_id)
            assert conflict.choices == ("theirs", "ours", "both")
            turn = await engine.decide(turn.turn_id, approved=ids, whole=True)
            assert (turn.status, turn.conflicts) == ("waiting", (conflict,))
            assert not (folder / "made.txt").exists()
            turn = await engine.decide(
                turn.turn_id, approved=ids, choices={conflict.change_id: "both"}, whole=True
            )
            assert (turn.status, turn.conflicts) == ("done", ())
            assert (folder / "notes.txt").read_text() == "theirs"
            assert (folder / "notes (2).txt").read_text() == "ours too"
            assert turn.changes is not None
            assert str(folder / "notes (2).txt") in {c.final_path for c in turn.changes.changes}
            await engine.undo(turn.turn_id)
            assert not (folder / "notes (2).txt").exists()
            assert (folder / "notes.txt").read_text() == "theirs"

    run(work)


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_a_crash_after_the_disk_was_changed_is_told_as_the_disk_has_it(
    drydock_home: Path, folder: Path, steps: int
) -> None:
    async def work() -> None:
        models = ScriptedModels(program_reply(MOVE))
        async with engine_with(drydock_home, models) as engine:
            turn = await ask(engine, folder)
            assert turn.changes is not None
            ids = [change.id for change in turn.changes.changes]
            former = await engine.run_record(turn.turn_id)
            for step in range(steps):
                former = await engine.run_record(turn.turn_id)
                match step:
                    case 0:
                        await engine.decide(turn.turn_id, approved=ids)
                    case 1:
                        await engine.undo(turn.turn_id)
                    case _:
                        await engine.redo(turn.turn_id)
            now = await engine.run_record(turn.turn_id)
        database = open_database(drydock_home / "store.db")
        ChatStore(database).save_turn(replace(former, status="committing"))
        database.execute("UPDATE turns SET owner = '1:0'", [])
        database.close()
        async with engine_with(drydock_home, models) as engine:
            found = await engine.run_record(turn.turn_id)
            assert (found.status, found.committed) == (now.status, now.committed)
            assert sorted(found.approved) == sorted(now.approved)

    run(work)


def test_undo_over_its_bounds_goes_with_a_notice_and_the_latest_stays(
    drydock_home: Path, folder: Path
) -> None:
    async def work() -> None:
        mailbox = Mailbox()
        engine = Engine(
            Paths(home=drydock_home),
            mailbox,
            models=ScriptedModels(program_reply(MOVE), program_reply(MAKE)),
        )
        await engine.start(in_background=False)
        turns: list[TurnRecord] = []
        for request in ("Put the pictures away", "Make a file"):
            turn = await ask(engine, folder, request)
            assert turn.changes is not None
            ids = [change.id for change in turn.changes.changes]
            turns.append(await engine.decide(turn.turn_id, approved=ids))
        old = drydock_home / "undo" / turns[0].turn_id
        for journal in old.glob("*.jsonl"):
            os.utime(journal, (0, 0))
        mailbox.drain()
        settings = await engine.settings()
        undo = settings.undo.model_copy(update={"keep_days": 1})
        await engine.change_settings(settings.model_copy(update={"undo": undo}))
        notices = [event for event in mailbox.drain() if isinstance(event, Notice)]
        assert [notice.message[:33] for notice in notices] == ["The undo of 1 older run was dropp"]
        assert not old.exists()
        with pytest.raises(AppError, match="older than undo is kept"):
            await engine.undo(turns[0].turn_id)
        assert (await engine.undo(turns[1].turn_id)).status == "undone"
        await engine.close()

    run(work)


def test_staged_content_is_durable_before_a_turn_waits(
    drydock_home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sealed: list[str] = []

    def full(self: BlobStore, digests: Iterable[str]) -> None:
        sealed.extend(digests)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    async def work() -> None:
        models = ScriptedModels(program_reply(MAKE))
        async with engine_with(drydock_home, models) as engine:
            monkeypatch.setattr(BlobStore, "seal", full)
            before = tree(folder)
            turn = await ask(engine, folder)
            assert len(sealed) == 2
            assert turn.status == "failed"
            assert turn.problem is not None
            assert "Free some space" in turn.problem.hint
            assert tree(folder) == before

    run(work)
