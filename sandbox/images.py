"""The tool `image_info`: format, size and what the camera noted, without decoding the picture.

Owns reading an image's header and EXIF data. Formats are named, so that no other decoder runs.
Thread: the runner's.
"""

from __future__ import annotations

import io
import warnings
from datetime import datetime
from pathlib import Path
from typing import Any, TypedDict

from sandbox.names import shown
from sandbox.tool_run import ToolRun
from sandbox.tools import Planned, tool

_FORMATS = ("JPEG", "PNG", "TIFF", "WEBP", "GIF", "BMP")
# Tags of Exif 3.0 (CIPA DC-008), table 4 and following.
_MAKE, _MODEL, _ORIENTATION, _CHANGED, _EXIF = 0x010F, 0x0110, 0x0112, 0x0132, 0x8769
_TAKEN, _DIGITIZED = 0x9003, 0x9004


class ImageInfo(TypedDict):
    """`taken`: when the camera took it, ISO form ("2024-05-01T12:30:00"), None if unknown."""

    format: str
    width: int
    height: int
    taken: str | None
    camera: str | None
    orientation: int | None


def image_info(run: ToolRun, path: str | Path) -> Planned[ImageInfo]:
    """Size, format and EXIF data of a photo or image: the date taken, the camera.

    Raises ValueError for a file that is not an image.
    """
    effect, read = run.read(run.paths.path(path))
    name = shown(str(path).rpartition("/")[2])
    return Planned(effects=(effect,), do=lambda: info_of(read(), name))


def info_of(data: bytes, name: str) -> ImageInfo:
    """What the header of an image says; raises `ValueError` when it is none."""
    # The modules register their formats; without them Pillow would load every one that it has.
    from PIL import Image, TiffImagePlugin, UnidentifiedImageError, WebPImagePlugin

    assert TiffImagePlugin
    assert WebPImagePlugin

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with Image.open(io.BytesIO(data), formats=_FORMATS) as image:
                width, height = image.size
                kind = image.format or ""
                tags = _tags(image)
        except UnidentifiedImageError:
            raise ValueError(f"{name} is not an image that can be read") from None
        except (OSError, SyntaxError, Image.DecompressionBombError, MemoryError) as error:
            raise ValueError(f"{name} is a broken image") from error
    orientation = tags.get(_ORIENTATION)
    return ImageInfo(
        format="JPEG" if kind == "MPO" else kind,
        width=width,
        height=height,
        taken=_date(tags.get(_TAKEN)) or _date(tags.get(_DIGITIZED)) or _date(tags.get(_CHANGED)),
        camera=_camera(_text(tags.get(_MAKE)), _text(tags.get(_MODEL))),
        orientation=orientation if isinstance(orientation, int) else None,
    )


def _tags(image: Any) -> dict[int, object]:
    """The EXIF tags of an image; a broken block counts as none, since the picture is still one."""
    try:
        exif = image.getexif()
        return {**dict(exif), **dict(exif.get_ifd(_EXIF))}
    except Exception:  # any malformed block, in any way, is no block
        return {}


def _date(value: object) -> str | None:
    text = _text(value)
    try:
        return datetime.strptime(text[:19], "%Y:%m:%d %H:%M:%S").isoformat()  # noqa: DTZ007  # as noted: the camera's own clock
    except ValueError:
        return None


def _text(value: object) -> str:
    if isinstance(value, bytes):
        value = value.decode("latin-1")
    return value.replace("\0", "").strip() if isinstance(value, str) else ""


def _camera(make: str, model: str) -> str | None:
    if make and model.casefold().startswith(make.split()[0].casefold()):
        make = ""
    return f"{make} {model}".strip() or None


IMAGE_TOOLS = (
    tool(
        image_info,
        kinds=["read"],
        roles={"path": "path"},
        labels=["private"],
        cost="files",
        cues=[
            "exif",
            "resolution",
            "pixels",
            "camera model",
            "date taken",
            "photos taken",
            "pictures taken",
            "images taken",
        ],
    ),
)
