"""The diff or preview of the change that is selected in a review.

Owns how a `Preview` looks. It must not fetch previews. Thread: UI.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QBuffer, QByteArray, QSize, Qt
from PySide6.QtGui import QImageIOHandler, QImageReader, QPixmap, QResizeEvent
from PySide6.QtWidgets import QFrame, QStackedWidget, QWidget

from app.ui.highlight import DiffHighlighter
from app.ui.theme import SPACE_M, SPACE_S
from app.ui.widgets import CodeBox, ElidedLabel, button, column, label, row

if TYPE_CHECKING:
    from app.engine.previews import Preview

SHOWN_LINES = 2000
DECODED_PX = 1600
"""A larger picture is decoded at this width or height: enough for the pane on any screen."""


class PreviewPane(QFrame):
    """Shows one preview at a time, or a line that says why there is none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "side")
        self._lines: tuple[str, ...] = ()
        self._pixmap = QPixmap()
        self._title = ElidedLabel("", "strong")
        self._note = label("", "caution", wrap=True)
        self._note.hide()
        self._measure = label("", "meta")
        self._measure.hide()
        self._text = CodeBox(self.tr("Difference"), max_lines=100_000)
        self._text.setMinimumHeight(60)
        self._text.setMaximumHeight(16_777_215)
        DiffHighlighter(self._text.document())
        self._image = label("", "muted")
        self._image.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._image.setAccessibleName(self.tr("Picture"))
        self._message = label("", "muted", wrap=True)
        self._message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._more = button(self.tr("Show all"), "word", on_click=self._show_all)
        self._pages = QStackedWidget()
        for page in (self._message, self._text, self._image):
            self._pages.addWidget(page)
        layout = column(self, spacing=SPACE_S)
        layout.setContentsMargins(SPACE_M, 0, 0, 0)
        layout.addWidget(self._title)
        layout.addWidget(self._measure)
        layout.addWidget(self._note)
        layout.addWidget(self._pages, 1)
        under = row()
        under.addWidget(self._more)
        under.addStretch(1)
        layout.addLayout(under)
        self.show_message("", self.tr("Select a change to see what it does."))

    def show_message(self, title: str, text: str) -> None:
        """Show a sentence instead of a preview."""
        self._title.set_whole(title)
        self._note.hide()
        self._measure.hide()
        self._more.hide()
        self._message.setText(text)
        self._pages.setCurrentWidget(self._message)

    def show_preview(self, title: str, preview: Preview) -> None:
        """Show `preview` under `title`."""
        self._title.set_whole(title)
        self._note.setText(preview.note)
        self._note.setVisible(bool(preview.note) and preview.kind != "none")
        self._measure.hide()
        self._more.hide()
        match preview.kind:
            case "text":
                self._show_lines(tuple(preview.lines))
            case "image":
                self._show_picture(preview.picture)
            case "binary":
                self._say(self.tr("Not a text: its content cannot be compared line by line."))
            case "folder":
                self._say(self.tr("A folder."))
            case "none":
                self._say(preview.note or self.tr("The content stays as it is."))

    def text(self) -> str:
        """The text on the screen, for tests and copying."""
        on_text = self._pages.currentWidget() is self._text
        return self._text.toPlainText() if on_text else self._message.text()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._scale()

    def _say(self, text: str) -> None:
        self._message.setText(text)
        self._pages.setCurrentWidget(self._message)

    def _show_picture(self, data: bytes) -> None:
        """Show a picture as its camera held it, and how large it is."""
        buffer = QBuffer()
        buffer.setData(QByteArray(data))
        reader = QImageReader(buffer)
        reader.setAutoTransform(True)
        whole = reader.size()
        if whole.width() > DECODED_PX or whole.height() > DECODED_PX:
            room = QSize(DECODED_PX, DECODED_PX)
            reader.setScaledSize(whole.scaled(room, Qt.AspectRatioMode.KeepAspectRatio))
        turned = reader.transformation() & QImageIOHandler.Transformation.TransformationRotate90
        self._pixmap = QPixmap.fromImage(reader.read())
        if not whole.isValid():
            whole = self._pixmap.size()
        elif turned:
            whole.transpose()
        self._measure.setText(
            self.tr("{0} \u00d7 {1} pixels").format(f"{whole.width():,}", f"{whole.height():,}")
        )
        self._measure.setVisible(not whole.isEmpty())
        if self._pixmap.isNull():
            self._say(self.tr("This picture cannot be shown."))
        else:
            self._image.setAccessibleDescription(self._measure.text())
            self._pages.setCurrentWidget(self._image)
            self._scale()

    def measure(self) -> str:
        """What is said about a picture's size; empty when there is none."""
        return "" if self._measure.isHidden() else self._measure.text()

    def _show_lines(self, lines: tuple[str, ...]) -> None:
        self._lines = lines
        if not lines:
            self._say(self.tr("There are no lines to show: the file is empty or stays the same."))
            return
        self._text.setPlainText("\n".join(lines[:SHOWN_LINES]))
        self._more.setVisible(len(lines) > SHOWN_LINES)
        self._more.setText(self.tr("Show all, {0} lines").format(f"{len(lines):,}"))
        self._pages.setCurrentWidget(self._text)

    def _show_all(self) -> None:
        self._text.setPlainText("\n".join(self._lines))
        self._more.hide()

    def _scale(self) -> None:
        if self._pages.currentWidget() is self._image and not self._pixmap.isNull():
            room = self._pages.size()
            fitted = self._pixmap
            if fitted.width() > room.width() or fitted.height() > room.height():
                fitted = fitted.scaled(
                    room,
                    Qt.AspectRatioMode.KeepAspectRatio,
                    Qt.TransformationMode.SmoothTransformation,
                )
            self._image.setPixmap(fitted)
