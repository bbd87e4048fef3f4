"""Small pictures of images that strangers made, within bounds.

Owns the formats that are decoded and how large a picture may be. Pure, but slow and fed with what
strangers made: runs in `document_worker.py`'s process, not in the app's.
"""

from __future__ import annotations

import io
import warnings
from typing import NamedTuple

_FORMATS = ("JPEG", "PNG", "TIFF", "WEBP", "GIF", "BMP", "ICO")
_PIXELS = 100_000_000
ENDINGS = frozenset(
    ".png .jpg .jpeg .jpe .gif .bmp .webp .tif .tiff .ico".split()  # noqa: SIM905
)
"""Of the names whose files are worth trying."""


class Thumbnail(NamedTuple):
    """A PNG as its camera held it, and the size in pixels of the whole."""

    png: bytes
    width: int
    height: int


def thumbnail_of(data: bytes, most_px: int) -> Thumbnail:
    """An image reduced to at most `most_px` a side; raises `ValueError` saying why not."""
    # The modules register their formats; without them Pillow would load every one that it has.
    from PIL import (
        IcoImagePlugin,
        Image,
        ImageOps,
        TiffImagePlugin,
        UnidentifiedImageError,
        WebPImagePlugin,
    )

    assert IcoImagePlugin
    assert TiffImagePlugin
    assert WebPImagePlugin
    Image.MAX_IMAGE_PIXELS = _PIXELS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        try:
            with Image.open(io.BytesIO(data), formats=_FORMATS) as image:
                width, height = image.size
                turned = image.getexif().get(0x0112) in (5, 6, 7, 8)
                image.draft("RGB", (most_px, most_px))  # JPEG: decoded small at once
                small = ImageOps.exif_transpose(image)
                small.thumbnail((most_px, most_px))
                made = io.BytesIO()
                small.convert("RGBA").save(made, "PNG")
        except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
            raise ValueError("the picture has too many pixels") from error
        except UnidentifiedImageError as error:
            raise ValueError("it is not a picture of a known format") from error
        except (OSError, SyntaxError, ValueError, EOFError) as error:
            raise ValueError("the picture is damaged") from error
    if turned:
        width, height = height, width
    return Thumbnail(made.getvalue(), width, height)
