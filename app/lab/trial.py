"""One trial: a task's folder made, the task done by the real engine, the verifier's word.

`Bench` owns an engine with a home of its own, so that trials appear in nobody's chats and nothing
of the person's is touched; models are those of the person's home. Thread: engine (the scripts of
tasks run on others).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import shutil
import tempfile
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from app.engine.engine import Engine
from app.engine.events import ReplyDelta
from app.engine.mailbox import Mailbox
from app.engine.turn_json import turn_json
from app.engine.warm import ModelSource
from app.errors import AppError
from app.lab.plan import NOTHING, ORACLE, Slot
from app.lab.scripts import Judged, TaskBrokenError, judge, make_folder
from app.paths import Paths
from app.settings import Settings, save_settings
from app.store.records import Folder, TurnRecord
from app.store.trials import Mode, TrialRecord
from models.hardware import machine_name
from sandbox.grants import grants_of

_log = logging.getLogger(__name__)
_NAIVE_TRIES = 2

UNSAFE = "unsafe: "
"""How a verifier's reason begins when the program did what it must not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """A trial with its trajectory: the task, the turn in full, and the verdict."""

    record: TrialRecord
    trajectory: dict[str, Any]


class _FirstText:
    """Notes when the first text of each turn came."""

    def __init__(self, mailbox: Mailbox) -> None:
        self._mailbox = mailbox
        self._at_s: dict[str, float] = {}

    def note(self) -> None:
        """Take what waits."""
        for event in self._mailbox.drain():
            if isinstance(event, ReplyDelta):
                self._at_s.setdefault(event.turn_id, time.monotonic())

    def since(self, began_s: float, turn_id: str) -> float | None:
        """Seconds from then to this turn's first text; None when there was none."""
        self.note()
        at_s = self._at_s.pop(turn_id, None)
        return None if at_s is None else at_s - began_s


