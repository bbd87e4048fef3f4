"""The line above a chat: where code runs, and what the badge says of it."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from app.engine.events import Notice
from app.ui.chat_header import ChatHeader
from sandbox.workspace.choice import Probed
from sandbox.workspace.ladder import RungState


@pytest.fixture
def header(qtbot: QtBot) -> ChatHeader:
    header = ChatHeader()
    qtbot.addWidget(header)
    return header


@pytest.mark.parametrize(
    ("rung", "badge", "told", "severity"),
    [
        ("qemu", "Shell: microVM", "a machine of their own", "info"),
        ("smol", "Shell: microVM", "a machine of their own", "info"),
        ("bubblewrap", "Shell: bubblewrap, weaker", "not an attacker", "caution"),
        (None, "Sandbox: no shell", "no shell and no network", "info"),
    ],
)
def test_the_badge_tells_where_shell_commands_run(
    header: ChatHeader, qtbot: QtBot, rung: Probed | None, badge: str, told: str, severity: str
) -> None:
    state = None if rung is None else RungState(rung=rung, works=True, reason="")
    header.set_shell(state)
    assert header.shell_badge.text() == badge
    with qtbot.waitSignal(header.explained) as explained:
        header.shell_badge.click()
    (notice,) = explained.args or [None]
    assert isinstance(notice, Notice)
    assert told in notice.message
    assert notice.severity == severity
