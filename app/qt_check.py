"""Whether Qt's libraries can be loaded, and which system packages bring those that are missing.

Thread: any; imports Qt only to try. Source of the list: `ldd` over PySide6-Essentials 6.12 on bare
Debian 12.
"""

from __future__ import annotations

import importlib
import re
import sys

_PACKAGES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libGLX.so.0": "libgl1",
    "libOpenGL.so.0": "libopengl0",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libX11.so.6": "libx11-6",
}
_ALL = "libegl1 libgl1 libxkbcommon0 libdbus-1-3 libfontconfig1 libglib2.0-0 libxcb-cursor0"


def missing_qt_hint() -> str:
    """What to install so that Qt loads; empty when it does."""
    try:
        importlib.import_module("PySide6.QtWidgets")
    except ImportError as error:
        return _hint(str(error))
    return ""


def _hint(message: str) -> str:
    if sys.platform != "linux":
        return f"Install PySide6-Essentials again ({message})."
    found = re.search(r"(lib[\w.+-]+\.so[\w.]*)", message)
    library = found.group(1) if found else ""
    named = f"{library} is missing. " if library else f"{message}. "
    first = _PACKAGES.get(library, "")
    packages = " ".join(dict.fromkeys([*([first] if first else []), *_ALL.split()]))
    return f"{named}On Debian and Ubuntu: sudo apt-get install {packages}"
