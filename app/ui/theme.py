"""Colours, sizes and the style of the whole window.

Owns the design tokens as light and dark pairs, the palette and the choice between both. It must
not know any particular screen; the style sheet is in `stylesheet.py`. Thread: UI.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from app.ui.stylesheet import style_sheet

ThemeChoice = Literal["system", "light", "dark"]

SPACE_XS, SPACE_S, SPACE_M, SPACE_L, SPACE_XL = 4, 8, 12, 16, 24
FONT_META_PX, FONT_BODY_PX, FONT_HEADING_PX, FONT_EMPTY_PX = 11, 13, 15, 20
ROW_PX, TARGET_PX = 28, 32
MIN_CONTRAST = 4.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """One colour per role, as ``#rrggbb``.

    `ground`: the window; `raised`: cards and fields; `sunken`: code; `on_accent`: text on the
    accent; `selected`: a chosen row; `heat_*`: light to dark blue, tells apart under the common
    colour-blindnesses; `code_*`: syntax.
    """

    ground: str
    raised: str
    sunken: str
    text: str
    muted: str
    line: str
    accent: str
    on_accent: str
    selected: str
    good: str
    caution: str
    danger: str
    added: str
    removed: str
    heat_1: str
    heat_2: str
    heat_3: str
    heat_4: str
    code_keyword: str
    code_string: str
    code_number: str
    code_comment: str
    code_name: str


LIGHT = Tokens(
    ground="#f6f7f9",
    raised="#ffffff",
    sunken="#f1f3f6",
    text="#1b1f24",
    muted="#59636e",
    line="#d9dee4",
    accent="#1f5fbf",
    on_accent="#ffffff",
    selected="#dde8f8",
    good="#1a6b3c",
    caution="#805300",
    danger="#b3261e",
    added="#e2f3e8",
    removed="#fbe6e4",
    heat_1="#deebf7",
    heat_2="#9ecae1",
    heat_3="#2171b5",
    heat_4="#08306b",
    code_keyword="#7a2f9b",
    code_string="#1a6b3c",
    code_number="#1f5fbf",
    code_comment="#59636e",
    code_name="#8a4b08",
)
DARK = Tokens(
    ground="#16181c",
    raised="#1e2126",
    sunken="#131519",
    text="#e4e7eb",
    muted="#9aa4b0",
    line="#333941",
    accent="#7db1ff",
    on_accent="#0d1420",
    selected="#28384f",
    good="#6cc48e",
    caution="#e0b050",
    danger="#f5948c",
    added="#18301f",
    removed="#3a1e1d",
    heat_1="#c6dbef",
    heat_2="#6baed6",
    heat_3="#2b7bba",
    heat_4="#0b4a8f",
    code_keyword="#d3a4f0",
    code_string="#8fd3a6",
    code_number="#7db1ff",
    code_comment="#9aa4b0",
    code_name="#e6b673",
)

# Which text may stand on which surface; each pair is held to MIN_CONTRAST by a test.
TEXT_ON: tuple[tuple[str, str], ...] = (
    *((text, ground) for text in ("text", "muted") for ground in ("ground", "raised", "sunken")),
    *((text, "selected") for text in ("text", "accent")),
    *((role, ground) for role in ("accent", "good", "caution", "danger")
      for ground in ("ground", "raised")),
    *((name, "sunken") for name in (
        "code_keyword", "code_string", "code_number", "code_comment", "code_name")),
    ("text", "added"),
    ("text", "removed"),
    ("on_accent", "accent"),
)  # fmt: skip


def contrast(one: str, other: str) -> float:
    """Contrast of two colours, 1 to 21. Source: WCAG 2.2, relative luminance."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    def linear(channel: float) -> float:
        return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4

    qt_colour = QColor(colour)
    return (
        0.2126 * linear(qt_colour.redF())
        + 0.7152 * linear(qt_colour.greenF())
        + 0.0722 * linear(qt_colour.blueF())
    )


class Theme(QObject):
    """Which tokens are in force. `changed` carries the new `Tokens`."""

    changed = Signal(object)

    def __init__(self, app: QApplication, choice: ThemeChoice = "system") -> None:
        super().__init__(app)
        self._app = app
        self._choice: ThemeChoice = choice
        self.tokens = LIGHT
        app.setStyle("Fusion")
        font = app.font()
        font.setPixelSize(FONT_BODY_PX)
        app.setFont(font)
        hints = QGuiApplication.styleHints()
        hints.colorSchemeChanged.connect(self._follow)
        self.choose(choice)

    @property
    def choice(self) -> ThemeChoice:
        """The person's choice."""
        return self._choice

    def choose(self, choice: ThemeChoice) -> None:
        """Take `choice` into force at once."""
        self._choice = choice
        hints = QGuiApplication.styleHints()
        match choice:
            case "system":
                hints.unsetColorScheme()
            case "light":
                hints.setColorScheme(Qt.ColorScheme.Light)
            case "dark":
                hints.setColorScheme(Qt.ColorScheme.Dark)
        self._apply()

    def _follow(self) -> None:
        if self._choice == "system":
            self._apply()

    def _apply(self) -> None:
        system_dark = QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
        dark = self._choice == "dark" or (self._choice == "system" and system_dark)
        tokens = DARK if dark else LIGHT
        self.tokens = tokens
        _in_force[0] = tokens
        self._app.setPalette(palette_of(tokens))
        self._app.setStyleSheet(
            style_sheet(
                {field.name: getattr(tokens, field.name) for field in fields(tokens)},
                "dark" if dark else "light",
            )
        )
        self.changed.emit(tokens)


_in_force: list[Tokens] = [LIGHT]


def tokens() -> Tokens:
    """The tokens in force, for code that paints by itself."""
    return _in_force[0]


def palette_of(colours: Tokens) -> QPalette:
    """The Qt palette for `colours`."""
    role = QPalette.ColorRole
    palette = QPalette()
    for which, colour in (
        (role.Window, colours.ground),
        (role.WindowText, colours.text),
        (role.Base, colours.raised),
        (role.AlternateBase, colours.ground),
        (role.Text, colours.text),
        (role.PlaceholderText, colours.muted),
        (role.Button, colours.raised),
        (role.ButtonText, colours.text),
        (role.ToolTipBase, colours.raised),
        (role.ToolTipText, colours.text),
        (role.Highlight, colours.selected),
        (role.HighlightedText, colours.text),
        (role.Link, colours.accent),
        (role.Accent, colours.accent),
        (role.Mid, colours.line),
        (role.Light, colours.raised),
        (role.Dark, colours.line),
        (role.Shadow, colours.line),
    ):
        palette.setColor(which, QColor(colour))
    for which in (role.Text, role.ButtonText, role.WindowText):
        palette.setColor(QPalette.ColorGroup.Disabled, which, QColor(colours.muted))
    return palette


def code_font() -> QFont:
    """The system's fixed-width font at body size."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    font.setPixelSize(FONT_BODY_PX)
    return font
