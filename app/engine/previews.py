"""What one change does to one entry, ready for showing: a text diff, pictures, or a note.

Reads the disk, the stage's blobs and the undo store; changes nothing. What strangers made is
decoded in a process of its own, never here. Thread: a worker; `close` is for the engine's.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Literal

from app.paths import Paths
from app.store.records import TurnRecord
from sandbox.blobs import BlobStore
from sandbox.changeset import Change
from sandbox.diff import MAX_BYTES, Diff, content_after, content_before, text_diff
from sandbox.document_process import DocumentProcess
from sandbox.kept import KeptContents
from sandbox.patch import patch_of
from sandbox.thumbnails import ENDINGS as PICTURES
from sandbox.thumbnails import Thumbnail

_DOCUMENTS = frozenset({".pdf", ".docx", ".xlsx", ".eml"})
_DECODED_BYTES = 50_000_000
_DOCUMENT_CHARS = 200_000
THUMBNAIL_PX = 640
_TIMEOUT_S = 15.0
_ENDS = {"\n": "LF", "\r\n": "CRLF", "\r": "CR", "mixed": "mixed", "": "none"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """One change for the eye.

    `lines`: a diff, each line with its prefix ``" "``, ``"+"``, ``"-"`` or ``"@"``; `before` and
    `after`: small pictures of an image, None on a side without one; `note`: what is worth knowing,
    e.g. "Encoding changes: cp1252 to UTF-8".
    """

    kind: Literal["text", "image", "binary", "folder", "none"]
    lines: tuple[str, ...] = ()
    before: Thumbnail | None = None
    after: Thumbnail | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class _Contents:
    """The bytes before and after; None on a side where there are none."""

    before: bytes | None
    after: bytes | None


class Previewer:
    """Makes previews; owns the process that decodes documents and pictures."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._lock = threading.Lock()
        self._process: DocumentProcess | None = None

    def preview(self, turn: TurnRecord, change: Change) -> Preview:
        """The preview of a change of a turn, whether it waits or was decided."""
        if change.kind in {"mkdir", "rmdir"}:
            return Preview(kind="folder")
        ending = PurePath(change.final_path).suffix.lower()
        is_same = change.kind == "mode" or (change.kind == "move" and not change.modified)
        if is_same and ending not in PICTURES:
            return Preview(kind="none", note="The content stays as it is.")
        limit = _DECODED_BYTES if ending in PICTURES | _DOCUMENTS else MAX_BYTES
        found = self._contents(turn, change, limit + 1)
        if found is None:
            return Preview(kind="none", note="Its content was not kept, or has changed since.")
        if ending in PICTURES and (shown := self._pictures(change, found, limit)) is not None:
            return shown
        if is_same:
            return Preview(kind="none", note="The content stays as it is.")
        if ending in _DOCUMENTS and (shown := self._document(change, found, limit)) is not None:
            return shown
        return _text(change, found)

    def close(self) -> None:
        """End the process."""
        with self._lock:
            process, self._process = self._process, None
        if process is not None:
            process.close()

    def _contents(self, turn: TurnRecord, change: Change, limit_bytes: int) -> _Contents | None:
        """Both contents; None when one that there was is not there any more."""
        if turn.status == "waiting":
            blobs = BlobStore(self._paths.blobs / turn.turn_id)
            before = content_before(change, limit_bytes=limit_bytes)
            if change.kind == "mode":
                return _Contents(before, before)
            return _Contents(before, content_after(change, blobs, limit_bytes=limit_bytes))
        kept = KeptContents(self._paths.undo / turn.turn_id).of(change)
        before, after = _read(kept.before, limit_bytes), _read(kept.after, limit_bytes)
        if change.kind in {"move", "mode"} and not change.modified:
            before = after = after or before
        has_all = (before is not None or change.kind == "create") and (
            after is not None or change.kind == "delete"
        )
        return _Contents(before, after) if has_all else None

    def _pictures(self, change: Change, found: _Contents, limit: int) -> Preview | None:
        name = PurePath(change.final_path).name
        before = self._thumbnail(name, found.before, limit)
        same = found.after == found.before
        after = before if same else self._thumbnail(name, found.after, limit)
        if before is None and after is None:
            return None
        note = "The content stays as it is." if same else ""
        return Preview(kind="image", before=None if same else before, after=after, note=note)

    def _thumbnail(self, name: str, data: bytes | None, limit: int) -> Thumbnail | None:
        if data is None or len(data) > limit:
            return None
        try:
            return self._documents().thumbnail(name, data, THUMBNAIL_PX).result()
        except ValueError:
            return None

    def _document(self, change: Change, found: _Contents, limit: int) -> Preview | None:
        """The text of a document compared; None where it has none that can be read."""
        name = PurePath(change.final_path).name
        texts: list[bytes | None] = []
        for data in (found.before, found.after):
            if data is None:
                texts.append(None)
                continue
            if len(data) > limit:
                return None
            try:
                text = self._documents().start(name, data, _DOCUMENT_CHARS).result()
            except ValueError:
                return None
            texts.append(f"{text}\n".encode("utf-8", "replace"))
        diff = text_diff(texts[0], texts[1], name)
        if diff.kind != "text":
            return Preview(kind="none", note="The text of the document stays as it is.")
        return Preview(
            kind="text", lines=_hunks(diff), note="The text of the document, not its looks."
        )

    def _documents(self) -> DocumentProcess:
        with self._lock:
            if self._process is None:
                self._process = DocumentProcess(lambda: False, timeout_s=_TIMEOUT_S)
            return self._process


def patch_of_turn(turn: TurnRecord, roots: Sequence[str], paths: Paths) -> bytes:
    """A turn's changes as a unified patch, whether it waits or was decided; see `sandbox.patch`."""
    if turn.changes is None:
        return b""
    if turn.status == "waiting":
        return patch_of(turn.changes, roots, blobs=BlobStore(paths.blobs / turn.turn_id))
    return patch_of(turn.changes, roots, kept=KeptContents(paths.undo / turn.turn_id))


def _read(path: str | None, limit_bytes: int) -> bytes | None:
    if path is None:
        return None
    with Path(path).open("rb") as stream:
        return stream.read(limit_bytes)


def _text(change: Change, found: _Contents) -> Preview:
    diff = text_diff(found.before, found.after, PurePath(change.final_path).name)
    if diff.kind == "text":
        return Preview(kind="text", lines=_hunks(diff), note=_remarks(diff))
    if diff.kind == "same":
        return Preview(kind="none", note="The content stays as it is.")
    return Preview(kind="binary", note="Not text; there is nothing to compare.")


def _hunks(diff: Diff) -> tuple[str, ...]:
    """The lines without the two names at the start: the pane has a title."""
    return diff.lines[2:] if diff.lines[:1] and diff.lines[0].startswith("--- ") else diff.lines


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
