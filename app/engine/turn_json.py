"""A turn as JSON for the command line and the lab (schema: `app/cli.py`). Thread: engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from app.engine.engine import Engine
from app.engine.reason_words import reason_sentence
from app.store.records import ProgramRecord, TurnRecord
from sandbox.changeset import change_to_json
from sandbox.effects import Effect
from sandbox.question import Question

VERSION = 1


async def turn_json(engine: Engine, turn: TurnRecord) -> dict[str, Any]:
    """Everything about a turn."""
    effects = await engine.effects(turn.turn_id)
    return {
        "version": VERSION,
        "run_id": turn.turn_id,
        "status": turn.status,
        "task": turn.request,
        "answer": turn.answer,
        "error": _error(turn),
        "model": turn.model_id,
        "folders": [
            {"path": folder.path, "rights": folder.rights}
            for folder in await engine.folders_of(turn.turn_id)
        ],
        "programs": [_program(program) for program in turn.programs],
        "effects": _effects(effects),
        "changes": [
            change_to_json(change) for change in (turn.changes.changes if turn.changes else ())
        ],
        "routed": turn.routed,
        "offer": None if turn.offer is None else asdict(turn.offer),
        "committed": turn.committed,
        "approved": list(turn.approved),
        "reasons": [
            {"code": one.code, "text": reason_sentence(one), "data": dict(one.data)}
            for one in turn.reasons
        ],
        "question": _question(turn.question),
        "conflicts": [
            {"path": item.path, "reason": item.reason, "change": item.change_id}
            for item in turn.conflicts
        ],
        "usage": {
            "prompt_tokens": turn.usage.input_tokens,
            "completion_tokens": turn.usage.output_tokens,
            "cached_tokens": turn.usage.cached_tokens,
            "candidates": turn.usage.candidates,
            "agreeing": turn.usage.agreeing,
            "thinking_tokens": turn.usage.thinking_tokens,
            "model_seconds": round(turn.usage.model_s, 3),
            "seconds": round(turn.seconds, 3),
            "money": turn.usage.money,
            "currency": turn.usage.currency,
            "energy_joules": turn.usage.energy_j,
        },
    }


def _question(question: Question | None) -> dict[str, Any] | None:
    if question is None:
        return None
    return {
        "kind": question.kind,
        "call": question.call,
        "line": question.line,
        "effects": _effects(question.effects),
        "reasons": [
            {"code": one.code, "text": reason_sentence(one), "data": dict(one.data)}
            for one in question.reasons
        ],
        "text": question.exact,
        "choices": list(question.choices),
        "so_far": dict(question.composition.counts),
    }


def _error(turn: TurnRecord) -> dict[str, str] | None:
    if turn.problem is None:
        return None
    return {
        "message": turn.problem.message,
        "hint": turn.problem.hint,
        "details": turn.problem.details,
    }


def _program(program: ProgramRecord) -> dict[str, Any]:
    fault = program.fault
    return {
        "source": program.source,
        "repaired": program.bridged,
        "notes": list(program.notes),
        "tries": program.index,
        "status": program.status,
        "error": None
        if fault is None
        else {
            "type": fault.type,
            "message": fault.message,
            "line": fault.line,
            "hint": fault.hint,
        },
        "printed": program.printed,
        "standard_error": program.warned,
        "value": program.value,
        "seconds": round(program.wall_s, 4),
        "file_calls": program.file_calls,
    }


def _effects(effects: Sequence[Effect]) -> list[dict[str, Any]]:
    return [
        {
            "kind": effect.kind,
            "path": effect.path,
            "target": effect.target,
            "bytes": effect.size_bytes,
            "folder": effect.folder,
            "call": effect.call,
            "line": None if effect.span is None else effect.span.line,
        }
        for effect in effects
    ]
