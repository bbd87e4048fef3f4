"""What the window remembers, and that a broken file only costs the memory."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QByteArray
from PySide6.QtWidgets import QApplication

from app.ui.window_state import WindowState


@pytest.fixture(autouse=True)
def application(qapp: QApplication) -> None:
    """QSettings wants an application."""


def test_what_was_saved_comes_back(tmp_path: Path) -> None:
    WindowState(tmp_path).save(
        geometry=QByteArray(b"\x00\x01"), chat="c1", sidebar=False, scroll="120", theme="dark"
    )
    state = WindowState(tmp_path)
    assert state.data("geometry") == QByteArray(b"\x00\x01")
    assert state.text("chat") == "c1"
    assert not state.flag("sidebar", default=True)
    assert state.number("scroll") == 120
    assert state.theme == "dark"


@pytest.mark.parametrize("content", ["", "[General\nscroll=x\n", "scroll=-5\ntheme=pink\n", "\x00"])
def test_a_broken_file_means_the_defaults(tmp_path: Path, content: str) -> None:
    (tmp_path / "window.ini").write_text(content)
    state = WindowState(tmp_path)
    assert state.number("scroll") == 0
    assert state.theme == "system"
    assert state.flag("sidebar", default=True)
    assert state.data("geometry").isEmpty()
