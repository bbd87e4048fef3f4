"""Turns that were at work when the app ended go on by themselves when it is started again."""

from __future__ import annotations

import asyncio
from pathlib import Path

from app.engine.engine import Engine
from app.engine.mailbox import Mailbox
from app.paths import Paths
from app.store.records import Folder
from tests.fakes import Script, ScriptedModels, program_reply
from tests.turns import engine_with, run

LIST = 'import os\nopen("seen.txt", "w").write(" ".join(sorted(os.listdir("."))))\nprint("Seen.")'


def test_a_turn_goes_on_when_the_app_is_started_again(drydock_home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "desk"
    folder.mkdir()
    (folder / "a.txt").write_text("a", encoding="utf-8")

    async def work() -> None:
        script = Script([program_reply(LIST)], hold=asyncio.Event())
        async with engine_with(drydock_home, ScriptedModels(script=script)) as engine:
            chat = await engine.new_chat([Folder(path=str(folder))])
            turn = await engine.send(chat.chat_id, "List the files")
            await script.begun.wait()
        models = ScriptedModels(program_reply(LIST))
        engine = Engine(Paths(home=drydock_home), Mailbox(), models=models)
        await engine.start()
        try:
            await models.script.begun.wait()
            turn = await engine.wait(turn.turn_id)
            assert (turn.status, turn.answer) == ("waiting", "Seen.")
            steps = [entry.step for entry in await engine.journal(turn.turn_id)]
            assert steps.count("resumed") == 1
        finally:
            await engine.close()

    run(work)


def test_the_command_line_leaves_it_to_the_person(drydock_home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "desk"
    folder.mkdir()

    async def work() -> None:
        script = Script([program_reply(LIST)], hold=asyncio.Event())
        async with engine_with(drydock_home, ScriptedModels(script=script)) as engine:
            chat = await engine.new_chat([Folder(path=str(folder))])
            turn = await engine.send(chat.chat_id, "List the files")
            await script.begun.wait()
        async with engine_with(drydock_home, ScriptedModels()) as engine:
            assert (await engine.wait(turn.turn_id)).status == "interrupted"

    run(work)
