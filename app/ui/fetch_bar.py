"""A fetch on its way: bar, bytes, time left, Cancel; and how it ended.

Thread: UI.
"""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QProgressBar, QWidget

from app.engine.events import FetchEnded, FetchProgressed
from app.ui import words
from app.ui.theme import SPACE_XS
from app.ui.widgets import button, column, label, row

BAR_STEPS = 1000


class FetchBar(QWidget):
    """Progress of one model; hidden while there is nothing to tell."""

    cancel_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "plain")
        self._bar = QProgressBar()
        self._bar.setAccessibleName(self.tr("Download"))
        self._bar.setTextVisible(False)
        self._text = label("", "meta", wrap=True)
        self._cancel = button(self.tr("Cancel download"), "word", on_click=self.cancel_wanted.emit)
        layout = column(self, spacing=SPACE_XS)
        layout.addWidget(self._bar)
        under = row()
        under.addWidget(self._text, 1)
        under.addWidget(self._cancel)
        layout.addLayout(under)
        self.hide()

    def set_running(self, running: bool) -> None:
        """Show that a fetch runs whose numbers are not known yet, or show nothing."""
        if running and self.isHidden():
            self._bar.setRange(0, 0)
            self._bar.show()
            self._cancel.show()
            self._text.setText(self.tr("Starting"))
            self.show()
        elif not running and self._cancel.isVisibleTo(self):
            self.hide()

    def show_progress(self, progress: FetchProgressed) -> None:
        """Show how far it is."""
        done = words.size(progress.done_bytes)
        if progress.total_bytes:
            self._bar.setRange(0, BAR_STEPS)
            self._bar.setValue(round(BAR_STEPS * progress.done_bytes / progress.total_bytes))
            done = self.tr("{0} of {1}").format(done, words.size(progress.total_bytes))
        else:
            self._bar.setRange(0, 0)
        parts = [done]
        if progress.bytes_per_s:
            parts.append(self.tr("{0} per second").format(words.size(round(progress.bytes_per_s))))
        if progress.seconds_left is not None:
            parts.append(self.tr("{0} left").format(words.seconds(progress.seconds_left)))
        self._text.setText(", ".join(parts))
        self._bar.show()
        self._cancel.show()
        self.show()

    def show_end(self, ended: FetchEnded) -> None:
        """Show why it ended; a success needs no words."""
        self._bar.hide()
        self._cancel.hide()
        if ended.problem:
            self._text.setText(f"{ended.problem} {ended.hint}".strip())
            self.show()
        elif ended.cancelled:
            self._text.setText(self.tr("Cancelled. What was fetched is kept and continued."))
            self.show()
        else:
            self.hide()

    def text(self) -> str:
        """The line under the bar."""
        return self._text.text()
