"""A secret on the clipboard: for half a minute, kept out of clipboard histories.

Owns the clearing, also when the app ends. What somebody copied meanwhile stays. Thread: UI.
"""

from __future__ import annotations

from PySide6.QtCore import QMimeData, QObject, QTimer
from PySide6.QtGui import QGuiApplication

CLEARED_AFTER_S = 30
_PRIVATE_FORMATS = {
    "x-kde-passwordManagerHint": b"secret",
    "org.nspasteboard.ConcealedType": b"1",
    "ExcludeClipboardContentFromMonitorProcessing": b"1",
}
"""What clipboard histories look at. Source: KeePassXC's and nspasteboard.org's conventions."""


class SecretClipboard(QObject):
    """Puts a value there and takes it away again."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._value = ""
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.clear)
        app = QGuiApplication.instance()
        if app is not None:
            app.aboutToQuit.connect(self.clear)

    def put(self, value: str) -> None:
        """Put `value` on the clipboard until the time is over."""
        data = QMimeData()
        data.setText(value)
        for name, content in _PRIVATE_FORMATS.items():
            data.setData(name, content)
        QGuiApplication.clipboard().setMimeData(data)
        self._value = value
        self._timer.start(CLEARED_AFTER_S * 1000)

    def clear(self) -> None:
        """Empty the clipboard, if the value is still there."""
        value, self._value = self._value, ""
        self._timer.stop()
        if value and QGuiApplication.clipboard().text() == value:
            QGuiApplication.clipboard().clear()
