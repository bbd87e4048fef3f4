"""One run as a file that stands for itself: what was asked, run, done, changed and answered.

Owns what is in it. Known secret values are taken out of all of it. Thread: engine; the file is
written on a worker.
"""

from __future__ import annotations

import asyncio
import json
import os
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from app.engine.turn_json import turn_json
from app.errors import AppError

if TYPE_CHECKING:
    from app.engine.engine import Engine
    from app.store.records import TurnRecord

_README = """What is in here, of the run {run_id}:

request.txt      what was asked for
answer.txt       what it was answered
programs/        each program as it was written (N.py) and as it was run (N.bridged.py)
run.json         everything of the run: programs, effects, changes, reasons, usage
changes.patch    the changes to texts, as `git apply` takes them
timeline.json    its steps, in order, with their times
"""


async def export_turn(engine: Engine, turn_id: str, path: Path) -> Path:
    """Write a run to a zip file at `path`; an existing one is never replaced.

    Raises: `NotFoundError`, and `AppError` when the file cannot be made.
    """
    turn = await engine.run_record(turn_id)
    steps = [
        {"at": entry.at.isoformat(), "step": entry.step, **entry.data}
        for entry in await engine.journal(turn_id)
    ]
    parts = {
        "README.txt": _README.format(run_id=turn_id).encode(),
        "request.txt": _text(turn.request),
        "answer.txt": _text(turn.answer),
        "run.json": _json(await turn_json(engine, turn)),
        "changes.patch": await engine.patch(turn_id),
        "timeline.json": _json(steps),
        **_programs(turn),
    }
    clean = engine.secrets.vault.redactor.data
    try:
        await asyncio.to_thread(_write, path, {name: clean(data) for name, data in parts.items()})
    except FileExistsError as error:
        raise AppError(f"There is a file {path} already.", hint="Name another one.") from error
    except OSError as error:
        raise AppError(f"{path} cannot be written: {error.strerror}.") from error
    return path


def _programs(turn: TurnRecord) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for program in turn.programs:
        found[f"programs/{program.index}.py"] = _text(program.source)
        if program.bridged:
            found[f"programs/{program.index}.bridged.py"] = _text(program.bridged)
    return found


def _text(text: str) -> bytes:
    return f"{text.rstrip()}\n".encode("utf-8", "surrogateescape")


def _json(value: object) -> bytes:
    return json.dumps(value, indent=2, ensure_ascii=True, default=str).encode("ascii")


def _write(path: Path, parts: dict[str, bytes]) -> None:
    with path.open("xb") as file:
        try:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
                for name, data in parts.items():
                    archive.writestr(name, data)
            file.flush()
            os.fsync(file.fileno())
        except BaseException:
            path.unlink(missing_ok=True)
            raise
