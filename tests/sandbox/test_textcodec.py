"""Text of files is decoded and encoded as `open` does it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.names import real, shown
from sandbox.textcodec import TextOptions, decode, encode

ENCODINGS = [None, "utf-8-sig", "utf-16", "utf-16-le", "latin-1", "cp1252"]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("newline", [None, "", "\r\n"])
def test_writing_in_pieces_and_reading_agree_with_open(
    encoding: str | None, newline: str | None, tmp_path: Path
) -> None:
    options = TextOptions(encoding=encoding, newline=newline).checked()
    pieces = ["\u00e4b\n", "c\r\nd", "\n"]
    ours = b"".join(encode(p, options, at_start=not i) for i, p in enumerate(pieces))
    theirs = tmp_path / "file"
    with theirs.open("w", encoding=encoding or "utf-8", newline=newline) as file:
        for piece in pieces:
            file.write(piece)
    assert ours == theirs.read_bytes()
    with theirs.open(encoding=encoding or "utf-8", newline=newline) as file:
        assert decode(ours, options) == file.read()


def test_wrong_options_are_refused() -> None:
    for wrong in (TextOptions(encoding="klingon"), TextOptions(errors="maybe")):
        with pytest.raises(LookupError):
            wrong.checked()
    with pytest.raises(ValueError):
        TextOptions(newline="x").checked()


@given(st.binary(max_size=40))
def test_any_file_name_comes_back_from_what_is_shown(name: bytes) -> None:
    as_os = name.decode("utf-8", "surrogateescape")
    visible = shown(as_os)
    visible.encode("utf-8")
    assert real(visible) == as_os
