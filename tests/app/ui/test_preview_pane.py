"""Pictures in the review: shown, fitted, and measured."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QBuffer, QByteArray, QIODevice
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from app.engine.previews import Preview
from app.ui.preview_pane import DECODED_PX, PreviewPane


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


@pytest.mark.parametrize(
    ("width", "height", "form", "said"),
    [(120, 80, "PNG", "120 \u00d7 80 pixels"), (3000, 2000, "JPG", "3,000 \u00d7 2,000 pixels")],
)
def test_a_picture_is_shown_with_its_size_in_pixels(
    pane: PreviewPane, width: int, height: int, form: str, said: str
) -> None:
    pane.show_preview("a", Preview(kind="image", picture=picture(width, height, form)))
    assert pane.measure() == said
    shown = pane._image.pixmap()
    assert 0 < shown.width() <= min(width, pane.width())
    assert max(pane._pixmap.width(), pane._pixmap.height()) <= DECODED_PX
    assert abs(shown.width() / shown.height() - width / height) < 0.05


def test_a_photo_held_upright_is_measured_upright(pane: PreviewPane) -> None:
    # An Exif block that says: turn by 90 degrees (orientation 6), big-endian, one entry.
    entry = b"\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00"
    tiff = b"MM\x00\x2a\x00\x00\x00\x08\x00\x01" + entry + b"\x00\x00\x00\x00"
    body = b"Exif\x00\x00" + tiff
    block = b"\xff\xe1" + (len(body) + 2).to_bytes(2, "big") + body
    plain = picture(120, 80, "JPG")
    pane.show_preview("a", Preview(kind="image", picture=plain[:2] + block + plain[2:]))
    assert pane.measure() == "80 \u00d7 120 pixels"
    assert pane._pixmap.height() == 120


def test_a_broken_picture_says_so_and_the_next_text_has_no_size(pane: PreviewPane) -> None:
    pane.show_preview("a", Preview(kind="image", picture=b"no picture"))
    assert pane.text() == "This picture cannot be shown."
    assert pane.measure() == ""
    pane.show_preview("a", Preview(kind="image", picture=picture(5, 5)))
    assert pane.measure()
    pane.show_preview("b", Preview(kind="text", lines=("+one",)))
    assert pane.measure() == ""
