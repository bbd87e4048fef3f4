"""Whole turns through the real engine, sandbox and stage, with a scripted model."""

from __future__ import annotations

import asyncio
import errno
import os
from pathlib import Path

import pytest

from app.engine.engine import Engine
from app.engine.events import ReplyDelta, TurnChanged
from app.engine.mailbox import Mailbox
from app.errors import AppError
from app.paths import Paths
from app.store.records import Folder
from models.errors import ModelCrashedError, ModelError
from sandbox.transaction import FileSystem
from tests.fakes import Script, ScriptedModels, program_reply
from tests.turns import ask, engine_with, run

MOVE = """
from pathlib import Path
Path("pictures").mkdir()
for p in sorted(Path(".").glob("*.png")):
    p.rename(Path("pictures") / p.name)
print("Moved the pictures.")
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "Ordner mit Ü"
    folder.mkdir()
    for name in ("a.png", "b.png", "notes.txt"):
        (folder / name).write_text(f"content of {name}\n", encoding="utf-8")
    return folder


def tree(folder: Path) -> dict[str, tuple[str, int, int]]:
    """Every entry with its content, mode and modification time."""
    return {
        str(path.relative_to(folder)): (
            path.read_text(encoding="utf-8") if path.is_file() else "",
            path.stat().st_mode,
            path.stat().st_mtime_ns,
        )
        for path in sorted([folder, *folder.rglob("*")])
    }


async def reached(engine: Engine, turn_id: str, status: str) -> None:
    """Return when the turn is in this state."""
    while (await engine.run_record(turn_id)).status != status:  # noqa: ASYNC110  # polls the store
        await asyncio.sleep(0.01)


def test_nothing_is_on_the_disk_until_approved_and_undo_restores_it(
    drydock_home: Path, folder: Path
) -> None:
    async def work() -> None:
        before = tree(folder)
        async with engine_with(drydock_home, ScriptedModels(program_reply(MOVE))) as engine:
            turn = await ask(engine, folder)
            assert turn.status == "waiting"
            assert turn.answer == "Moved the pictures."
            assert turn.changes is not None
            assert sorted(change.kind for change in turn.changes.changes) == [
                "mkdir",
                "move",
                "move",
            ]
            assert tree(folder) == before
            ids = [change.id for change in turn.changes.changes]
            turn = await engine.decide(turn.turn_id, approved=ids)
            assert (turn.status, turn.committed) == ("done", True)
            assert (folder / "pictures" / "a.png").read_text("utf-8") == "content of a.png\n"
            assert not (folder / "a.png").exists()
            turn = await engine.undo(turn.turn_id)
            assert (turn.status, turn.committed) == ("undone", False)
            assert tree(folder) == before

    run(work)


def test_a_part_of_the_changes_can_be_approved(drydock_home: Path, folder: Path) -> None:
    async def work() -> None:
        async with engine_with(drydock_home, ScriptedModels(program_reply(MOVE))) as engine:
            turn = await ask(engine, folder)
            assert turn.changes is not None
            ids = [c.id for c in turn.changes.changes if not c.path.endswith("a.png")]
            turn = await engine.decide(turn.turn_id, approved=ids)
            assert turn.committed
            assert (folder / "a.png").exists()
            assert (folder / "pictures" / "b.png").exists()

    run(work)


def test_a_rejected_change_set_changes_nothing_and_cannot_be_decided_again(
    drydock_home: Path, folder: Path
) -> None:
    async def work() -> None:
        before = tree(folder)
        async with engine_with(drydock_home, ScriptedModels(program_reply(MOVE))) as engine:
            turn = await ask(engine, folder)
            turn = await engine.decide(turn.turn_id, approved=None)
            assert turn.status == "rejected"
            assert tree(folder) == before
            with pytest.raises(AppError, match="rejected"):
                await engine.decide(turn.turn_id, approved=None)
            with pytest.raises(AppError, match="nothing to undo"):
                await engine.undo(turn.turn_id)

    run(work)


def test_a_waiting_turn_can_be_decided_after_a_restart(drydock_home: Path, folder: Path) -> None:
    async def work() -> None:
        async with engine_with(drydock_home, ScriptedModels(program_reply(MOVE))) as engine:
            turn = await ask(engine, folder)
        async with engine_with(drydock_home, ScriptedModels()) as engine:
            turn = await engine.run_record(turn.turn_id)
            assert turn.status == "waiting"
            assert turn.changes is not None
            turn = await engine.decide(turn.turn_id, approved=[c.id for c in turn.changes.changes])
            assert turn.committed
            assert (folder / "pictures" / "a.png").exists()

    run(work)


def test_a_failed_program_leaves_no_trace_and_the_next_one_works(
    drydock_home: Path, folder: Path
) -> None:
    bad = 'from pathlib import Path\nPath("trace.txt").write_text("x")\nraise ValueError("no")\n'

    async def work() -> None:
        models = ScriptedModels(program_reply(bad), program_reply(MOVE))
        async with engine_with(drydock_home, models) as engine:
            turn = await ask(engine, folder)
            assert [program.status for program in turn.programs] == ["error", "ok"]
            assert turn.programs[0].fault is not None
            assert turn.programs[0].fault.line == 3
            assert turn.changes is not None
            assert not any("trace" in change.path for change in turn.changes.changes)
            told = models.script.seen[1].messages[-1].content
            assert 'ValueError: no, in the line `raise ValueError("no")`' in told

    run(work)


def test_three_failures_end_the_turn_with_an_honest_report(
    drydock_home: Path, folder: Path
) -> None:
    async def work() -> None:
        before = tree(folder)
        models = ScriptedModels(*[program_reply("x = 1 / 0")] * 3)
        async with engine_with(drydock_home, models) as engine:
            turn = await ask(engine, folder)
            assert turn.status == "failed"
            assert len(turn.programs) == 3
            assert turn.problem is not None
            assert "None of the 3 programs worked" in turn.problem.message
            assert "ZeroDivisionError" in turn.problem.details
            assert tree(folder) == before

    run(work)


def test_a_question_is_answered_without_a_review(drydock_home: Path, folder: Path) -> None:
    source = 'from pathlib import Path\nlen(list(Path(".").glob("*.png")))'

    async def work() -> None:
        async with engine_with(drydock_home, ScriptedModels(program_reply(source))) as engine:
            turn = await ask(engine, folder, "How many pictures are there?")
            assert (turn.status, turn.answer, turn.changes) == ("done", "2", None)

    run(work)


def test_a_reply_without_a_program_is_asked_for_one_once(drydock_home: Path, folder: Path) -> None:
    async def work() -> None:
        models = ScriptedModels("I would sort them.", program_reply(MOVE))
        async with engine_with(drydock_home, models) as engine:
            turn = await ask(engine, folder)
            assert turn.status == "waiting"
        models = ScriptedModels("Hello.", "Hello again.")
        async with engine_with(drydock_home, models) as engine:
            turn = await ask(engine, folder)
            assert (turn.status, turn.answer) == ("done", "Hello again.")

    run(work)


@pytest.mark.parametrize(
    "error",
    [
        ModelError("It is not here.", hint="Download it."),
        ModelCrashedError("The model's process was killed.", hint="Lower the context."),
    ],
)
def test_a_model_that_fails_is_reported_and_the_next_turn_works(
    drydock_home: Path, folder: Path, error: ModelError
) -> None:
    async def work() -> None:
        async with engine_with(
            drydock_home, ScriptedModels(error, program_reply("print(7)"))
        ) as engine:
            turn = await ask(engine, folder)
            assert turn.status == "failed"
            assert turn.problem is not None
            assert (turn.problem.message, turn.problem.hint) == (error.message, error.hint)
            assert turn.problem.kind == "model"
            again = await engine.send(turn.chat_id, "And now?")
            again = await engine.wait(again.turn_id)
            assert (again.status, again.answer) == ("done", "7")

    run(work)


def test_stop_ends_a_reply_in_the_middle(drydock_home: Path, folder: Path) -> None:
    async def work() -> None:
        script = Script([program_reply(MOVE)], hold=asyncio.Event())
        async with engine_with(drydock_home, ScriptedModels(script=script)) as engine:
            chat = await engine.new_chat([Folder(path=str(folder))])
            turn = await engine.send(chat.chat_id, "x")
            await script.begun.wait()
            await engine.stop(turn.turn_id)
            stopped = await engine.run_record(turn.turn_id)
            assert stopped.status == "stopped"
            assert program_reply(MOVE).startswith(stopped.reply)
            assert script.stopped == 1

    run(work)


def test_stop_ends_an_endless_program(drydock_home: Path, folder: Path) -> None:
    async def work() -> None:
        models = ScriptedModels(program_reply("while True:\n    pass"), program_reply("print(1)"))
        async with engine_with(drydock_home, models) as engine:
            chat = await engine.new_chat([Folder(path=str(folder))])
            turn = await engine.send(chat.chat_id, "x")
            await reached(engine, turn.turn_id, "running")
            await engine.stop(turn.turn_id)
            assert (await engine.run_record(turn.turn_id)).status == "stopped"
            again = await engine.wait((await engine.send(chat.chat_id, "y")).turn_id)
            assert (again.status, again.answer) == ("done", "1")

    run(work)


def test_a_turn_cut_off_by_closing_is_interrupted_and_goes_on(
    drydock_home: Path, folder: Path
) -> None:
    async def work() -> None:
        script = Script([program_reply(MOVE)], hold=asyncio.Event())
        async with engine_with(drydock_home, ScriptedModels(script=script)) as engine:
            chat = await engine.new_chat([Folder(path=str(folder))])
            turn = await engine.send(chat.chat_id, "Put the pictures away")
            await script.begun.wait()
        async with engine_with(drydock_home, ScriptedModels(program_reply(MOVE))) as engine:
            assert (await engine.run_record(turn.turn_id)).status == "interrupted"
            await engine.resume(turn.turn_id)
            turn = await engine.wait(turn.turn_id)
            assert turn.status == "waiting"
            assert turn.answer == "Moved the pictures."

    run(work)


def test_events_tell_the_whole_story_in_order(drydock_home: Path, folder: Path) -> None:
    async def work() -> None:
        mailbox = Mailbox()
        engine = Engine(
            Paths(home=drydock_home), mailbox, models=ScriptedModels(program_reply(MOVE))
        )
        await engine.start(in_background=False)
        try:
            await ask(engine, folder)
        finally:
            await engine.close()
        events = mailbox.drain()
        states = [event.turn.status for event in events if isinstance(event, TurnChanged)]
        order = list(dict.fromkeys(states))
        assert order == ["writing", "checking", "running", "waiting"]
        text = "".join(event.text for event in events if isinstance(event, ReplyDelta))
        assert text == program_reply(MOVE)

    run(work)


def test_a_chat_without_a_folder_says_what_to_do(drydock_home: Path) -> None:
    async def work() -> None:
        async with engine_with(drydock_home, ScriptedModels()) as engine:
            chat = await engine.new_chat()
            with pytest.raises(AppError, match="no folder") as caught:
                await engine.send(chat.chat_id, "x")
            assert "Add the folder" in caught.value.hint
            with pytest.raises(AppError, match="cannot be read"):
                await engine.set_folders(chat.chat_id, [Folder(path="/nowhere/at/all")])

    run(work)


def test_a_file_changed_after_the_review_is_not_overwritten(
    drydock_home: Path, folder: Path
) -> None:
    source = 'from pathlib import Path\nPath("notes.txt").write_text("ours")\n'

    async def work() -> None:
        async with engine_with(drydock_home, ScriptedModels(program_reply(source))) as engine:
            turn = await ask(engine, folder)
            assert turn.changes is not None
            (folder / "notes.txt").write_text("theirs, and longer", encoding="utf-8")
            turn = await engine.decide(turn.turn_id, approved=[c.id for c in turn.changes.changes])
            assert turn.status == "waiting"
            assert not turn.committed
            assert turn.conflicts[0].path.endswith("notes.txt")
            assert (folder / "notes.txt").read_text("utf-8") == "theirs, and longer"
            assert turn.changes is not None
            chosen = turn.changes.changes[0].id
            turn = await engine.decide(turn.turn_id, approved=[chosen], choices={chosen: "ours"})
            assert (turn.status, turn.committed) == ("done", True)
            assert (folder / "notes.txt").read_text("utf-8") == "ours"

    run(work)


def test_an_undo_that_could_put_nothing_back_can_be_tried_again(
    drydock_home: Path, folder: Path
) -> None:
    def append(line: str) -> str:
        return f'with open("notes.txt", "a") as file:\n    file.write("{line}")\n'

    async def work() -> None:
        before = (folder / "notes.txt").read_text("utf-8")
        async with engine_with(drydock_home, ScriptedModels()) as engine:
            chat = await engine.new_chat([Folder(path=str(folder))])
            turns = [
                await engine.wait(
                    (await engine.run_program(chat.chat_id, append("one"), "one")).turn_id
                )
            ]
            assert turns[0].changes is not None
            await engine.decide(turns[0].turn_id, approved=[c.id for c in turns[0].changes.changes])
            later = await engine.run_program(chat.chat_id, append("two"), "two")
            turns.append(await engine.wait(later.turn_id))
            assert turns[1].changes is not None
            await engine.decide(turns[1].turn_id, approved=[c.id for c in turns[1].changes.changes])
            blocked = await engine.undo(turns[0].turn_id)
            assert (blocked.status, blocked.committed) == ("done", True)
            assert blocked.conflicts
            await engine.undo(turns[1].turn_id)
            undone = await engine.undo(turns[0].turn_id)
            assert (undone.status, undone.committed) == ("undone", False)
            assert (folder / "notes.txt").read_text("utf-8") == before

    run(work)


def test_earlier_turns_are_part_of_the_next_request(drydock_home: Path, folder: Path) -> None:
    async def work() -> None:
        models = ScriptedModels(program_reply("print(41)"), program_reply("print(42)"))
        async with engine_with(drydock_home, models) as engine:
            turn = await ask(engine, folder, "First question")
            again = await engine.send(turn.chat_id, "Second question")
            await engine.wait(again.turn_id)
            said = [message.content for message in models.script.seen[1].messages]
            assert any("First question" in text for text in said)
            assert any("print(41)" in text for text in said)
            assert "Second question" in said[-1]
            assert said[0] == models.script.seen[0].messages[0].content

    run(work)


def test_a_resumed_program_takes_the_place_of_the_one_that_was_cut_off(
    drydock_home: Path, folder: Path
) -> None:
    async def work() -> None:
        models = ScriptedModels(program_reply("while True:\n    pass"))
        async with engine_with(drydock_home, models) as engine:
            chat = await engine.new_chat([Folder(path=str(folder))])
            turn = await engine.send(chat.chat_id, "x")
            await reached(engine, turn.turn_id, "running")
        async with engine_with(drydock_home, ScriptedModels()) as engine:
            await engine.resume(turn.turn_id)
            await reached(engine, turn.turn_id, "running")
            programs = (await engine.run_record(turn.turn_id)).programs
            assert [(item.index, item.status) for item in programs] == [(1, "running")]
            await engine.stop(turn.turn_id)

    run(work)


def test_a_commit_that_is_stuck_half_way_is_taken_back_at_the_next_start(
    drydock_home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk goes away in mid-commit and while taking back, and is there again later."""
    renames = 0
    gone = False
    rename = FileSystem.rename

    def failing(self: FileSystem, source: str, target: str) -> None:
        nonlocal renames
        renames += 1
        if gone and renames > 2:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), target)
        rename(self, source, target)

    monkeypatch.setattr(FileSystem, "rename", failing)

    async def work() -> None:
        nonlocal gone
        before = tree(folder)
        async with engine_with(drydock_home, ScriptedModels(program_reply(MOVE))) as engine:
            turn = await ask(engine, folder)
            assert turn.changes is not None
            ids = [change.id for change in turn.changes.changes]
            gone = True
            turn = await engine.decide(turn.turn_id, approved=ids)
            assert turn.status == "committing"
            assert turn.problem is not None
            assert "half-way" in turn.problem.message
            assert tree(folder) != before
        gone = False
        async with engine_with(drydock_home, ScriptedModels()) as engine:
            turn = await engine.run_record(turn.turn_id)
            assert (turn.status, turn.problem) == ("waiting", None)
            assert tree(folder) == before
            turn = await engine.decide(turn.turn_id, approved=ids)
            assert turn.committed
            assert (folder / "pictures" / "b.png").exists()

    run(work)
