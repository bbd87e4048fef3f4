"""What must never leave this machine: chats and folders that the person marked "local only".

A folder's mark holds in every chat, for what is below it and what holds it, and for chats that had
it open once, since their history tells of it. Owns the marks; `app/engine/ready.py` keeps to them.
Thread: engine.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import PurePath

from app.store.codec import folders_from
from app.store.database import Tables


class LocalOnlyStore:
    """Marks of folders, and what follows from all marks for a chat."""

    def __init__(self, tables: Tables) -> None:
        self._db = tables

    def mark_folder(self, path: str, marked: bool) -> None:
        """Set or take away the mark of a folder (its real absolute path)."""
        if marked:
            row = {"id": path, "marked": datetime.now(UTC).isoformat()}
            self._db.upsert("local_folders", row)
        elif path in self.folders():
            self._db.delete("local_folders", path)

    def folders(self) -> frozenset[str]:
        """All marked folders."""
        return frozenset(row["id"] for row in self._db.rows("SELECT id FROM local_folders"))

    def reason(self, chat_id: str) -> str:
        """Why a chat is local only: "chat", a folder's path, or empty when it is not.

        A chat that is not there is local only: what is not known is not sent.
        """
        rows = self._db.rows("SELECT local_only, folders FROM chats WHERE id = ?", [chat_id])
        if not rows or rows[0]["local_only"]:
            return "chat"
        turns = self._db.rows("SELECT DISTINCT folders FROM turns WHERE chat_id = ?", [chat_id])
        opened = {folder.path for row in (*rows, *turns) for folder in folders_from(row["folders"])}
        return touched(opened, self.folders())


def touched(opened: Iterable[str], marked: Iterable[str]) -> str:
    """The first marked folder that an opened one is, lies in, or holds; else empty."""
    marks = sorted(marked)
    for path in sorted(opened):
        own = PurePath(path)
        for mark in marks:
            other = PurePath(mark)
            if own == other or other in own.parents or own in other.parents:
                return mark
    return ""
