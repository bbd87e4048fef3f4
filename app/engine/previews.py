"""What one change does to one entry, ready for showing: a text diff, a picture, or a note.

Reads the disk, the stage's blobs and the undo store; changes nothing. Thread: a worker.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Literal

from sandbox.blobs import BlobStore
from sandbox.changeset import Change
from sandbox.diff import Diff, content_after, content_before, diff_of

_PICTURES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".svg", ".ico"})
_PICTURE_BYTES = 20_000_000
_ENDS = {"\n": "LF", "\r\n": "CRLF", "\r": "CR", "mixed": "mixed", "": "none"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """One change for the eye.

    `lines`: a diff, each line with its prefix ``" "``, ``"+"``, ``"-"`` or ``"@"``; `picture`: an
    image's bytes; `note`: what is worth knowing, e.g. "Encoding changes: cp1252 to UTF-8".
    """

    kind: Literal["text", "image", "binary", "folder", "none"]
    lines: tuple[str, ...] = ()
    picture: bytes = b""
    note: str = ""


def preview_change(change: Change, staged: Path, *, committed: bool) -> Preview:
    """The preview of `change`, with its staged content in `staged` while it is not committed."""
    if change.kind in {"mkdir", "rmdir"}:
        return Preview(kind="folder")
    if change.kind == "mode" or (change.kind == "move" and not change.modified):
        return Preview(kind="none", note="The content stays as it is.")
    if committed:
        return Preview(kind="none", note="Applied: the file on the disk has this content now.")
    blobs = BlobStore(staged)
    name = PurePath(change.final_path)
    if name.suffix.lower() in _PICTURES:
        limit = _PICTURE_BYTES + 1
        after = content_after(change, blobs, limit_bytes=limit)
        picture = after if after is not None else content_before(change, limit_bytes=limit)
        if picture is not None and len(picture) <= _PICTURE_BYTES:
            return Preview(kind="image", picture=picture)
    diff = diff_of(change, blobs, folder=str(name.parent))
    if diff.kind == "text":
        return Preview(kind="text", lines=diff.lines, note=_remarks(diff))
    if diff.kind == "same":
        return Preview(kind="none", note="The content stays as it is.")
    return Preview(kind="binary", note="Not text; there is nothing to compare.")


def _remarks(diff: Diff) -> str:
    notes: list[str] = []
    if diff.before is not None and diff.after is not None:
        if diff.changes_encoding:
            notes.append(f"The encoding changes: {diff.before.encoding} to {diff.after.encoding}.")
        if diff.changes_newlines:
            before, after = _ENDS[diff.before.newline], _ENDS[diff.after.newline]
            notes.append(f"The line endings change: {before} to {after}.")
    if diff.cut:
        notes.append("Too long to show whole: the rest is left out.")
    return " ".join(notes)
