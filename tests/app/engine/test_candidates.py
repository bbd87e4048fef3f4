"""Several programs for one request: each on its own layer, and their effects vote."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.settings import Settings
from app.store.records import TurnRecord
from tests.fakes import ScriptedModels, program_reply
from tests.turns import ask, engine_with, run

RIGHT = 'from pathlib import Path\nPath("sum.txt").write_text("5\\n")\nprint("Wrote the sum.")\n'
RIGHT_TOO = 'with open("sum.txt", "w") as f:\n    f.write("5\\n")\nprint("There it is.")\n'
WRONG = 'from pathlib import Path\nPath("sum.txt").write_text("23\\n")\nprint("Wrote the sum.")\n'
BROKEN = "print(undefined_name)\n"
REQUEST = "Add up the numbers in numbers.txt and write the sum to sum.txt."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "desk"
    folder.mkdir()
    (folder / "numbers.txt").write_text("2\n3\n", encoding="utf-8")
    return folder


def voted(home: Path, folder: Path, *programs: str, candidates: int) -> tuple[TurnRecord, str]:
    """The finished turn, and what sum.txt holds after its approval."""
    ended: list[TurnRecord] = []

    async def work() -> None:
        models = ScriptedModels(*(program_reply(program) for program in programs))
        async with engine_with(home, models) as engine:
            settings = Settings()
            model = settings.model.model_copy(update={"candidates": candidates})
            await engine.change_settings(settings.model_copy(update={"model": model}))
            turn = await ask(engine, folder, REQUEST)
            if turn.status == "waiting" and turn.changes is not None:
                turn = await engine.decide(turn.turn_id, approved=None)
            ended.append(turn)

    run(work)
    turn = ended[0]
    assert turn.changes is not None
    return turn, turn.answer


def agreement(turn: TurnRecord) -> tuple[int, int]:
    return turn.usage.agreeing, turn.usage.candidates


def sizes(turn: TurnRecord) -> list[int | None]:
    return [change.size_after for change in turn.changes.changes] if turn.changes else []


def test_two_that_agree_end_the_vote_and_leave_one_set_of_changes(
    drydock_home: Path, folder: Path
) -> None:
    turn, answer = voted(drydock_home, folder, RIGHT, RIGHT_TOO, WRONG, candidates=3)
    assert agreement(turn) == (2, 2)
    assert sizes(turn) == [2]
    assert answer == "Wrote the sum."


def test_the_majority_wins_over_the_first(drydock_home: Path, folder: Path) -> None:
    turn, _ = voted(drydock_home, folder, WRONG, RIGHT, RIGHT_TOO, candidates=3)
    assert agreement(turn) == (2, 3)
    assert sizes(turn) == [2]


def test_the_same_program_twice_agrees_with_itself(drydock_home: Path, folder: Path) -> None:
    turn, _ = voted(drydock_home, folder, RIGHT, RIGHT, candidates=3)
    assert agreement(turn) == (2, 2)


def test_a_further_candidate_that_fails_has_no_vote(drydock_home: Path, folder: Path) -> None:
    turn, _ = voted(drydock_home, folder, WRONG, BROKEN, RIGHT, candidates=3)
    assert agreement(turn) == (1, 2)
    assert sizes(turn) == [3]


def test_one_candidate_needs_no_vote(drydock_home: Path, folder: Path) -> None:
    turn, _ = voted(drydock_home, folder, RIGHT, candidates=1)
    assert agreement(turn) == (0, 0)
    assert len(turn.programs) == 1
