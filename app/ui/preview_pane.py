"""The diff or preview of the change that is selected in a review.

Owns how a `Preview` looks. It must not fetch previews. Thread: UI.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QPixmap, QResizeEvent
from PySide6.QtWidgets import QFrame, QStackedWidget, QWidget

from app.ui.highlight import DiffHighlighter
from app.ui.theme import SPACE_M, SPACE_S, SPACE_XS
from app.ui.widgets import CodeBox, ElidedLabel, button, column, label, row

if TYPE_CHECKING:
    from app.engine.previews import Preview
    from sandbox.thumbnails import Thumbnail

SHOWN_LINES = 2000


class PreviewPane(QFrame):
    """Shows one preview at a time, or a line that says why there is none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "side")
        self._lines: tuple[str, ...] = ()
        self._pictures = (_Picture(self.tr("Before")), _Picture(self.tr("After")))
        self._title = ElidedLabel("", "strong")
        self._origin = ElidedLabel("", "meta")
        self._origin.hide()
        self._note = label("", "caution", wrap=True)
        self._note.hide()
        self._text = CodeBox(self.tr("Difference"), max_lines=100_000)
        self._text.setMinimumHeight(60)
        self._text.setMaximumHeight(16_777_215)
        DiffHighlighter(self._text.document())
        self._image = QWidget()
        self._image.setProperty("role", "plain")
        both = row(self._image)
        for picture in self._pictures:
            both.addWidget(picture, 1)
        self._message = label("", "muted", wrap=True)
        self._message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._more = button(self.tr("Show all"), "word", on_click=self._show_all)
        self._pages = QStackedWidget()
        for page in (self._message, self._text, self._image):
            self._pages.addWidget(page)
        layout = column(self, spacing=SPACE_S)
        layout.setContentsMargins(SPACE_M, 0, 0, 0)
        layout.addWidget(self._title)
        layout.addWidget(self._origin)
        layout.addWidget(self._note)
        layout.addWidget(self._pages, 1)
        under = row()
        under.addWidget(self._more)
        under.addStretch(1)
        layout.addLayout(under)
        self.show_message("", self.tr("Select a change to see what it does."))

    def show_origin(self, text: str) -> None:
        """Say what made the change that is shown; empty hides it."""
        self._origin.set_whole(text)
        self._origin.setVisible(bool(text))

    def show_message(self, title: str, text: str) -> None:
        """Show a sentence instead of a preview."""
        self._title.set_whole(title)
        self._note.hide()
        self._more.hide()
        self._message.setText(text)
        self._pages.setCurrentWidget(self._message)

    def show_preview(self, title: str, preview: Preview) -> None:
        """Show `preview` under `title`."""
        self._title.set_whole(title)
        self._note.setText(preview.note)
        self._note.setVisible(bool(preview.note) and preview.kind != "none")
        self._more.hide()
        match preview.kind:
            case "text":
                self._show_lines(tuple(preview.lines))
            case "image":
                self._show_pictures(preview)
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

    def _say(self, text: str) -> None:
        self._message.setText(text)
        self._pages.setCurrentWidget(self._message)

    def _show_pictures(self, preview: Preview) -> None:
        """Show the picture, or the one before beside the one after."""
        sides = (preview.before, preview.after)
        is_pair = None not in sides
        for picture, side in zip(self._pictures, sides, strict=True):
            picture.show_thumbnail(side, captioned=is_pair)
        if not any(picture.measure() for picture in self._pictures):
            self._say(self.tr("This picture cannot be shown."))
            return
        self._pages.setCurrentWidget(self._image)

    def measure(self) -> str:
        """What is said about the pictures' sizes; empty when there are none."""
        if self._pages.currentWidget() is not self._image:
            return ""
        return ", ".join(found for picture in self._pictures if (found := picture.measure()))

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


class _Picture(QWidget):
    """A small picture, fitted into the room that there is, with its size and which one it is."""

    def __init__(self, caption: str) -> None:
        super().__init__()
        self.setProperty("role", "plain")
        self._caption = caption
        self._pixmap = QPixmap()
        self._said = label("", "meta")
        self._image = label("", "muted")
        self._image.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._image.setMinimumSize(1, 1)
        layout = column(self, spacing=SPACE_XS)
        layout.addWidget(self._said)
        layout.addWidget(self._image, 1)

    def show_thumbnail(self, thumbnail: Thumbnail | None, *, captioned: bool) -> None:
        """Show it, or nothing. It was made by Drydock, and is small."""
        self._pixmap = QPixmap()
        if thumbnail is not None:
            self._pixmap.loadFromData(thumbnail.png, "PNG")
        self.setVisible(not self._pixmap.isNull())
        if thumbnail is None or self._pixmap.isNull():
            self._said.setText("")
            return
        size = self.tr("{0} \u00d7 {1} pixels").format(
            f"{thumbnail.width:,}", f"{thumbnail.height:,}"
        )
        self._said.setText(f"{self._caption}: {size}" if captioned else size)
        self._image.setAccessibleName(self.tr("Picture"))
        self._image.setAccessibleDescription(self._said.text())
        self._fit()

    def measure(self) -> str:
        """What is said about it; empty when nothing is shown."""
        return self._said.text()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        if self._pixmap.isNull():
            return
        room = self._image.size()
        fitted = self._pixmap
        if fitted.width() > room.width() or fitted.height() > room.height():
            fitted = fitted.scaled(
                room,
                Qt.AspectRatioMode.KeepAspectRatio,
                Qt.TransformationMode.SmoothTransformation,
            )
        self._image.setPixmap(fitted)
