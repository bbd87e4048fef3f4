"""Small pictures: sizes, turned photos, and what is no picture or too much of one."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator

import pytest
from PIL import Image

from sandbox.document_process import DocumentProcess
from sandbox.thumbnails import thumbnail_of


def picture(width: int, height: int, form: str, **values: object) -> bytes:
    made = io.BytesIO()
    Image.new("RGB", (width, height), "teal").save(made, form, **values)
    return made.getvalue()


def bomb() -> bytes:
    """A PNG of a few hundred bytes that says it has ten thousand million pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

    header = struct.pack(">IIBBBBB", 100_000, 100_000, 8, 2, 0, 0, 0)
    body = zlib.compress(b"\0" * 1000)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body)


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF"])
def test_a_large_picture_becomes_small_and_its_size_is_told(form: str) -> None:
    found = thumbnail_of(picture(900, 600, form), 300)
    assert (found.width, found.height) == (900, 600)
    assert Image.open(io.BytesIO(found.png)).size == (300, 200)


def test_a_small_one_is_not_blown_up() -> None:
    assert Image.open(io.BytesIO(thumbnail_of(picture(9, 6, "PNG"), 300).png)).size == (9, 6)


def test_a_photo_held_upright_is_upright() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    found = thumbnail_of(picture(80, 40, "JPEG", exif=exif), 300)
    assert (found.width, found.height) == (40, 80)
    assert Image.open(io.BytesIO(found.png)).size == (40, 80)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"no picture", "not a picture"),
        (b"", "not a picture"),
        (picture(80, 40, "PNG")[:60], "damaged"),
        (bomb(), "too many pixels"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "not a picture"),
    ],
)
def test_what_is_no_picture_is_refused(data: bytes, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        thumbnail_of(data, 300)


@pytest.fixture
def process() -> Iterator[DocumentProcess]:
    made = DocumentProcess(lambda: False)
    yield made
    made.close()


def test_the_process_makes_them_and_lives_on_after_a_bad_one(process: DocumentProcess) -> None:
    with pytest.raises(ValueError, match=r"a\.png cannot be read: the picture is damaged"):
        process.thumbnail("a.png", picture(80, 40, "PNG")[:60], 300).result()
    found = process.thumbnail("b.png", picture(900, 600, "PNG"), 300).result()
    assert (found.width, found.height) == (900, 600)
    assert process.start("c.txt", b"text", 100).result() == "text"
