"""Standing grants in a real engine: they answer, they are recorded, they end."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.engine.engine import Engine
from app.errors import NotFoundError, UsageError
from app.store.records import Folder, TurnRecord
from tests.fakes import ScriptedModels
from tests.turns import engine_with, run

NEW = "open('new.txt', 'w').write('x')\n"
START = "open('.bashrc', 'w').write('x')\n"


async def _turn(engine: Engine, folder: Path, source: str) -> TurnRecord:
    chat = await engine.new_chat([Folder(path=str(folder))])
    turn = await engine.run_program(chat.chat_id, source, "program")
    return await engine.wait(turn.turn_id)


def test_a_standing_grant_answers_is_recorded_and_can_be_taken_back(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    (tmp_path / "home").mkdir()

    async def work() -> None:
        async with engine_with(tmp_path / "home", ScriptedModels()) as engine:
            made = await engine.add_grant("create:3,runs=2")
            turn = await _turn(engine, folder, NEW)
            assert turn.status == "done"
            assert (folder / "new.txt").exists()
            steps = [
                entry for entry in await engine.journal(turn.turn_id) if entry.step == "granted"
            ]
            assert steps[0].data["grants"] == "create:3,runs=2"
            assert (await engine.grants())[0].uses == 1
            await engine.revoke_grant(made.grant_id)
            assert await engine.grants() == []
            after = await _turn(engine, folder, NEW.replace("new", "newer"))
            assert after.status == "waiting"
            with pytest.raises(NotFoundError):
                await engine.revoke_grant(made.grant_id)

    run(work)


def test_a_grant_that_was_used_up_today_does_not_answer(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    (tmp_path / "home").mkdir()

    async def work() -> None:
        async with engine_with(tmp_path / "home", ScriptedModels()) as engine:
            await engine.add_grant("create:3,runs=1")
            assert (await _turn(engine, folder, NEW)).status == "done"
            assert (await _turn(engine, folder, NEW.replace("new", "b"))).status == "waiting"

    run(work)


def test_what_a_rule_names_is_kept_with_the_turn_and_never_covered(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    (tmp_path / "home").mkdir()

    async def work() -> None:
        async with engine_with(tmp_path / "home", ScriptedModels()) as engine:
            await engine.add_grant("create:3")
            turn = await _turn(engine, folder, START)
            assert turn.status == "waiting"
            stored = await engine.run_record(turn.turn_id)
            assert [reason.code for reason in stored.reasons] == ["starts-programs"]
            assert not (folder / ".bashrc").exists()

    run(work)


def test_a_grant_of_one_chat_counts_in_that_chat_alone(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    (tmp_path / "home").mkdir()

    async def work() -> None:
        async with engine_with(tmp_path / "home", ScriptedModels()) as engine:
            await engine.add_grant("create:3", "chat", "another")
            assert (await _turn(engine, folder, NEW)).status == "waiting"
            with pytest.raises(UsageError):
                await engine.add_grant("create:many")

    run(work)
