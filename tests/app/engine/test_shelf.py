"""The shelf of local models: statuses, what was measured, tries, imports and removal."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from app.engine.engine import Engine
from app.engine.mailbox import Mailbox
from app.errors import AppError
from app.paths import Paths
from app.settings import OwnModelSettings
from app.store.records import Folder
from app.store.trials import TrialRecord
from models import imports
from models.library import model_path
from tests.fakes import ScriptedModels, program_reply
from tests.turns import engine_with, run

SMOL = "local:smollm2-135m"


@asynccontextmanager
async def real_engine(home: Path) -> AsyncGenerator[Engine]:
    """An engine whose models are real."""
    engine = Engine(Paths(home=home), Mailbox())
    await engine.start(in_background=False)
    try:
        yield engine
    finally:
        await engine.close()


def test_a_model_is_tried_without_running_its_program(drydock_home: Path) -> None:
    async def work() -> None:
        models = ScriptedModels("Hello,\nthere.", program_reply("print(1)"))
        async with engine_with(drydock_home, models) as engine:
            sample = await engine.shelf.sample(SMOL)
            assert (sample.hello, sample.program) == ("Hello, there.", "print(1)")
            assert sample.problem == ""
            assert await engine.chats() == []

    run(work)


@pytest.mark.parametrize(
    ("reply", "problem"),
    [("I cannot.", "holds no program"), (program_reply("print(1"), "")],
)
def test_a_reply_that_cannot_run_is_said_so(drydock_home: Path, reply: str, problem: str) -> None:
    async def work() -> None:
        async with engine_with(drydock_home, ScriptedModels("Hi.", reply)) as engine:
            sample = await engine.shelf.sample(SMOL)
            assert sample.problem
            assert problem in sample.problem

    run(work)


def test_nothing_is_tried_or_removed_while_a_turn_is_under_way(
    drydock_home: Path, tmp_path: Path
) -> None:
    async def work() -> None:
        models = ScriptedModels(program_reply("print(1)"))
        async with engine_with(drydock_home, models) as engine:
            chat = await engine.new_chat([Folder(path=str(tmp_path))])
            turn = await engine.send(chat.chat_id, "Print one")
            with pytest.raises(AppError, match="under way"):
                await engine.shelf.sample(SMOL)
            with pytest.raises(AppError, match="under way"):
                await engine.shelf.remove(SMOL)
            await engine.wait(turn.turn_id)
            await engine.shelf.remove(SMOL)

    run(work)


def test_a_real_model_is_measured_and_that_is_remembered(
    drydock_home: Path, real_model: Path
) -> None:
    folder = drydock_home / "models"
    folder.mkdir()
    model_path(folder, SMOL).symlink_to(real_model)

    async def work() -> None:
        async with real_engine(drydock_home) as engine:
            probe = await engine.shelf.probe(SMOL, tokens=8)
            assert probe.tokens_per_s > 0
        async with real_engine(drydock_home) as engine:
            status = next(one for one in await engine.shelf.models() if one.model_id == SMOL)
            assert status.linked
            assert status.measured.speed is not None
            assert status.measured.speed.tokens_per_s == probe.tokens_per_s
            assert await engine.shelf.remove(SMOL) == 0
            status = next(one for one in await engine.shelf.models() if one.model_id == SMOL)
            assert status.measured.speed is None

    run(work)
    assert real_model.exists()


def test_the_labs_trials_are_shown_with_the_model(drydock_home: Path) -> None:
    async def work() -> None:
        async with engine_with(drydock_home, ScriptedModels()) as engine:
            engine.trials.add_run("r1", "everyday", {})
            for seed, reward in enumerate((1.0, 1.0, 0.0)):
                engine.trials.add(
                    TrialRecord(
                        run_id="r1", suite="everyday", task="t", capability="files",
                        difficulty="easy", model_id=SMOL, mode="code", seed=seed, reward=reward,
                    )
                )  # fmt: skip
            status = next(one for one in await engine.shelf.models() if one.model_id == SMOL)
            assert (status.measured.passed, status.measured.trials) == (2, 3)

    run(work)


def test_settings_of_one_model_hold_for_it_alone(drydock_home: Path) -> None:
    async def work() -> None:
        async with engine_with(drydock_home, ScriptedModels()) as engine:
            settings = await engine.settings()
            own = {SMOL: OwnModelSettings(context_tokens=2048, temperature=0.5)}
            await engine.change_settings(settings.model_copy(update={"own": own}))
            changed = await engine.settings()
            assert changed.model_for(SMOL).context_tokens == 2048
            assert changed.model_for(SMOL).threads == changed.model.threads
            assert changed.model_for("local:other") == changed.model

    run(work)


def test_a_file_of_another_program_is_found_used_and_known_as_here(
    drydock_home: Path, real_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = drydock_home / "person"
    place = home / ".lmstudio" / "models" / "maker"
    place.mkdir(parents=True)
    (place / "SmolLM2.gguf").symlink_to(real_model)
    monkeypatch.setattr(imports.Path, "home", lambda: home)
    for name in ("OLLAMA_MODELS", "HF_HOME", "HF_HUB_CACHE", "LLAMA_CACHE"):
        monkeypatch.delenv(name, raising=False)

    async def work() -> None:
        async with engine_with(drydock_home, ScriptedModels()) as engine:
            (item,) = await engine.shelf.elsewhere()
            assert (item.found.owner, item.here_as) == ("lm-studio", "")
            entry = await engine.shelf.take_in(item.found.path)
            assert entry.id == "smollm2-135m"  # known by its hash
            (item,) = await engine.shelf.elsewhere()
            assert item.here_as == "smollm2-135m"
            chat = await engine.new_chat([])
            await engine.set_model(chat.chat_id, f"local:{entry.id}")

    run(work)
