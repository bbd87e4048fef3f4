"""The router in whole turns: "auto" begins here, an offer is made and taken only by the person."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.engine.steering import Steering
from app.errors import ModelUnavailableError
from app.store.records import Folder
from models.providers import AUTO
from tests.fakes import ScriptedModels, program_reply
from tests.remote_turns import MODEL, remote_engine
from tests.turns import run
from tests.wire.openai_chat import answer
from tests.wire.reply import Call, Reply

SMALL = "local:qwen2.5-coder-0.5b"
FAILS = program_reply("x = 1 / 0")
MADE = Reply(calls=(Call(args={"source": 'open("a.txt", "w").write("x")\nprint("made")'}),))


def here(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """As if these local models were on this machine."""
    monkeypatch.setattr(
        "app.engine.steering.find_model",
        lambda _folder, entry: entry if entry.id in names else None,
    )


def test_auto_begins_on_this_machine_and_says_why(
    drydock_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here(monkeypatch, "qwen2.5-coder-0.5b")

    async def work() -> None:
        local = ScriptedModels(program_reply('open("a.txt", "w").write("x")'))
        async with remote_engine(drydock_home, local=local) as (engine, server):
            chat = await engine.new_chat([Folder(path=str(tmp_path))], AUTO)
            turn = await engine.send(chat.chat_id, "Create a file")
            turn = await engine.wait(turn.turn_id)
            assert (turn.model_id, turn.status) == (SMALL, "waiting")
            assert "not measured here yet for files" in turn.routed
            assert not server.received
            assert (await engine.run_record(turn.turn_id)).routed == turn.routed

    run(work)


def test_without_a_local_model_auto_sends_nothing(
    drydock_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here(monkeypatch)

    async def work() -> None:
        async with remote_engine(drydock_home) as (engine, server):
            chat = await engine.new_chat([Folder(path=str(tmp_path))], AUTO)
            with pytest.raises(ModelUnavailableError, match="no model on this machine"):
                await engine.send(chat.chat_id, "Create a file")
            assert not server.received

    run(work)


@pytest.mark.parametrize("local_only", [False, True])
def test_a_bigger_model_is_offered_and_nothing_is_sent_before_it_is_taken(
    drydock_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, local_only: bool
) -> None:
    here(monkeypatch, "qwen2.5-coder-0.5b")

    async def work() -> None:
        local = ScriptedModels(*[FAILS] * 3)
        answers = answer(MADE), answer(Reply(text="Made it."))
        async with remote_engine(drydock_home, *answers, local=local) as (engine, server):
            chat = await engine.new_chat([Folder(path=str(tmp_path))], SMALL)
            if local_only:
                await engine.places.mark_chat(chat.chat_id, True)
            turn = await engine.send(chat.chat_id, "Create a file")
            turn = await engine.wait(turn.turn_id)
            assert turn.status == "failed"
            assert not server.received
            if local_only:
                assert turn.offer is None
                return
            assert turn.offer is not None
            assert (turn.offer.model_id, turn.offer.leaves, turn.offer.price) == (MODEL, True, None)
            taken = await engine.send(chat.chat_id, turn.request, model_id=turn.offer.model_id)
            taken = await engine.wait(taken.turn_id)
            assert (taken.status, taken.model_id) == ("waiting", MODEL)
            assert (await engine.open_chat(chat.chat_id)).chat.model_id == SMALL

    run(work)


@pytest.mark.parametrize("agree", [False, True])
def test_programs_that_do_not_agree_offer_a_bigger_model_beside_the_review(
    drydock_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, agree: bool
) -> None:
    here(monkeypatch, "qwen2.5-coder-0.5b")
    writes = [f'open("sum.txt", "w").write("{text}")' for text in ("1", "22", "333")]
    programs = [writes[0]] * 2 if agree else writes

    async def work() -> None:
        local = ScriptedModels(*(program_reply(program) for program in programs))
        async with remote_engine(drydock_home, local=local) as (engine, server):
            settings = await engine.settings()
            model = settings.model.model_copy(update={"candidates": 3})
            await engine.change_settings(settings.model_copy(update={"model": model}))
            chat = await engine.new_chat([Folder(path=str(tmp_path))], SMALL)
            turn = await engine.send(chat.chat_id, "Write the sum to sum.txt")
            turn = await engine.wait(turn.turn_id)
            assert turn.status == "waiting"
            assert not server.received
            if agree:
                assert turn.offer is None
                return
            assert (turn.usage.agreeing, turn.usage.candidates) == (1, 3)
            assert turn.offer is not None
            assert turn.offer.model_id == MODEL
            assert turn.offer.line.startswith("Several programs did not agree")

    run(work)


def test_the_rates_are_those_of_the_lab(drydock_home: Path) -> None:
    from app.store.trials import TrialRecord

    async def work() -> None:
        async with remote_engine(drydock_home) as (engine, _):
            steering: Steering = engine._steering  # pyright: ignore[reportPrivateUsage]
            trials = steering._trials  # pyright: ignore[reportPrivateUsage]
            trials.add_run("r1", "everyday", {})
            for number, reward in enumerate((1.0, 1.0, 0.0)):
                trials.add(
                    TrialRecord(
                        run_id="r1", suite="everyday", task=f"t{number}", capability="tables",
                        difficulty="easy", model_id=SMALL, mode="code", seed=1, reward=reward,
                    )
                )  # fmt: skip
            (rate,) = steering.rates()
            assert (rate.model_id, rate.kind, rate.passed, rate.trials) == (SMALL, "tables", 2, 3)

    run(work)
