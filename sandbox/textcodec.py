"""Text of files: encodings, universal newlines and their errors, as `open` has them.

Owns decoding and encoding. It must not touch files. Pure; any thread.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TextOptions:
    """`open`'s arguments of the same names; an encoding of None is UTF-8 on every system."""

    encoding: str | None = None
    errors: str | None = None
    newline: str | None = None

    def checked(self) -> TextOptions:
        """These options; raises `LookupError` or `ValueError` as `open` does for wrong ones."""
        encoding = self.encoding or "utf-8"
        try:
            codecs.lookup(encoding)
        except LookupError:
            raise LookupError(f"unknown encoding: {encoding}") from None
        if self.errors is not None:
            codecs.lookup_error(self.errors)
        if self.newline not in (None, "", "\n", "\r", "\r\n"):
            raise ValueError(f"illegal newline value: {self.newline!r}")
        return self


PLAIN = TextOptions()


def decode(data: bytes, options: TextOptions = PLAIN) -> str:
    """Bytes of a file as text; raises `UnicodeDecodeError`."""
    text = data.decode(_encoding(options), options.errors or "strict")
    if options.newline is None and "\r" in text:
        return text.replace("\r\n", "\n").replace("\r", "\n")
    return text


def encode(text: str, options: TextOptions = PLAIN, *, at_start: bool = True) -> bytes:
    """Text as bytes of a file; `at_start`: a byte order mark is written only there."""
    if options.newline in ("\r", "\r\n"):
        text = text.replace("\n", options.newline)
    encoding = _encoding(options)
    data = text.encode(encoding, options.errors or "strict")
    if at_start:
        return data
    mark = "".encode(encoding)
    return data.removeprefix(mark) if mark else data


def _encoding(options: TextOptions) -> str:
    name = options.encoding or "utf-8"
    return "utf-8" if name == "locale" else name
