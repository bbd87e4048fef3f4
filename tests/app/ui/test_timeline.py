"""The bar of a run: every part is seen, named and no wider than the bar."""

from __future__ import annotations

from dataclasses import replace

from pytestqt.qtbot import QtBot

from app.store.records import Usage
from app.ui.timeline import Timeline
from tests.app.ui import samples


def _bar(qtbot: QtBot, *, model_s: float, seconds: float, walls: tuple[float, ...]) -> Timeline:
    programs = tuple(
        samples.program(index=number, program_id=f"p{number}", wall_s=wall)
        for number, wall in enumerate(walls, 1)
    )
    turn = samples.turn(programs=programs, usage=Usage(model_s=model_s), seconds=seconds)
    bar = Timeline(turn)
    qtbot.addWidget(bar)
    bar.resize(200, 12)
    return bar


def test_the_parts_are_the_model_the_programs_and_the_rest(qtbot: QtBot) -> None:
    bar = _bar(qtbot, model_s=4.0, seconds=10.0, walls=(1.0, 2.0))
    assert [(part.kind, part.seconds) for part in bar.parts] == [
        ("model", 4.0),
        ("program", 1.0),
        ("program", 2.0),
        ("rest", 3.0),
    ]
    assert "Program 2" in bar.accessibleDescription()


def test_the_shortest_part_is_seen_and_all_fit(qtbot: QtBot) -> None:
    bar = _bar(qtbot, model_s=600.0, seconds=600.02, walls=(0.01, 0.01))
    places = bar._places()
    assert min(width for _, _, width in places) >= 2
    _, left, width = places[-1]
    assert left + width <= 200.5


def test_a_program_that_failed_is_told_apart(qtbot: QtBot) -> None:
    failed = replace(samples.program(), status="error")
    bar = Timeline(samples.turn(programs=(failed,), seconds=2.0))
    qtbot.addWidget(bar)
    assert any(part.kind == "failed" and "failed" in part.name for part in bar.parts)


def test_a_turn_without_time_has_no_parts(qtbot: QtBot) -> None:
    bar = Timeline(samples.turn(programs=(), usage=Usage(), seconds=0.0))
    qtbot.addWidget(bar)
    assert bar.parts == ()
