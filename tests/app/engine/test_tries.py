"""What makes a turn try again: doubt, loops and the same program, with a scripted small model."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.store.records import TurnRecord
from tests.fakes import ScriptedModels, program_reply
from tests.turns import ask, engine_with, run

MOVE = """
from pathlib import Path
Path("pictures").mkdir()
for p in sorted(Path(".").glob("*.png")):
    p.rename(Path("pictures") / p.name)
print("Moved the pictures.")
"""
IDLE = """
from pathlib import Path
Path("pictures").mkdir(exist_ok=True)
for p in sorted(Path(".").iterdir()):
    if p.name == "picture":
        p.rename(Path("pictures") / p.name)
print("Moved 0 pictures.")
"""
LOOP = "```python\nexts = [" + '".png", ".jpg", ' * 80
REQUEST = "Move the pictures into a folder called pictures."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "desk"
    folder.mkdir()
    for name in ("a.png", "b.png"):
        (folder / name).write_text(name, encoding="utf-8")
    return folder


async def asked(home: Path, folder: Path, models: ScriptedModels, request: str) -> TurnRecord:
    async with engine_with(home, models) as engine:
        return await ask(engine, folder, request)


def outcomes(turn: TurnRecord) -> list[tuple[str, str]]:
    return [(item.status, item.fault.type if item.fault else "") for item in turn.programs]


def told(models: ScriptedModels) -> str:
    """The last thing that the model was told."""
    return models.script.seen[-1].messages[-1].content


def test_a_program_that_did_nothing_is_tried_again_and_leaves_no_trace(
    drydock_home: Path, folder: Path
) -> None:
    async def work() -> None:
        models = ScriptedModels(program_reply(IDLE), program_reply(MOVE))
        turn = await asked(drydock_home, folder, models, REQUEST)
        assert outcomes(turn) == [("error", "NothingDone"), ("ok", "")]
        assert turn.answer == "Moved the pictures."
        assert "made only empty folders" in told(models)

    run(work)


def test_the_last_program_that_ran_is_believed(drydock_home: Path, folder: Path) -> None:
    async def work() -> None:
        programs = [program_reply(f"# {number}\n{IDLE}") for number in range(3)]
        turn = await asked(drydock_home, folder, ScriptedModels(*programs), REQUEST)
        assert [status for status, _ in outcomes(turn)] == ["error", "error", "ok"]
        assert turn.answer == "Moved 0 pictures."

    run(work)


def test_work_is_kept_when_only_the_sentence_about_it_fails(
    drydock_home: Path, folder: Path
) -> None:
    async def work() -> None:
        source = MOVE.replace('print("Moved the pictures.")', "print(len(5))")
        turn = await asked(drydock_home, folder, ScriptedModels(program_reply(source)), REQUEST)
        assert outcomes(turn) == [("ok", "")]
        assert turn.changes is not None
        assert len(turn.changes.changes) == 3
        assert any("only the last print failed" in note for note in turn.programs[0].notes)

    run(work)


def test_a_reply_that_goes_round_in_circles_is_a_failed_try(
    drydock_home: Path, folder: Path
) -> None:
    async def work() -> None:
        models = ScriptedModels(LOOP, program_reply(MOVE))
        turn = await asked(drydock_home, folder, models, REQUEST)
        assert outcomes(turn) == [("error", "Repetition"), ("ok", "")]
        assert ".jpg" not in told(models), "its own loop would send it round again"

    run(work)


def test_the_same_program_is_not_run_again(drydock_home: Path, folder: Path) -> None:
    async def work() -> None:
        bad = program_reply('open("missing.png").read()')
        models = ScriptedModels(bad, bad, program_reply(MOVE))
        turn = await asked(drydock_home, folder, models, REQUEST)
        assert [status for status, _ in outcomes(turn)] == ["error", "error", "ok"]
        assert turn.programs[1].file_calls == 0
        assert "You wrote the same program again" in told(models)

    run(work)


def test_a_program_comes_back_for_correction_once_and_then_is_not_shown(
    drydock_home: Path, folder: Path
) -> None:
    async def work() -> None:
        bad = [program_reply(f'x = {n}\nopen("missing{n}.png").read()') for n in range(2)]
        models = ScriptedModels(*bad, program_reply(MOVE))
        turn = await asked(drydock_home, folder, models, REQUEST)
        assert turn.status == "waiting"
        second, third = (request.messages[-1].content for request in models.script.seen[1:])
        assert "```python\nx = 0" in second
        assert "x = 1\n" not in third
        assert 'in the line `open("missing1.png").read()`' in third

    run(work)
