"""Standing grants: what the person has allowed beyond one run, until they take it back.

Owns the table. The forms and what a grant covers are the sandbox's. Thread: engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from app.store.database import Tables


Scope = Literal["chat", "always"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantRecord:
    """One standing grant. `text`: in its form, e.g. ``move:500,folder=/home/me/Downloads``;
    `chat_id`: the chat that it is for, empty for all; `uses`: turns that it answered for."""

    grant_id: str
    text: str
    scope: Scope
    chat_id: str
    created: datetime
    revoked: datetime | None = None
    uses: int = 0
    last_used: datetime | None = None
    used_today: int = 0


class GrantStore:
    """Reads and writes standing grants."""

    def __init__(self, tables: Tables) -> None:
        self._db = tables

    def add(self, grant_id: str, text: str, scope: Scope, chat_id: str = "") -> GrantRecord:
        """Keep a grant; the same one is not kept twice."""
        for one in self.all():
            if (one.text, one.scope, one.chat_id) == (text, scope, chat_id):
                return one
        row = {
            "id": grant_id,
            "text": text,
            "scope": scope,
            "chat_id": chat_id,
            "created": datetime.now(UTC).isoformat(),
        }
        self._db.insert("grants", row)
        return next(one for one in self.all() if one.grant_id == grant_id)

    def all(self) -> list[GrantRecord]:
        """Those in force, oldest first; revoked ones are history."""
        rows = self._db.rows("SELECT * FROM grants WHERE revoked IS NULL ORDER BY created", [])
        return [
            GrantRecord(
                grant_id=row["id"],
                text=row["text"],
                scope=row["scope"],
                chat_id=row["chat_id"],
                created=datetime.fromisoformat(row["created"]),
                uses=row["uses"],
                last_used=_time(row["last_used"]),
                used_today=row["used_today"] if _is_today(row["last_used"]) else 0,
            )
            for row in rows
        ]

    def for_chat(self, chat_id: str) -> list[GrantRecord]:
        """Those that count in a chat."""
        return [one for one in self.all() if one.scope == "always" or one.chat_id == chat_id]

    def revoke(self, grant_id: str) -> bool:
        """Take a grant back; False when there is none of this id in force."""
        if all(one.grant_id != grant_id for one in self.all()):
            return False
        self._db.update("grants", grant_id, {"revoked": datetime.now(UTC).isoformat()})
        return True

    def used(self, grant: GrantRecord) -> None:
        """Record that a grant answered for the person in a turn."""
        now = datetime.now(UTC).isoformat()
        changes = {"uses": grant.uses + 1, "last_used": now, "used_today": grant.used_today + 1}
        self._db.update("grants", grant.grant_id, changes)


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _is_today(text: str | None) -> bool:
    found = _time(text)
    return found is not None and found.astimezone().date() == _today()


def _today() -> date:
    return datetime.now().astimezone().date()
