"""The settings' page about connections: offline, proxy, mirrors.

Thread: UI.
"""

from __future__ import annotations

from pydantic import ValidationError
from PySide6.QtWidgets import QCheckBox, QFormLayout, QLineEdit, QWidget

from app.settings import NetworkSettings
from app.ui.theme import SPACE_L, SPACE_M, SPACE_S
from app.ui.widgets import label


class NetworkPage(QWidget):
    """A form of `NetworkSettings`."""

    def __init__(self, settings: NetworkSettings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "plain")
        form = QFormLayout(self)
        form.setContentsMargins(0, SPACE_M, 0, 0)
        form.setHorizontalSpacing(SPACE_L)
        form.setVerticalSpacing(SPACE_S)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self.offline = QCheckBox(self.tr("Offline: connect to nothing"))
        self.offline.setChecked(settings.offline)
        form.addRow(self.offline)
        text = self.tr("No downloads, no models elsewhere, no requests of programs.")
        form.addRow(label(text, "meta", wrap=True))
        self.proxy = QLineEdit(settings.proxy)
        self.proxy.setPlaceholderText(self.tr("as the system says, or http://proxy.example:3128"))
        self.proxy.setAccessibleName(self.tr("Proxy"))
        form.addRow(self.tr("Proxy"), self.proxy)
        text = self.tr(
            "For downloads and models elsewhere. One with a password: set HTTPS_PROXY instead."
        )
        form.addRow(label(text, "meta", wrap=True))
        self.mirrors = QLineEdit(" ".join(settings.mirrors))
        self.mirrors.setPlaceholderText("https://mirror.example")
        self.mirrors.setAccessibleName(self.tr("Mirrors of the Hub"))
        form.addRow(self.tr("Mirrors of the Hub"), self.mirrors)
        text = self.tr("Asked for a model's file when the Hub does not give it; space between two.")
        form.addRow(label(text, "meta", wrap=True))
        self._wrong = label("", "caution", wrap=True)
        self._wrong.hide()
        form.addRow(self._wrong)

    def chosen(self) -> NetworkSettings | None:
        """What the form says; None: something is wrong with it, which is told there."""
        try:
            made = NetworkSettings(
                offline=self.offline.isChecked(),
                proxy=self.proxy.text().strip(),
                mirrors=tuple(self.mirrors.text().replace(",", " ").split()),
            )
        except ValidationError as error:
            proxy = any(item["loc"][0] == "proxy" for item in error.errors())
            self._wrong.setText(
                self.tr("The proxy is written http://HOST:PORT, without a name and password.")
                if proxy
                else self.tr("A mirror is written https://HOST, without a name and password.")
            )
            self._wrong.show()
            return None
        self._wrong.hide()
        return made
