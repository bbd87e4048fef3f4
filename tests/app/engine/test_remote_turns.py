"""Turns with remote models through the real engine: code mode, faults, marks, budgets, preview."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from app.engine.events import ModelActivity, ReplyDelta, ThinkingDelta
from app.settings import BudgetSettings, PriceSettings
from app.store.records import Folder, TurnRecord
from tests.fakes import ScriptedModels, program_reply
from tests.remote_turns import MODEL, remote_chat, remote_engine
from tests.turns import run
from tests.wire.openai_chat import answer, check, fault, sse
from tests.wire.reply import Call, Reply
from tests.wire.server import broken

MOVE = """
from pathlib import Path
Path("pictures").mkdir()
for p in sorted(Path(".").glob("*.png")):
    p.rename(Path("pictures") / p.name)
print("Moved 2.")
"""
ASKS = Reply(thinking="Two pictures.", calls=(Call(args={"source": MOVE}),), thinking_tokens=5)
ANSWERS = Reply(text="Moved 2 pictures.")
PRICE = PriceSettings(
    model=MODEL, input=Decimal(3), cached=Decimal("0.3"), output=Decimal(15), date="2026-11-01"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "Bilder"
    folder.mkdir()
    for name in ("a.png", "b.png", "notes.txt"):
        (folder / name).write_text(name, encoding="utf-8")
    return folder


async def finished(engine: Any, chat_id: str, request: str = "Put the pictures away") -> TurnRecord:
    turn = await engine.send(chat_id, request)
    return await engine.wait(turn.turn_id)


def test_a_remote_model_runs_a_program_and_answers(drydock_home: Path, folder: Path) -> None:
    async def work() -> None:
        async with remote_engine(drydock_home, answer(ASKS), answer(ANSWERS), prices=(PRICE,)) as (
            engine,
            server,
        ):
            server.check = check
            chat = await remote_chat(engine, folder)
            turn = await finished(engine, chat.chat_id)
            assert (turn.status, turn.answer) == ("waiting", "Moved 2 pictures.")
            assert [program.status for program in turn.programs] == ["ok"]
            assert turn.changes is not None
            tools = [tool["function"]["name"] for tool in server.received[0].body["tools"]]
            assert tools == ["run_code", "search_tools"]
            assert "Moved 2." in json.dumps(server.received[1].body["messages"])
            # 2 x (400 fresh at 3 + 800 cached at 0.3 + 40 written at 15) per million
            assert turn.usage.money == "0.00408"
            assert (turn.usage.currency, turn.usage.input_tokens) == ("USD", 2400)
            assert turn.usage.thinking_tokens == 5

    run(work)


def test_what_it_thinks_is_kept_apart_from_what_it_says(drydock_home: Path, folder: Path) -> None:
    async def work() -> None:
        thinks = Reply(thinking="Hm, two of them.", text="There are 2.")
        async with remote_engine(drydock_home, answer(thinks)) as (engine, _):
            mailbox = engine._mailbox  # pyright: ignore[reportPrivateUsage]
            chat = await remote_chat(engine, folder)
            turn = await finished(engine, chat.chat_id, "How many pictures?")
            assert (turn.thinking, turn.answer) == ("Hm, two of them.", "There are 2.")
            events = mailbox.drain()
            thought = "".join(one.text for one in events if isinstance(one, ThinkingDelta))
            said = "".join(one.text for one in events if isinstance(one, ReplyDelta))
            assert (thought, said) == (turn.thinking, "There are 2.")

    run(work)


def test_a_broken_reply_is_begun_anew_and_its_program_runs_once(
    drydock_home: Path, folder: Path
) -> None:
    async def work() -> None:
        body = sse(Reply(text="I move them.", calls=(Call(args={"source": MOVE}),)))
        async with remote_engine(
            drydock_home, broken(body, len(body) // 2), answer(ASKS), answer(ANSWERS)
        ) as (engine, _):
            mailbox = engine._mailbox  # pyright: ignore[reportPrivateUsage]
            chat = await remote_chat(engine, folder)
            turn = await finished(engine, chat.chat_id)
            assert (turn.status, len(turn.programs)) == ("waiting", 1)
            waits = [one for one in mailbox.drain() if isinstance(one, ModelActivity)]
            assert waits[0].state == "waiting"
            assert "Trying again" in waits[0].detail

    run(work)


def test_a_fault_ends_the_turn_with_words_and_the_chat_goes_on(
    drydock_home: Path, folder: Path
) -> None:
    async def work() -> None:
        async with remote_engine(
            drydock_home, answer(ASKS), fault(401, "invalid_api_key", "Wrong key."), answer(ANSWERS)
        ) as (engine, server):
            server.check = check
            chat = await remote_chat(engine, folder)
            turn = await finished(engine, chat.chat_id)
            assert turn.status == "failed"
            assert turn.problem is not None
            assert turn.problem.kind == "model"
            assert "does not take the key" in turn.problem.message
            assert [program.status for program in turn.programs] == ["ok"]
            assert (folder / "a.png").exists()
            turn = await finished(engine, chat.chat_id, "Again")
            assert turn.answer == ANSWERS.text

    run(work)


@pytest.mark.parametrize("mark", ["chat", "folder", "above", "history"])
def test_what_is_local_only_is_never_sent(drydock_home: Path, folder: Path, mark: str) -> None:
    async def work() -> None:
        local = ScriptedModels(program_reply("print(1)"))
        async with remote_engine(drydock_home, answer(ANSWERS), local=local) as (engine, server):
            chat = await remote_chat(engine, folder)
            match mark:
                case "chat":
                    await engine.places.mark_chat(chat.chat_id, True)
                case "folder":
                    await engine.places.mark_folder(str(folder), True)
                case "above":
                    await engine.places.mark_folder(str(folder.parent), True)
                case _:
                    await engine.set_model(chat.chat_id, "local:qwen2.5-coder-1.5b")
                    await finished(engine, chat.chat_id, "How many?")
                    other = folder.parent / "other"
                    other.mkdir()
                    await engine.set_folders(chat.chat_id, [Folder(path=str(other))])
                    await engine.set_model(chat.chat_id, MODEL)
                    await engine.places.mark_folder(str(folder), True)
            turn = await finished(engine, chat.chat_id)
            assert turn.status == "failed"
            assert turn.problem is not None
            assert "local only" in turn.problem.message
            assert not server.received
            place = await engine.places.place(chat.chat_id)
            assert place.held

    run(work)


def test_a_mark_holds_for_the_next_request_of_a_turn_that_runs(
    drydock_home: Path, folder: Path
) -> None:
    async def work() -> None:
        async with remote_engine(drydock_home, answer(ASKS), answer(ANSWERS)) as (engine, server):
            chat = await remote_chat(engine, folder)
            marks = engine.places._local_only  # pyright: ignore[reportPrivateUsage]
            server.check = lambda _: marks.mark_folder(str(folder), True)
            turn = await finished(engine, chat.chat_id)
            assert turn.status == "failed"
            assert len(server.received) == 1

    run(work)


@pytest.mark.parametrize(
    "budget",
    [
        BudgetSettings(turn=Decimal("0.1")),
        BudgetSettings(day=Decimal("0.1")),
        BudgetSettings(month=Decimal("0.1")),
    ],
)
def test_a_budget_stops_before_the_request_that_could_exceed_it(
    drydock_home: Path, folder: Path, budget: BudgetSettings
) -> None:
    async def work() -> None:
        async with remote_engine(drydock_home, answer(ANSWERS), budget=budget, prices=(PRICE,)) as (
            engine,
            server,
        ):
            chat = await remote_chat(engine, folder)
            turn = await finished(engine, chat.chat_id)
            assert turn.status == "failed"
            assert turn.problem is not None
            assert "budget" in turn.problem.message
            assert "0.10 USD is left" in turn.problem.message
            assert not server.received

    run(work)


def test_an_unknown_price_is_unknown_and_stops_under_a_budget(
    drydock_home: Path, folder: Path
) -> None:
    async def work() -> None:
        async with remote_engine(drydock_home, answer(ANSWERS)) as (engine, server):
            chat = await remote_chat(engine, folder)
            turn = await finished(engine, chat.chat_id)
            assert turn.usage.money is None
            total = await engine.places.chat_total(chat.chat_id)
            assert (total.unknown, total.money) == (1, ())
            settings = await engine.settings()
            await engine.change_settings(
                settings.model_copy(update={"budget": BudgetSettings(day=Decimal(5))})
            )
            turn = await finished(engine, chat.chat_id)
            assert turn.problem is not None
            assert "nobody knows" in turn.problem.message
            assert len(server.received) == 1

    run(work)


def test_costs_survive_the_chat_and_a_restart(drydock_home: Path, folder: Path) -> None:
    async def work() -> None:
        async with remote_engine(drydock_home, answer(ANSWERS), prices=(PRICE,)) as (engine, _):
            chat = await remote_chat(engine, folder)
            await finished(engine, chat.chat_id)
            await engine.delete_chat(chat.chat_id)
        async with remote_engine(drydock_home) as (engine, _):
            view = await engine.places.costs()
            assert view.today.money == (("USD", Decimal("0.00204")),)
            assert [day.model_id for day in view.days] == [MODEL]

    run(work)


def test_the_preview_is_to_the_byte_what_is_sent(drydock_home: Path, folder: Path) -> None:
    async def work() -> None:
        async with remote_engine(
            drydock_home, answer(ASKS), answer(ANSWERS), answer(ANSWERS), prices=(PRICE,)
        ) as (engine, server):
            chat = await remote_chat(engine, folder)
            for request in ("Put the pictures away", "And now the notes"):
                seen = await engine.places.preview(chat.chat_id, request)
                turn = await finished(engine, chat.chat_id, request)
                await engine.decide(turn.turn_id, approved=None) if turn.changes else None
                first = next(one for one in server.received if request in one.raw.decode())
                assert seen.body == first.raw
                assert seen.url.endswith(first.path)
            assert seen.tools == ("run_code", "search_tools")
            assert "notes.txt" in seen.messages[-1][1]
            assert "staged copy" in seen.system
            assert seen.most_money is not None

    run(work)


def test_the_preview_is_without_secrets_as_the_request_is(drydock_home: Path, folder: Path) -> None:
    async def work() -> None:
        async with remote_engine(drydock_home, answer(ANSWERS)) as (engine, server):
            await engine.places.set_key("anthropic", "sk-ant-canary-123456")
            chat = await remote_chat(engine, folder)
            request = "Is sk-ant-canary-123456 a key?"
            seen = await engine.places.preview(chat.chat_id, request)
            await finished(engine, chat.chat_id, request)
            assert b"sk-ant-canary-123456" not in seen.body
            assert seen.body == server.received[0].raw

    run(work)


def test_a_local_turn_costs_nothing_and_is_counted(drydock_home: Path, folder: Path) -> None:
    async def work() -> None:
        local = ScriptedModels(program_reply(MOVE))
        async with remote_engine(drydock_home, local=local) as (engine, server):
            chat = await engine.new_chat([Folder(path=str(folder))], "local:qwen2.5-coder-1.5b")
            turn = await finished(engine, chat.chat_id)
            assert turn.usage.money == "0"
            total = await engine.places.chat_total(chat.chat_id)
            assert (total.requests, total.input_tokens, total.unknown) == (1, 100, 0)
            assert not server.received

    run(work)


@pytest.mark.parametrize(
    ("reply", "ok", "words"),
    [
        (answer(ANSWERS), True, "answers: Moved"),
        (fault(401, "invalid_api_key", "Wrong."), False, "does not take the key"),
        (fault(404, "model_not_found", "None."), False, "no model named qwen3-coder"),
        (fault(503, "x", "Busy."), False, "overloaded"),
    ],
)
def test_a_test_says_what_is_wrong(drydock_home: Path, reply: Any, ok: bool, words: str) -> None:
    async def work() -> None:
        async with remote_engine(drydock_home, reply) as (engine, _):
            result = await engine.places.test(MODEL)
            assert (result.ok, words in result.message) == (ok, True)
            assert result.ok or result.hint

    run(work)
