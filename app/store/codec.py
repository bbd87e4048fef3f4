"""Records to rows and back.

JSON is written with ASCII only, so that lone surrogates (file names that are not valid Unicode)
survive SQLite. Must not touch the database. Thread: any.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from app.store.records import (
    CallGroup,
    ChatRecord,
    ConflictRecord,
    Folder,
    Offer,
    Problem,
    ProgramRecord,
    TurnRecord,
    Usage,
)
from sandbox.changeset import from_json as change_set_from_json
from sandbox.changeset import to_json as change_set_to_json
from sandbox.effects import Effect, Span
from sandbox.errors import Fault
from sandbox.ports import Reason
from sandbox.question import question_from_text, question_to_text
from sandbox.shown import Shown

Row = Mapping[str, Any]


def dump(value: object) -> str:
    """Compact JSON in ASCII."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))


def folders_text(folders: Iterable[Folder]) -> str:
    """Folders as a JSON column."""
    return dump([asdict(folder) for folder in folders])


def folders_from(text: str) -> tuple[Folder, ...]:
    """Folders out of a JSON column."""
    return tuple(Folder(**item) for item in json.loads(text))


def chat_row(chat: ChatRecord) -> dict[str, Any]:
    """A chat as a row of `chats`."""
    return {
        "id": chat.chat_id,
        "title": clean(chat.title),
        "folders": folders_text(chat.folders),
        "model_id": chat.model_id,
        "local_only": int(chat.local_only),
        "created": chat.created.isoformat(),
        "updated": chat.updated.isoformat(),
    }


def chat_from(row: Row) -> ChatRecord:
    """A chat out of a row; `status` is that of its latest turn when the row has one."""
    return ChatRecord(
        chat_id=row["id"],
        title=row["title"],
        folders=folders_from(row["folders"]),
        model_id=row["model_id"],
        created=datetime.fromisoformat(row["created"]),
        updated=datetime.fromisoformat(row["updated"]),
        status=row.get("status"),
        local_only=bool(row["local_only"]),
    )


def turn_row(turn: TurnRecord) -> dict[str, Any]:
    """The changing columns of a turn, without its programs."""
    return {
        "status": turn.status,
        "model_id": turn.model_id,
        "reply": clean(turn.reply),
        "thinking": clean(turn.thinking),
        "answer": clean(turn.answer),
        "problem": None if turn.problem is None else dump(asdict(turn.problem)),
        "changes": None if turn.changes is None else dump(change_set_to_json(turn.changes)),
        "approved": dump(list(turn.approved)),
        "conflicts": dump([asdict(conflict) for conflict in turn.conflicts]),
        "reasons": reasons_text(turn.reasons),
        "committed": int(turn.committed),
        "usage": dump(asdict(turn.usage)),
        "seconds": turn.seconds,
        "question": None if turn.question is None else question_to_text(turn.question),
        "routed": turn.routed,
        "offer": None if turn.offer is None else dump(asdict(turn.offer)),
    }


def turn_from(row: Row, programs: Iterable[ProgramRecord]) -> TurnRecord:
    """A turn out of its row and programs."""
    return TurnRecord(
        turn_id=row["id"],
        chat_id=row["chat_id"],
        request=row["request"],
        model_id=row["model_id"],
        status=row["status"],
        started=datetime.fromisoformat(row["started"]),
        reply=row["reply"],
        thinking=row["thinking"],
        programs=tuple(programs),
        answer=row["answer"],
        problem=None if row["problem"] is None else Problem(**json.loads(row["problem"])),
        changes=(
            None if row["changes"] is None else change_set_from_json(json.loads(row["changes"]))
        ),
        approved=tuple(json.loads(row["approved"])),
        conflicts=tuple(_conflict_from(item) for item in json.loads(row["conflicts"])),
        reasons=reasons_from(row["reasons"]),
        committed=bool(row["committed"]),
        usage=Usage(**json.loads(row["usage"])),
        seconds=row["seconds"],
        question=None if row["question"] is None else question_from_text(row["question"]),
        routed=row["routed"],
        offer=None if row["offer"] is None else Offer(**json.loads(row["offer"])),
    )


def reasons_text(reasons: Iterable[Reason]) -> str:
    """Reasons as a JSON column."""
    return dump([{"code": reason.code, "data": dict(reason.data)} for reason in reasons])


def reasons_from(text: str) -> tuple[Reason, ...]:
    """Reasons out of a JSON column."""
    return tuple(Reason(code=item["code"], data=item["data"]) for item in json.loads(text))


def _conflict_from(item: dict[str, Any]) -> ConflictRecord:
    record = ConflictRecord(**item)
    return replace(record, choices=tuple(record.choices))


def program_row(program: ProgramRecord) -> dict[str, Any]:
    """A program as a row of `programs`."""
    return {
        "id": program.program_id,
        "turn_id": program.turn_id,
        "number": program.index,
        "source": clean(program.source),
        "bridged": clean(program.bridged),
        "notes": dump(list(program.notes)),
        "status": program.status,
        "fault": None if program.fault is None else dump(asdict(program.fault)),
        "printed": clean(program.printed),
        "warned": clean(program.warned),
        "value": None if program.value is None else clean(program.value),
        "wall_s": program.wall_s,
        "calls": dump([asdict(group) for group in program.calls]),
        "file_calls": program.file_calls,
        "shown": dump([asdict(item) for item in program.shown]),
    }


def program_from(row: Row) -> ProgramRecord:
    """A program out of its row."""
    return ProgramRecord(
        program_id=row["id"],
        turn_id=row["turn_id"],
        index=row["number"],
        source=row["source"],
        bridged=row["bridged"],
        notes=tuple(json.loads(row["notes"])),
        status=row["status"],
        fault=None if row["fault"] is None else Fault(**json.loads(row["fault"])),
        printed=row["printed"],
        warned=row["warned"],
        value=row["value"],
        wall_s=row["wall_s"],
        calls=tuple(CallGroup(**item) for item in json.loads(row["calls"])),
        file_calls=row["file_calls"],
        shown=tuple(_shown_from(item) for item in json.loads(row["shown"])),
    )


def _shown_from(item: dict[str, Any]) -> Shown:
    item["columns"] = tuple(item["columns"])
    item["rows"] = tuple(tuple(line) for line in item["rows"])
    return Shown(**item)


def effects_text(effects: Iterable[Effect]) -> str:
    """A batch of effects as one JSON column."""
    return dump([asdict(effect) for effect in effects])


def effects_from(text: str) -> list[Effect]:
    """A batch of effects out of its column."""
    found: list[Effect] = []
    for item in json.loads(text):
        span = item.pop("span")
        found.append(Effect(**item, span=None if span is None else Span(**span)))
    return found


def clean(text: str) -> str:
    """Text that SQLite takes: lone surrogates become visible escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
