"""What a person reads of a change: text diffs, with encodings and line endings called out.

Owns the bounds that keep a diff quick and readable; words are the window's, here are codes and
data. Reads the disk and the blob store, changes nothing. Thread: any.
"""

from __future__ import annotations

import codecs
import difflib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sandbox.blobs import BlobStore
from sandbox.changeset import Change

MAX_BYTES = 2 * 1024 * 1024
MAX_LINES = 4_000
_CONTEXT = 3
_SNIFF_BYTES = 8192

Newline = Literal["", "\n", "\r\n", "\r", "mixed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextForm:
    """How a text is written: `encoding` as Python names it; `newline`: '' when it has none."""

    encoding: str
    newline: Newline
    ends_with_newline: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """The difference of two contents.

    `kind`: "text", "binary" (one of them is no text) or "same"; `lines`: unified diff without line
    ends, headers included; `added`, `removed`: lines; `before`, `after`: None where there is no
    text on that side; `cut`: the contents or the diff were too long, the rest is left out.
    """

    kind: Literal["text", "binary", "same"]
    lines: tuple[str, ...] = ()
    added: int = 0
    removed: int = 0
    before: TextForm | None = None
    after: TextForm | None = None
    cut: bool = False

    @property
    def changes_encoding(self) -> bool:
        """Both sides are text, in different encodings."""
        return None not in (self.before, self.after) and _of(self.before) != _of(self.after)

    @property
    def changes_newlines(self) -> bool:
        """Both sides have lines, with different ends."""
        ends = {form.newline for form in (self.before, self.after) if form and form.newline}
        return len(ends) > 1


def text_diff(before: bytes | None, after: bytes | None, name: str) -> Diff:
    """The unified diff of two contents; None where the file is not there.

    Only the first `MAX_BYTES` of each are looked at, and `MAX_LINES` of what differs.
    """
    if before == after:
        return Diff(kind="same")
    cut = any(side is not None and len(side) > MAX_BYTES for side in (before, after))
    old = _decoded(before[:MAX_BYTES], cut=cut) if before is not None else _Text("", None)
    new = _decoded(after[:MAX_BYTES], cut=cut) if after is not None else _Text("", None)
    if old is None or new is None:
        return Diff(kind="binary", cut=cut)
    old_lines, new_lines = old.text.splitlines(), new.text.splitlines()
    start, old_middle, new_middle = _differing(old_lines, new_lines)
    cut = cut or max(len(old_middle), len(new_middle)) > MAX_LINES
    lead = old_lines[max(0, start - _CONTEXT) : start]
    trail = old_lines[start + len(old_middle) : start + len(old_middle) + _CONTEXT]
    if cut:
        old_middle, new_middle, trail = old_middle[:MAX_LINES], new_middle[:MAX_LINES], []
    from_name = "/dev/null" if before is None else f"a/{name}"
    to_name = "/dev/null" if after is None else f"b/{name}"
    raw = difflib.unified_diff(
        [*lead, *old_middle, *trail],
        [*lead, *new_middle, *trail],
        from_name,
        to_name,
        n=_CONTEXT,
        lineterm="",
    )
    lines = tuple(_shifted(raw, max(0, start - _CONTEXT)))
    return Diff(
        kind="text",
        lines=lines,
        added=sum(line.startswith("+") for line in lines[2:]),
        removed=sum(line.startswith("-") for line in lines[2:]),
        before=old.form,
        after=new.form,
        cut=cut,
    )


def content_before(change: Change, *, limit_bytes: int = MAX_BYTES + 1) -> bytes | None:
    """The first bytes on the disk of what a change alters, before the commit; None without a file.

    Links and folders have no content. OSError when the file cannot be read.
    """
    if change.base is None or change.base.kind != "file":
        return None
    with Path(change.path).open("rb") as stream:
        return stream.read(limit_bytes)


def content_after(
    change: Change, blobs: BlobStore, *, limit_bytes: int = MAX_BYTES + 1
) -> bytes | None:
    """The first bytes that the file will have; None when the change leaves no file there."""
    if not change.has_new_content:
        return content_before(change, limit_bytes=limit_bytes) if change.kind == "move" else None
    if change.link is not None:
        return os.fsencode(change.link)[:limit_bytes]
    if change.pieces:
        return _pieced(change, blobs, limit_bytes)
    data = b""
    if change.source is not None:
        with Path(change.source).open("rb") as stream:
            data = stream.read(min(limit_bytes, change.prefix_bytes))
    if change.blob is not None and len(data) < limit_bytes:
        with blobs.open(change.blob) as stream:
            data += stream.read(limit_bytes - len(data))
    return data


def _pieced(change: Change, blobs: BlobStore, limit_bytes: int) -> bytes:
    """The first bytes of a file that was written to in part."""
    data = b""
    for piece in change.pieces:
        wanted = min(piece.size_bytes, limit_bytes - len(data))
        if wanted <= 0:
            break
        if piece.of == "zeros":
            data += bytes(wanted)
            continue
        is_source = piece.of == "source"
        with (
            Path(change.source or "").open("rb")
            if is_source
            else blobs.open(change.blob or "") as stream
        ):
            stream.seek(piece.at)
            data += stream.read(wanted)
    return data


def diff_of(change: Change, blobs: BlobStore, *, folder: str = "") -> Diff:
    """The diff of one change; `folder`: what its name is shown relative to."""
    name = os.path.relpath(change.final_path, folder) if folder else change.final_path.lstrip("/")
    return text_diff(content_before(change), content_after(change, blobs), name)


@dataclass(frozen=True, slots=True)
class _Text:
    text: str
    form: TextForm | None


def _decoded(data: bytes, *, cut: bool) -> _Text | None:
    """`data` as text, or None when it is none. A cut end may split a character."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            text = data.decode(encoding, errors="replace")
            return _Text(text, _form(text, encoding))
    if b"\0" in data[:_SNIFF_BYTES]:
        return None
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        text = decoder.decode(data, final=not cut)
    except UnicodeDecodeError:
        return _legacy(data)
    return _Text(text, _form(text, "utf-8"))


_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def _legacy(data: bytes) -> _Text | None:
    """Text of an eight-bit encoding; control characters tell that it is none."""
    sample = data[:_SNIFF_BYTES]
    controls = sum(byte < 32 and byte not in b"\t\n\r\f\x1b" for byte in sample)
    if controls:
        return None
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError:
        return None
    return _Text(text, _form(text, "cp1252"))


def _form(text: str, encoding: str) -> TextForm:
    crlf = text.count("\r\n")
    lf, cr = text.count("\n") - crlf, text.count("\r") - crlf
    present = [end for end, count in (("\r\n", crlf), ("\n", lf), ("\r", cr)) if count]
    newline: Newline = ""
    if len(present) > 1:
        newline = "mixed"
    elif present:
        newline = "\r\n" if crlf else "\n" if lf else "\r"
    ends = text.endswith(("\n", "\r"))
    return TextForm(encoding=encoding, newline=newline, ends_with_newline=ends)


def _differing(old: list[str], new: list[str]) -> tuple[int, list[str], list[str]]:
    """Where two lists begin to differ, and their middles without the common ends."""
    start = 0
    shorter = min(len(old), len(new))
    while start < shorter and old[start] == new[start]:
        start += 1
    end = 0
    while end < shorter - start and old[-1 - end] == new[-1 - end]:
        end += 1
    return start, old[start : len(old) - end], new[start : len(new) - end]


def _shifted(lines: Iterator[str], offset: int) -> Iterator[str]:
    """Unified diff lines with `offset` added to the line numbers of the hunks."""
    for line in lines:
        if not line.startswith("@@") or offset == 0:
            yield line
            continue
        _, old, new, _ = line.split(" ", 3)
        yield f"@@ -{_moved(old[1:], offset)} +{_moved(new[1:], offset)} @@"


def _moved(span: str, offset: int) -> str:
    first, comma, count = span.partition(",")
    return f"{int(first) + offset}{comma}{count}"


def _of(form: TextForm | None) -> str:
    return form.encoding if form is not None else ""
