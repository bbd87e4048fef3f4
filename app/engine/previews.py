"""What one change does to one entry, ready for showing: a text diff, a picture, or a note.

Reads the disk, the stage's blobs and the undo store; changes nothing. Thread: a worker.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Literal

from sandbox.diff import content_after, content_before, text_diff

from sandbox.blobs import BlobStore
from sandbox.changeset import Change

_PICTURES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".svg", ".ico"})
_PICTURE_BYTES = 20_000_000


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


def preview_change(change: Change, staged: Path, kept: Path | None) -> Preview:
    """The preview of `change`, with staged content in `staged` and originals in `kept`, if any."""
    if change.kind in {"mkdir", "rmdir"}:
        return Preview(kind="folder")
    if change.kind == "mode" or (change.kind == "move" and not change.modified):
        return Preview(kind="none", note="The content stays as it is.")
    before = None if kept is not None else content_before(change)
    after = content_after(change, BlobStore(staged)) if change.kind != "delete" else None
    name = PurePath(change.target or change.path)
    if name.suffix.lower() in _PICTURES:
        picture = after if after is not None else before
        if picture is not None and len(picture) <= _PICTURE_BYTES:
            return Preview(kind="image", picture=picture)
    diff = text_diff(before, after, str(name))
    return Preview(
        kind="binary" if diff.binary else "text", lines=diff.lines, note=" ".join(diff.notes)
    )
