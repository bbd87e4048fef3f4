"""Chats, turns and programs in the store.

Owns these tables. Thread: engine. Every method is one transaction.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import psutil

from app.errors import NotFoundError
from app.store import codec
from app.store.database import Tables
from app.store.records import (
    LIVE,
    ChatRecord,
    ChatView,
    Folder,
    ProgramRecord,
    TurnRecord,
    TurnStatus,
    Usage,
)
from sandbox.effects import Effect

_LATEST = "(SELECT status FROM turns WHERE chat_id = chats.id ORDER BY seq DESC LIMIT 1)"
_ONE_CHAT = f"SELECT chats.*, {_LATEST} AS status FROM chats WHERE id = ?"  # noqa: S608  # constants
_ALL_CHATS = f"SELECT chats.*, {_LATEST} AS status FROM chats ORDER BY updated DESC"  # noqa: S608  # constants
_FOUND_CHATS = f"""
    SELECT chats.*, {_LATEST} AS status FROM chats
    WHERE title LIKE :like ESCAPE '\\'
    OR id IN (SELECT chat_id FROM turns WHERE request LIKE :like ESCAPE '\\')
    ORDER BY updated DESC
"""  # noqa: S608  # constants


class ChatStore:
    """All reading and writing of chats and what belongs to them."""

    def __init__(self, tables: Tables) -> None:
        self._db = tables

    # chats

    def add_chat(self, folders: Sequence[Folder], model_id: str, title: str = "") -> ChatRecord:
        """Make a chat."""
        now = datetime.now(UTC)
        chat = ChatRecord(
            chat_id=new_id(),
            title=title,
            folders=tuple(folders),
            model_id=model_id,
            created=now,
            updated=now,
        )
        self._db.insert("chats", codec.chat_row(chat))
        return chat

    def chat(self, chat_id: str) -> ChatRecord:
        """One chat. Raises: `NotFoundError`."""
        for row in self._db.rows(_ONE_CHAT, [chat_id]):
            return codec.chat_from(row)
        raise NotFoundError(f"There is no chat {chat_id}.", hint="It may have been deleted.")

    def chats(self, query: str = "") -> list[ChatRecord]:
        """Chats, latest first; `query` is looked for in titles and requests."""
        if not query.strip():
            rows = self._db.rows(_ALL_CHATS)
        else:
            rows = self._db.rows(_FOUND_CHATS, {"like": f"%{_escape(query.strip())}%"})
        return [codec.chat_from(row) for row in rows]

    def save_chat(self, chat: ChatRecord) -> ChatRecord:
        """Write a changed chat; its time of change is set to now."""
        chat = replace(chat, updated=datetime.now(UTC))
        row = codec.chat_row(chat)
        self._db.update("chats", row.pop("id"), row)
        return chat

    def delete_chat(self, chat_id: str) -> None:
        """Remove a chat with its turns, programs, effects and journal."""
        self._db.delete("chats", chat_id)

    def view(self, chat_id: str) -> ChatView:
        """A chat with all its turns, oldest first."""
        chat = self.chat(chat_id)
        programs: dict[str, list[ProgramRecord]] = {}
        for row in self._db.rows(
            "SELECT programs.* FROM programs JOIN turns ON turns.id = turn_id "
            "WHERE chat_id = ? ORDER BY number",
            [chat_id],
        ):
            programs.setdefault(row["turn_id"], []).append(codec.program_from(row))
        turns = tuple(
            codec.turn_from(row, programs.get(row["id"], ()))
            for row in self._db.rows(
                "SELECT * FROM turns WHERE chat_id = ? ORDER BY seq", [chat_id]
            )
        )
        return ChatView(chat=chat, turns=turns)

    # turns

    def add_turn(
        self,
        chat: ChatRecord,
        request: str,
        model_id: str,
        *,
        turn_id: str = "",
        status: TurnStatus = "writing",
        usage: Usage | None = None,
        routed: str = "",
    ) -> TurnRecord:
        """Begin a turn, owned by this process."""
        turn = TurnRecord(
            turn_id=turn_id or new_id(),
            chat_id=chat.chat_id,
            request=codec.clean(request),
            model_id=model_id,
            status=status,
            started=datetime.now(UTC),
            usage=usage or Usage(),
            routed=routed,
        )
        with self._db.atomic():
            (last,) = self._db.rows(
                "SELECT COALESCE(MAX(seq), 0) AS seq FROM turns WHERE chat_id = ?", [chat.chat_id]
            )
            self._db.insert(
                "turns",
                codec.turn_row(turn)
                | {
                    "id": turn.turn_id,
                    "chat_id": chat.chat_id,
                    "seq": last["seq"] + 1,
                    "request": turn.request,
                    "folders": codec.folders_text(chat.folders),
                    "owner": process_mark(),
                    "started": turn.started.isoformat(),
                },
            )
            self._db.update("chats", chat.chat_id, {"updated": turn.started.isoformat()})
        return turn

    def turn(self, turn_id: str) -> TurnRecord:
        """One turn with its programs. Raises: `NotFoundError`."""
        for row in self._db.rows("SELECT * FROM turns WHERE id = ?", [turn_id]):
            return codec.turn_from(row, self._programs(turn_id))
        raise NotFoundError(
            f"There is no run {turn_id}.", hint="drydock runs list shows the runs there are."
        )

    def has_turn(self, turn_id: str) -> bool:
        """Whether there is such a turn."""
        return bool(self._db.rows("SELECT 1 FROM turns WHERE id = ?", [turn_id]))

    def turn_folders(self, turn_id: str) -> tuple[Folder, ...]:
        """The folders as they were granted when the turn began."""
        for row in self._db.rows("SELECT folders FROM turns WHERE id = ?", [turn_id]):
            return codec.folders_from(row["folders"])
        raise NotFoundError(f"There is no run {turn_id}.")

    def turns(self, limit: int) -> list[TurnRecord]:
        """The latest turns of all chats, newest first."""
        rows = self._db.rows("SELECT * FROM turns ORDER BY started DESC LIMIT ?", [limit])
        return [codec.turn_from(row, self._programs(row["id"])) for row in rows]

    def applied_since(self, when: datetime, *, but: str = "") -> list[TurnRecord]:
        """Turns whose changes are on the disk, but this one, newest first; without programs."""
        rows = self._db.rows(
            "SELECT * FROM turns WHERE committed = 1 AND status = 'done' AND started >= ?"
            " AND id != ? ORDER BY started DESC",
            [when.isoformat(), but],
        )
        return [codec.turn_from(row, ()) for row in rows]

    def save_turn(self, turn: TurnRecord) -> None:
        """Write a turn's state; its programs are written by `save_program`."""
        self._db.update("turns", turn.turn_id, codec.turn_row(turn))

    def claim(self, turn_id: str, expected: Iterable[TurnStatus], status: TurnStatus) -> bool:
        """Move a turn from one of `expected` to `status` for this process; False if it was not so.

        The check and the change are one statement, so that two processes cannot both win.
        """
        with self._db.atomic():
            changed = self._db.execute(
                "UPDATE turns SET status = ?, owner = ? "
                "WHERE id = ? AND status IN (SELECT value FROM json_each(?))",
                [status, process_mark(), turn_id, codec.dump(list(expected))],
            )
            return changed == 1

    def unfinished(self) -> list[TurnRecord]:
        """Turns in a live state whose process has ended."""
        rows = self._db.rows(
            "SELECT * FROM turns WHERE status IN (SELECT value FROM json_each(?))",
            [codec.dump(sorted(LIVE))],
        )
        return [
            codec.turn_from(row, self._programs(row["id"]))
            for row in rows
            if not is_running(row["owner"])
        ]

    def interrupted(self) -> list[TurnRecord]:
        """Turns that can go on, oldest first."""
        rows = self._db.rows("SELECT * FROM turns WHERE status = 'interrupted' ORDER BY started")
        return [codec.turn_from(row, self._programs(row["id"])) for row in rows]

    def release(self, turn_id: str) -> None:
        """Let a turn go that this process cannot end: the next start takes it up."""
        self._db.update("turns", turn_id, {"owner": ""})

    # programs and effects

    def save_program(self, program: ProgramRecord) -> None:
        """Write a program, new or changed."""
        self._db.upsert("programs", codec.program_row(program))

    def delete_program(self, program_id: str) -> None:
        """Remove a program that is run again under another id."""
        self._db.delete("programs", program_id)

    def add_effects(self, turn_id: str, program_id: str, effects: Sequence[Effect]) -> None:
        """Append a batch of effects."""
        self._db.insert(
            "effects",
            {
                "turn_id": turn_id,
                "program_id": program_id,
                "data": codec.effects_text(effects),
            },
        )

    def forget_effects(self, program_id: str) -> None:
        """Remove the effects of a program that tells them again."""
        with self._db.atomic():
            self._db.execute("DELETE FROM effects WHERE program_id = ?", [program_id])

    def effects(self, turn_id: str) -> list[Effect]:
        """All effects of a turn, in order."""
        found: list[Effect] = []
        for row in self._db.rows(
            "SELECT data FROM effects WHERE turn_id = ? ORDER BY id", [turn_id]
        ):
            found.extend(codec.effects_from(row["data"]))
        return found

    def effects_of(self, turn_id: str, program_id: str) -> list[Effect]:
        """All effects of one program of a turn, in order."""
        rows = self._db.rows(
            "SELECT data FROM effects WHERE turn_id = ? AND program_id = ? ORDER BY id",
            [turn_id, program_id],
        )
        return [one for row in rows for one in codec.effects_from(row["data"])]

    def _programs(self, turn_id: str) -> list[ProgramRecord]:
        rows = self._db.rows("SELECT * FROM programs WHERE turn_id = ? ORDER BY number", [turn_id])
        return [codec.program_from(row) for row in rows]


def new_id() -> str:
    """A short id, unique enough for one person's machine: 12 hexadecimal digits."""
    return uuid.uuid4().hex[:12]


def process_mark() -> str:
    """Names this process so that a later one can tell whether it still runs."""
    return f"{os.getpid()}:{psutil.Process().create_time():.2f}"


def is_running(mark: str) -> bool:
    """Whether the process that `mark` names still runs."""
    pid, _, started = mark.partition(":")
    try:
        return f"{psutil.Process(int(pid)).create_time():.2f}" == started
    except (psutil.Error, ValueError):
        return False


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
