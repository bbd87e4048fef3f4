"""What an image says of itself, and that broken ones are errors of the program's own."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from sandbox.images import info_of


def picture(
    kind: str, tags: dict[int, object] | None = None, exif: dict[int, object] | None = None
) -> bytes:
    image = Image.new("RGB", (40, 30))
    notes = Image.Exif()
    notes.update(tags or {})
    notes.get_ifd(0x8769).update(exif or {})
    target = io.BytesIO()
    image.save(target, kind, exif=notes) if tags or exif else image.save(target, kind)
    return target.getvalue()


def test_a_photo_tells_when_and_with_what_it_was_taken() -> None:
    data = picture(
        "JPEG",
        {0x010F: "Canon", 0x0110: "Canon EOS R5", 0x0112: 6, 0x0132: "2024:06:01 08:00:00"},
        {0x9003: "2023:12:31 23:59:58"},
    )
    assert info_of(data, "a.jpg") == {
        "format": "JPEG",
        "width": 40,
        "height": 30,
        "taken": "2023-12-31T23:59:58",
        "camera": "Canon EOS R5",
        "orientation": 6,
    }


def test_the_maker_is_part_of_the_camera_unless_the_model_names_it() -> None:
    assert info_of(picture("JPEG", {0x010F: "Fair", 0x0110: "P30"}), "a")["camera"] == "Fair P30"


@pytest.mark.parametrize("value", ["0000:00:00 00:00:00", "", "yesterday", "    :  :     :  :  "])
def test_a_date_that_is_none_is_unknown(value: str) -> None:
    assert info_of(picture("JPEG", {0x0110: "x"}, {0x9003: value}), "a.jpg")["taken"] is None


@pytest.mark.parametrize("kind", ["PNG", "GIF", "BMP", "TIFF", "WEBP", "JPEG"])
def test_every_usual_format_is_known(kind: str) -> None:
    info = info_of(picture(kind), f"a.{kind}")
    assert (info["format"], info["width"], info["height"]) == (kind, 40, 30)


def test_another_date_stands_in_when_the_first_is_missing() -> None:
    assert info_of(picture("JPEG", {0x0132: "2020:01:02 03:04:05"}), "a")["taken"] == (
        "2020-01-02T03:04:05"
    )


def test_a_file_that_is_no_image_is_named() -> None:
    with pytest.raises(ValueError, match=r"notes\.txt is not an image"):
        info_of(b"hello", "notes.txt")


def test_a_picture_with_a_broken_exif_block_is_still_a_picture() -> None:
    data = bytearray(picture("JPEG", {0x0110: "x"}, {0x9003: "2023:12:31 23:59:58"}))
    at = data.index(b"Exif\0\0") + 6
    data[at : at + 30] = b"\xff" * 30
    assert info_of(bytes(data), "a.jpg")["width"] == 40


@pytest.mark.parametrize("size", [4, 12, 30, 60])
def test_a_cut_off_image_is_an_error_of_the_file(size: int) -> None:
    for kind in ("PNG", "JPEG", "GIF", "TIFF", "WEBP"):
        assert problem_of(picture(kind)[:size]) in (
            "",
            "a is a broken image",
            "a is not an image that can be read",
        )


def problem_of(data: bytes) -> str:
    """Why an image cannot be read; nothing when it can."""
    try:
        info_of(data, "a")
    except ValueError as error:
        return str(error)
    return ""


def test_a_picture_that_would_unpack_to_gigabytes_is_only_measured() -> None:
    data = bytearray(picture("BMP"))
    data[18:26] = (12_000).to_bytes(4, "little") * 2
    assert info_of(bytes(data), "a.bmp")["width"] == 12_000
