"""Colours can be read, and the theme follows its choice."""

from __future__ import annotations

from typing import cast

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from app.ui.theme import DARK, LIGHT, MIN_CONTRAST, TEXT_ON, Theme, Tokens, contrast


@pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(("text", "surface"), TEXT_ON)
def test_every_text_stands_out_from_its_surface(tokens: Tokens, text: str, surface: str) -> None:
    assert contrast(getattr(tokens, text), getattr(tokens, surface)) >= MIN_CONTRAST


def test_contrast_is_that_of_the_guideline() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


def test_heat_goes_from_light_to_dark() -> None:
    for tokens in (LIGHT, DARK):
        steps = [getattr(tokens, f"heat_{step}") for step in range(1, 5)]
        against_black = [contrast(step, "#000000") for step in steps]
        assert against_black == sorted(against_black, reverse=True)


def test_a_choice_is_in_force_at_once(qapp: QApplication) -> None:
    theme = Theme(qapp, "light")
    told: list[Tokens] = []
    theme.changed.connect(told.append)
    theme.choose("dark")
    assert told == [DARK]
    assert qapp.palette().color(QPalette.ColorRole.Window).name() == DARK.ground
    assert DARK.accent in qapp.styleSheet()
    theme.choose("light")
    theme.deleteLater()


def test_the_system_theme_follows_the_system(qapp: QApplication) -> None:
    theme = Theme(cast("QApplication", qapp), "system")
    dark = QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
    assert theme.tokens == (DARK if dark else LIGHT)
    theme.deleteLater()
