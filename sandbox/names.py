"""File names as a program sees them.

The interpreter takes valid Unicode only, a file system also takes bytes that are none. Such a byte
is shown as one private-use character and turned back on the way out, so renaming and deleting work.
Owns that mapping. Pure; any thread.
"""

from __future__ import annotations

import re

# U+DC80..U+DCFF (surrogateescape) <-> U+10FE80..U+10FEFF (plane 16, private use).
_SHIFT = 0x10FE80 - 0xDC80
_SURROGATES = re.compile("[\udc80-\udcff]")
_STAND_INS = re.compile("[\U0010fe80-\U0010feff]")


def shown(name: str) -> str:
    """`name` for the program: bytes that are no valid text become private-use characters."""
    if name.isascii():
        return name
    return _SURROGATES.sub(lambda found: chr(ord(found.group()) + _SHIFT), name)


def real(name: str) -> str:
    """The file system's name of what `shown` gave the program."""
    if name.isascii():
        return name
    return _STAND_INS.sub(lambda found: chr(ord(found.group()) - _SHIFT), name)
