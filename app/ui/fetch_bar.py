"""A fetch on its way: bar, bytes, speed, time left; pause, go on, cancel; and how it ended.

Thread: UI.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QProgressBar, QWidget

from app.engine.events import FetchEnded, FetchProgressed
from app.ui import words
from app.ui.theme import SPACE_XS
from app.ui.widgets import button, column, label, row

if TYPE_CHECKING:
    from app.engine.fetches import Download

BAR_STEPS = 1000


class FetchBar(QWidget):
    """Progress of one model; hidden while there is nothing to tell."""

    pause_wanted = Signal()
    resume_wanted = Signal()
    cancel_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "plain")
        self._live = False
        self._bar = QProgressBar()
        self._bar.setAccessibleName(self.tr("Download"))
        self._bar.setTextVisible(False)
        self._text = label("", "meta", wrap=True)
        self._pause = button(self.tr("Pause"), "word", name=self.tr("Pause download"),
                             on_click=self.pause_wanted.emit)  # fmt: skip
        self._resume = button(self.tr("Go on"), "word", name=self.tr("Go on with the download"),
                              on_click=self.resume_wanted.emit)  # fmt: skip
        self._cancel = button(
            self.tr("Cancel download"), "word", on_click=self.cancel_wanted.emit,
            tip=self.tr("What has arrived is removed. Pause keeps it."),
        )  # fmt: skip
        layout = column(self, spacing=SPACE_XS)
        layout.addWidget(self._bar)
        under = row()
        under.addWidget(self._text, 1)
        for one in (self._pause, self._resume, self._cancel):
            under.addWidget(one)
        layout.addLayout(under)
        self.hide()

    def show_download(self, download: Download | None, total_bytes: int) -> None:
        """Show how a model of the queue stands; numbers of one under way come as progress."""
        if download is None:
            self._live = False
            if self._cancel.isVisibleTo(self):
                self.hide()
            return
        running = download.state in {"downloading", "verifying"}
        self._live = self._live and running
        if not self._live:
            self._show_bar(download.done_bytes, total_bytes or None)
            self._text.setText(self._words(download, total_bytes))
        self._pause.setVisible(running or download.state == "waiting")
        self._resume.setVisible(not running and download.state != "waiting")
        self._resume.setText(
            self.tr("Try again") if download.state == "failed" else self.tr("Go on")
        )
        self._cancel.show()
        self.show()

    def _words(self, download: Download, total_bytes: int) -> str:
        have = words.size(download.done_bytes)
        if total_bytes:
            have = self.tr("{0} of {1}").format(have, words.size(total_bytes))
        match download.state:
            case "waiting" if download.ahead:
                text = self.tr("Waits for {0}")
                return text.format(words.count(download.ahead, "download", "downloads"))
            case "waiting":
                return self.tr("Waits; it goes on when Drydock is online")
            case "downloading":
                return self.tr("Starting")
            case "verifying":
                return self.tr("Checking the file")
            case "paused":
                return self.tr("Paused, {0} here").format(have)
            case "failed":
                return f"{download.problem} {download.hint}".strip()

    def _show_bar(self, done_bytes: int, total_bytes: int | None) -> None:
        if total_bytes:
            self._bar.setRange(0, BAR_STEPS)
            self._bar.setValue(min(BAR_STEPS, round(BAR_STEPS * done_bytes / total_bytes)))
        else:
            self._bar.setRange(0, 0)
        self._bar.show()

    def show_progress(self, progress: FetchProgressed) -> None:
        """Show how far it is."""
        self._live = True
        self._show_bar(progress.done_bytes, progress.total_bytes)
        done = words.size(progress.done_bytes)
        if progress.total_bytes:
            done = self.tr("{0} of {1}").format(done, words.size(progress.total_bytes))
        if progress.verifying:
            done = self.tr("Checking the file, {0}").format(done)
        parts = [done]
        if progress.bytes_per_s:
            parts.append(self.tr("{0} per second").format(words.size(round(progress.bytes_per_s))))
        if progress.seconds_left is not None:
            parts.append(self.tr("{0} left").format(words.seconds(progress.seconds_left)))
        self._text.setText(", ".join(parts))
        self._pause.show()
        self._resume.hide()
        self._cancel.show()
        self.show()

    def show_end(self, ended: FetchEnded) -> None:
        """Show why it ended; a success needs no words."""
        self._live = False
        self._bar.hide()
        self._pause.hide()
        self._cancel.hide()
        self._resume.setVisible(bool(ended.problem))
        self._resume.setText(self.tr("Try again"))
        if ended.problem:
            self._text.setText(f"{ended.problem} {ended.hint}".strip())
            self.show()
        else:
            self.hide()

    def text(self) -> str:
        """The line under the bar."""
        return self._text.text()
