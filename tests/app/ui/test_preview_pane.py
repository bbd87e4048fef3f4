"""Pictures in the review: shown, fitted, and measured."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QBuffer, QByteArray, QIODevice
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from app.engine.previews import Preview
from app.ui.preview_pane import PreviewPane
from sandbox.thumbnails import Thumbnail


def picture(width: int, height: int, form: str = "PNG") -> bytes:
    """An image file of that many pixels."""
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(0x336699)
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    assert image.save(buffer, form)
    return data.data()


@pytest.fixture
def pane(qtbot: QtBot) -> PreviewPane:
    """A pane on the screen."""
    made = PreviewPane()
    qtbot.addWidget(made)
    made.resize(380, 420)
    made.show()
    return made


def small(width: int, height: int, *, of: tuple[int, int] | None = None) -> Thumbnail:
    """A thumbnail of a picture that has `of` pixels."""
    whole = of or (width, height)
    return Thumbnail(picture(width, height), *whole)


def test_a_picture_is_shown_fitted_with_its_size_in_pixels(pane: PreviewPane) -> None:
    after = small(600, 400, of=(3000, 2000))
    pane.show_preview("a", Preview(kind="image", after=after))
    assert pane.measure() == "3,000 \u00d7 2,000 pixels"
    shown = pane._pictures[1]._image.pixmap()
    assert 0 < shown.width() <= pane.width()
    assert abs(shown.width() / shown.height() - 1.5) < 0.05


def test_a_changed_picture_is_shown_before_and_after(pane: PreviewPane) -> None:
    pane.show_preview("a", Preview(kind="image", before=small(40, 20), after=small(20, 40)))
    assert pane.measure() == "Before: 40 \u00d7 20 pixels, After: 20 \u00d7 40 pixels"
    assert all(picture.isVisible() for picture in pane._pictures)


def test_a_broken_picture_says_so_and_the_next_text_has_no_size(pane: PreviewPane) -> None:
    pane.show_preview("a", Preview(kind="image", after=Thumbnail(b"no picture", 1, 1)))
    assert pane.text() == "This picture cannot be shown."
    assert pane.measure() == ""
    pane.show_preview("a", Preview(kind="image", after=small(5, 5)))
    assert pane.measure()
    pane.show_preview("b", Preview(kind="text", lines=("+one",)))
    assert pane.measure() == ""