class Bench:
    """An engine for trials. Use it as an asynchronous context."""

    def __init__(
        self, paths: Paths, settings: Settings, *, models: ModelSource | None = None
    ) -> None:
        """`paths`: the person's, for their models; `models`: where models come from, for tests."""
        self._person = paths
        self._settings = settings
        self._models = models
        self._scratch = Path()
        self._engine: Engine | None = None
        self._mode: Mode = "code"
        self._mailbox = Mailbox()
        self._first = _FirstText(self._mailbox)
        self._changing = asyncio.Lock()

    async def __aenter__(self) -> Self:
        self._scratch = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="drydock-lab-"))
        self._mailbox.bind(asyncio.get_running_loop(), self._first.note)
        return self

    async def _engine_for(self, mode: Mode) -> Engine:
        """An engine that works this way; one at a time, for each may have a model loaded."""
        async with self._changing:
            if self._engine is not None and self._mode != mode:
                await self._engine.close()
                self._engine = None
            if self._engine is None:
                home = self._scratch / f"home-{mode}"
                home.mkdir(exist_ok=True)
                paths = Paths(home=home, shared_models=self._person.models)
                if self._person.workspace_image.exists():
                    with contextlib.suppress(OSError):  # then commands run on a lower rung
                        paths.workspace_image.symlink_to(self._person.workspace_image)
                save_settings(paths.settings, _settings_of(self._settings, mode))
                engine = Engine(paths, self._mailbox, models=self._models, way=mode)
                await engine.start(in_background=False)
                self._engine, self._mode = engine, mode
            return self._engine

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._engine is not None:
            await self._engine.close()
        await asyncio.to_thread(shutil.rmtree, self._scratch, ignore_errors=True)

    async def here(self) -> set[str]:
        """What this machine has of what tasks may need."""
        state = await (await self._engine_for("code")).workspace_state()
        return set() if state is None else {"workspace"}

    async def run(self, slot: Slot, run_id: str) -> Finished:
        """Do one trial. A fault of the task or the machine makes it broken; it never raises it."""
        folder = self._scratch / "work" / slot.task.name
        await asyncio.to_thread(_fresh, folder)
        started = datetime.now(UTC)
        record = TrialRecord(
            run_id=run_id,
            suite=slot.task.suite,
            task=slot.task.name,
            capability=slot.task.capability,
            difficulty=slot.task.difficulty,
            model_id=slot.model_id,
            mode=slot.mode,
            seed=slot.seed,
            reward=0.0,
            machine=machine_name(),
            version=version("drydock"),
            at=started.isoformat(),
        )
        result: dict[str, Any] = {}
        try:
            await asyncio.to_thread(make_folder, slot.task, folder, slot.seed)
            record, result = await self._do(slot, folder, record)
            verdict = await asyncio.to_thread(judge, slot.task, folder, slot.seed, result)
            record = _judged(record, verdict)
        except TaskBrokenError as error:
            record = replace(record, broken=True, reason=error.message)
        except Exception as error:  # ours: it says nothing about the model
            _log.exception("trial %s of %s broke", slot.seed, slot.task.name)
            reason = f"an error inside Drydock: {type(error).__name__}: {error}"
            record = replace(record, broken=True, reason=reason)
        finally:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        trajectory = {
            "version": 1,
            "instruction": slot.task.instruction,
            "turn": result,
            "reward": record.reward,
            "reason": record.reason,
        }
        return Finished(record=record, trajectory=trajectory)

    async def _do(
        self, slot: Slot, folder: Path, record: TrialRecord
    ) -> tuple[TrialRecord, dict[str, Any]]:
        """The task, done as a person would have it done; the record and the run's result."""
        if slot.model_id == NOTHING:
            return record, {"answer": "", "effects": [], "programs": [], "status": "done"}
        engine, task = await self._engine_for(slot.mode), slot.task
        grants = grants_of(frozenset(task.grants))
        began_s = time.monotonic()
        try:
            if slot.model_id == ORACLE:
                chat = await engine.new_chat([Folder(path=str(folder))])
                source = await asyncio.to_thread(task.solution.read_text, encoding="utf-8")
                turn = await engine.run_program(chat.chat_id, source, task.name, grants=grants)
            else:
                chat = await engine.new_chat([Folder(path=str(folder))], slot.model_id)
                turn = await engine.send(
                    chat.chat_id, task.instruction, seed=slot.seed, grants=grants
                )
            turn = await _wait(engine, turn, task.timeout_s)
            record = _measured(record, turn)
            if turn.status == "waiting" and turn.changes is not None and task.approve == "all":
                turn = await engine.decide(
                    turn.turn_id, approved=[change.id for change in turn.changes.changes]
                )
        except AppError as error:
            raise TaskBrokenError(error.message, hint=error.hint) from error
        first_s = self._first.since(began_s, turn.turn_id)
        result = await turn_json(engine, turn)
        if turn.problem is not None and turn.problem.kind:
            told = " ".join(filter(None, (turn.problem.message, turn.problem.details)))
            raise TaskBrokenError(told, hint=turn.problem.hint)
        return replace(record, first_token_s=first_s), result


async def _wait(engine: Engine, turn: TurnRecord, timeout_s: float) -> TurnRecord:
    """The turn at its end; one that takes too long is stopped, which is the model's failure."""
    try:
        async with asyncio.timeout(timeout_s):
            return await engine.wait(turn.turn_id)
    except TimeoutError:
        await engine.stop(turn.turn_id)
        return await engine.run_record(turn.turn_id)
    except asyncio.CancelledError:
        await engine.stop(turn.turn_id)
        raise


def _settings_of(settings: Settings, mode: Mode) -> Settings:
    """Plain code mode has one program and one retry, and no vote."""
    if mode != "naive":
        return settings
    model = settings.model.model_copy(update={"tries": _NAIVE_TRIES, "candidates": 1})
    return settings.model_copy(update={"model": model})


def _fresh(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def _measured(record: TrialRecord, turn: TurnRecord) -> TrialRecord:
    """What the turn cost, and how its programs did."""
    faults = [program.fault for program in turn.programs if program.fault is not None]
    changes = len(turn.changes.changes) if turn.changes is not None else 0
    return replace(
        record,
        programs=len(turn.programs),
        valid=sum(program.status == "ok" for program in turn.programs),
        error_type=faults[-1].type if faults else "",
        input_tokens=turn.usage.input_tokens,
        cached_tokens=turn.usage.cached_tokens,
        output_tokens=turn.usage.output_tokens,
        money=turn.usage.money,
        seconds=turn.seconds,
        asked=int(changes > 0),
    )


def _judged(record: TrialRecord, verdict: Judged) -> TrialRecord:
    unsafe = verdict.reason.startswith(UNSAFE)
    return replace(record, reward=verdict.reward, reason=verdict.reason, violations=int(unsafe))
