"""What the window remembers between two starts: size, panels, chat, theme, unsent text.

Owns the file. It is a convenience: a broken or missing file means the defaults. Thread: UI.
"""

from __future__ import annotations

from pathlib import Path
from typing import cast

from PySide6.QtCore import QByteArray, QSettings

from app.ui.theme import ThemeChoice


class WindowState:
    """Reads and writes ``window.ini`` in Drydock's home."""

    def __init__(self, home: Path) -> None:
        self._file = QSettings(str(home / "window.ini"), QSettings.Format.IniFormat)

    def data(self, key: str) -> QByteArray:
        """Saved bytes, or none."""
        value = self._file.value(key)
        return value if isinstance(value, QByteArray) else QByteArray()

    def text(self, key: str) -> str:
        """A saved text, or ""."""
        value = self._file.value(key)
        return value if isinstance(value, str) else ""

    def flag(self, key: str, default: bool) -> bool:
        """A saved yes or no."""
        return (self.text(key) or ("yes" if default else "no")) == "yes"

    def number(self, key: str) -> int:
        """A saved whole number, or 0."""
        value = self.text(key)
        return int(value) if value.isascii() and value.isdigit() else 0

    @property
    def theme(self) -> ThemeChoice:
        """The theme of the first paint, before the settings are known."""
        value = self.text("theme")
        return cast("ThemeChoice", value) if value in ("light", "dark") else "system"

    def save(self, **values: QByteArray | str | bool) -> None:
        """Remember `values`."""
        for key, value in values.items():
            stored = ("yes" if value else "no") if isinstance(value, bool) else value
            self._file.setValue(key, stored)
        self._file.sync()
