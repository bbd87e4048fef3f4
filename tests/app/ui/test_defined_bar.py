"""The line below the run that tells what is defined for the next program, and forgets it."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from app.engine.chat_sessions import ChatSession
from app.errors import AppError
from app.ui.defined_bar import DefinedBar
from tests.app.ui import samples
from tests.app.ui.conftest import OpenWindow, Stage
from tests.app.ui.fake_engine import FakeEngine

DEFINED = ChatSession(variables=("total", "rows"), functions=("double",), size_bytes=400_000)
LONGEST_MS = 20_000


def opened(
    open_window: OpenWindow, qtbot: QtBot, found: ChatSession, problem: AppError | None = None
) -> tuple[Stage, DefinedBar]:
    def prepare(engine: FakeEngine) -> None:
        engine.stored = samples.chats()
        engine.turns = {"c1": [samples.turn("done")]}
        engine.sessions.found = found
        engine.sessions.problem = problem

    stage = open_window(prepare=prepare)
    session = stage.window._session
    with qtbot.waitSignal(session.chat_opened, timeout=LONGEST_MS):
        session.open_chat("c1")
    return stage, stage.window.panel.defined


def test_what_is_defined_is_told_and_can_be_forgotten(
    open_window: OpenWindow, qtbot: QtBot
) -> None:
    stage, bar = opened(open_window, qtbot, DEFINED)
    qtbot.waitUntil(lambda: not bar.isHidden(), timeout=LONGEST_MS)
    assert bar.text.text() == "Defined for the next program: total, rows, double()"
    bar.forget.click()
    qtbot.waitUntil(bar.isHidden, timeout=LONGEST_MS)
    assert stage.asked("reset") == ["c1"]


def test_it_says_why_it_cannot_be_forgotten_now(open_window: OpenWindow, qtbot: QtBot) -> None:
    problem = AppError("This chat is still at work.", hint="Stop it first.")
    _, bar = opened(open_window, qtbot, DEFINED, problem)
    qtbot.waitUntil(lambda: not bar.isHidden(), timeout=LONGEST_MS)
    bar.forget.click()
    qtbot.waitUntil(lambda: "still at work" in bar.text.text(), timeout=LONGEST_MS)
    assert bar.forget.isEnabled()


def test_a_state_that_cannot_be_used_is_said(open_window: OpenWindow, qtbot: QtBot) -> None:
    _, bar = opened(open_window, qtbot, ChatSession(problem="It was altered."))
    qtbot.waitUntil(lambda: bar.text.text() == "It was altered.", timeout=LONGEST_MS)


def test_nothing_is_shown_while_nothing_is_defined(open_window: OpenWindow, qtbot: QtBot) -> None:
    _, bar = opened(open_window, qtbot, ChatSession())
    assert bar.isHidden()
