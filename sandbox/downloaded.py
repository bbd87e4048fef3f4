"""Whether the system marks a file as one that came from the network.

Owns where the marks are: an attribute on Linux and macOS, a stream of the file on Windows.
Thread: any; it looks at the disk.

Source: freedesktop.org "Common Extended Attributes" (user.xdg.origin.url); Apple quarantine
(com.apple.quarantine); Microsoft [MS-FSCC] 5.6.1, Zone.Identifier.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

_ATTRIBUTES = ("user.xdg.origin.url", "com.apple.quarantine", "user.com.apple.quarantine")
_FROM_NETWORK = 3


def is_downloaded(path: str) -> bool:
    """Whether a file is marked; False for what cannot be looked at."""
    try:
        if sys.platform == "win32":
            return _zone(f"{path}:Zone.Identifier") >= _FROM_NETWORK
        listed: object = getattr(os, "listxattr", _no_attributes)(path)
        return isinstance(listed, list) and any(name in listed for name in _ATTRIBUTES)
    except (OSError, ValueError):
        return False


def _no_attributes(_path: str) -> list[str]:
    return []


def _zone(stream: str) -> int:
    for line in Path(stream).read_text(encoding="utf-8", errors="replace").splitlines():
        name, _, value = line.partition("=")
        if name.strip() == "ZoneId" and value.strip().isdigit():
            return int(value)
    return 0
