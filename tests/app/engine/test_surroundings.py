"""Deleting a little in each of many turns adds up to what one turn would be asked about."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.engine.engine import Engine
from app.store.records import Folder, TurnRecord
from tests.fakes import ScriptedModels
from tests.turns import engine_with, run


async def deleted(engine: Engine, chat_id: str, first: int, count: int) -> TurnRecord:
    """A turn that deletes some of the numbered files, as it waits for the person."""
    names = [f"{number:03d}.txt" for number in range(first, first + count)]
    source = f"import os\nfor name in {names!r}:\n    os.remove(name)"
    turn = await engine.run_program(chat_id, source, "clean up")
    return await engine.wait(turn.turn_id)


async def approved(engine: Engine, turn: TurnRecord) -> None:
    """The person lets all of it through."""
    assert turn.changes is not None
    await engine.decide(turn.turn_id, approved=[change.id for change in turn.changes.changes])


def codes(turn: TurnRecord) -> set[str]:
    """What was named as unusual."""
    return {reason.code for reason in turn.reasons}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Four hundred numbered files."""
    for number in range(400):
        (tmp_path / f"{number:03d}.txt").write_text("text", encoding="utf-8")
    return tmp_path


def test_a_little_in_each_turn_is_summed_until_the_person_was_told(
    drydock_home: Path, folder: Path
) -> None:
    async def work() -> None:
        async with engine_with(drydock_home, ScriptedModels()) as engine:
            chat = await engine.new_chat([Folder(path=str(folder))])
            for turn_number in range(3):
                turn = await deleted(engine, chat.chat_id, turn_number * 15, 15)
                assert "bulk-loss" not in codes(turn)
                await approved(engine, turn)
            turn = await deleted(engine, chat.chat_id, 45, 15)
            assert "bulk-loss" in codes(turn)
            reason = next(one for one in turn.reasons if one.code == "bulk-loss")
            assert (reason.data["count"], reason.data["recent"]) == (15, 45)
            await approved(engine, turn)
            again = await deleted(engine, chat.chat_id, 60, 15)
            assert "bulk-loss" not in codes(again)

    run(work)


def test_what_was_undone_or_rejected_does_not_count(drydock_home: Path, folder: Path) -> None:
    async def work() -> None:
        async with engine_with(drydock_home, ScriptedModels()) as engine:
            chat = await engine.new_chat([Folder(path=str(folder))])
            for turn_number in range(4):
                turn = await deleted(engine, chat.chat_id, turn_number * 15, 15)
                assert "bulk-loss" not in codes(turn)
                if turn_number % 2:
                    await engine.decide(turn.turn_id, approved=None)
                else:
                    await approved(engine, turn)
                    await engine.undo(turn.turn_id)

    run(work)
