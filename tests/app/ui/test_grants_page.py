"""The page of standing grants: explained, counted, taken back."""

from __future__ import annotations

from datetime import UTC, datetime

from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from app.store.grants import GrantRecord
from app.ui.grants_page import GrantsPage


def _grant(grant_id: str, text: str, uses: int = 2) -> GrantRecord:
    return GrantRecord(
        grant_id=grant_id,
        text=text,
        scope="always",
        chat_id="",
        created=datetime.now(UTC),
        uses=uses,
    )


def test_each_grant_is_explained_and_can_be_taken_back(qtbot: QtBot) -> None:
    page = GrantsPage()
    qtbot.addWidget(page)
    page.show_grants([_grant("a", "move:50"), _grant("b", "host:x.org")])
    texts = [one.text() for one in page.findChildren(QLabel)]
    assert "Up to 50 files are moved without asking, where they replace nothing." in texts
    gone: list[str] = []
    page.revoked.connect(gone.append)
    buttons = page.findChildren(QPushButton)
    assert "x.org" in buttons[1].accessibleName()
    buttons[1].click()
    assert gone == ["b"]
    assert not buttons[1].isEnabled()


def test_without_grants_the_page_says_so(qtbot: QtBot) -> None:
    page = GrantsPage()
    qtbot.addWidget(page)
    page.show_grants([_grant("a", "move:50")])
    page.show_grants([])
    assert any("Nothing is allowed" in one.text() for one in page.findChildren(QLabel))
