"""A model that goes round in circles is stopped at the third time, and the person is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.engine.loops import LoopedError, LoopWatch
from tests.fakes import ScriptedModels, program_reply
from tests.turns import ask, engine_with, run


def test_the_third_time_of_a_program_ends_it_whatever_its_layout() -> None:
    watch = LoopWatch()
    watch.program("x = 1\nprint(x)")
    watch.program("y = 2")
    watch.program("x  = 1\n\n\nprint(x)  ")
    with pytest.raises(LoopedError) as caught:
        watch.program("x = 1\nprint(x)\n")
    assert caught.value.circle == "program"


def test_the_same_result_three_times_in_a_row_ends_it() -> None:
    watch = LoopWatch()
    for text in ("a", "a", "b", "a", "a"):
        watch.result(text)
    with pytest.raises(LoopedError):
        watch.result("a")


def test_the_same_fault_three_times_in_a_row_ends_it() -> None:
    watch = LoopWatch()
    for text in ("KeyError: 'a'", "KeyError: 'a'", "KeyError: 'b'"):
        watch.fault(text)
    watch.fault("KeyError: 'a'")
    watch.fault("KeyError: 'a'")
    watch.result("something else came between")
    watch.fault("KeyError: 'a'")
    watch.fault("KeyError: 'a'")
    with pytest.raises(LoopedError) as caught:
        watch.fault("KeyError: 'a'")
    assert caught.value.circle == "fault"


def test_no_result_is_none_that_comes_again() -> None:
    watch = LoopWatch()
    for _ in range(5):
        watch.result("")


def test_thoughts_that_only_repeat_end_it_and_a_new_reply_begins_anew() -> None:
    watch = LoopWatch()
    line = "Let me look at the file again and see what is in it, then decide. "
    for _ in range(3):
        watch.thoughts(line)
    watch.reply_begins()
    with pytest.raises(LoopedError) as caught:
        watch.thoughts(line * 200)
    assert caught.value.circle == "thinking"


def test_the_person_is_told_that_the_model_went_round_in_circles(
    drydock_home: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "desk"
    folder.mkdir()

    async def work() -> None:
        bad = program_reply('open("missing.png").read()')
        async with engine_with(drydock_home, ScriptedModels(bad, bad, bad, bad)) as engine:
            settings = await engine.settings()
            model = settings.model.model_copy(update={"tries": 6})
            await engine.change_settings(settings.model_copy(update={"model": model}))
            turn = await ask(engine, folder)
        assert turn.status == "failed"
        assert turn.problem is not None
        assert "round in circles" in turn.problem.message
        assert "the same program three times" in turn.problem.message

    run(work)
