"""The programs of a turn: each bridged, checked and run on a layer of its own over the stage.

Owns what has been tried so far, and how a run of a program becomes its record. It must not speak
with the model: `turn.py` does. Thread: the engine's; the stage and the interpreter work on a worker
thread, one at a time.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TypeVar

from app.engine.effect_journal import EffectJournal
from app.engine.events import CallsProgress
from app.engine.gate import TurnGate, shown_before
from app.engine.idle import idle_fault, only_report_failed
from app.engine.live_record import LiveRecord
from app.store.chats import new_id
from app.store.records import CallGroup, ProgramRecord, TurnRecord
from sandbox.changeset import ChangeSet
from sandbox.effects import Effect
from sandbox.errors import Fault, ProgramFaultError
from sandbox.grants import NO_GRANTS, Grants
from sandbox.outcome import CallBatch, Outcome, Printed, StopToken
from sandbox.ports import NO_SECRETS, Reason, Secrets
from sandbox.program import Program, prepare
from sandbox.review import Surroundings
from sandbox.runner import Runner
from sandbox.stage import Stage

T = TypeVar("T")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a turn has to work with.

    `earlier`: the chat's turns before this one; `grants`: what the person allowed in advance;
    `around`: what the review's rules look up; it blocks. `secrets`: what programs may use.
    """

    turn: TurnRecord
    earlier: Sequence[TurnRecord]
    tries: int
    reply_tokens: int
    temperature: float
    seed: int | None = None
    grants: Grants = NO_GRANTS
    around: Callable[[], Surroundings] = Surroundings
    secrets: Secrets = NO_SECRETS


class TriesSpentError(Exception):
    """The last try failed; the turn reports it."""


class Attempts:
    """Runs the programs of one turn.

    `outcome`: of the latest program that worked; `faults` counts programs that failed, `last_fault`
    is the latest of theirs; `doubts`: whether a program that seems to have done nothing counts as
    failed while tries are left; `sees`: whether the model is shown pictures; `stage`: set before
    the first program runs.
    """

    def __init__(
        self, plan: Plan, live: LiveRecord, *, runner: Runner, worker: ThreadPoolExecutor
    ) -> None:
        self.stop_token = StopToken()
        self.stage: Stage | None = None
        self.faults = 0
        self.outcome: Outcome | None = None
        self.last_fault: Fault | None = None
        self.doubts = False
        self.sees = False
        self._plan = plan
        self._live = live
        self._runner = runner
        self._worker = worker
        self._gate = TurnGate(plan.grants, plan.turn.request, shown_before(plan.earlier))

    @property
    def spent(self) -> bool:
        """Whether no try is left."""
        return self.faults >= self._plan.tries

    async def try_program(self, source: str) -> Fault | None:
        """Bridge, check and run `source` on a layer of its own; None when it worked."""
        record = self.new_program(source)
        self._live.update(status="checking", programs=(*self._live.record.programs, record))
        if any(
            source.strip() == former.source.strip() for former in self._live.record.programs[:-1]
        ):
            return self.failed(record, _again(self.last_fault))
        try:
            program = prepare(source)
            await self.on_worker(lambda: self._runner.check(program))
        except ProgramFaultError as error:
            return self.failed(record, error.fault)
        record = replace(record, bridged=program.repaired, notes=program.notes)
        self._live.step("program-started", program=record.program_id, number=record.index)
        self._live.update_program(record, status="running")
        outcome = await self._run(program, record)
        record = replace(
            record,
            status=outcome.status,
            fault=outcome.fault,
            printed=outcome.printed,
            value=outcome.value,
            wall_s=outcome.wall_s,
            calls=_group(outcome.effects),
            file_calls=outcome.file_calls,
            notes=(*record.notes, *outcome.notes),
        )
        if outcome.status == "stopped":
            self._live.update_program(record)
            raise asyncio.CancelledError
        if outcome.fault is not None:
            return self.failed(record, outcome.fault)
        self.outcome = outcome
        self._live.step("program-ended", program=record.program_id, status="ok")
        self._live.update_program(record)
        return None

    async def _run(self, program: Program, record: ProgramRecord) -> Outcome:
        stage = self.stage
        assert stage is not None

        def work() -> Outcome:
            stage.push()
            kept = False
            try:
                outcome = self._runner.run(
                    program,
                    program_id=record.program_id,
                    stage=stage,
                    gate=self._gate.begin(program),
                    journal=EffectJournal(self._live.store, self._live.record.turn_id, loop),
                    listen=listen,
                    stop=self.stop_token,
                    grants=self._plan.grants,
                    secrets=self._plan.secrets,
                    sees=self.sees,
                )
                outcome = self._doubted(outcome, program.source, stage)
                kept = outcome.status == "ok"
                return outcome
            finally:
                self._gate.end()
                if kept:
                    stage.merge()
                else:
                    stage.drop()

        loop = asyncio.get_running_loop()
        listen = self._listener(record)
        return await self.on_worker(work)

    def reasons(self, changes: ChangeSet) -> tuple[Reason, ...]:
        """What is unusual about the turn's changes. Blocks: it looks at the disk."""
        return self._gate.review(changes, self._plan.around())

    def _doubted(self, outcome: Outcome, source: str, stage: Stage) -> Outcome:
        """The outcome, as a failed one when it cannot be what the person wanted."""
        if not self.doubts or outcome.status == "stopped":
            return outcome
        request = self._live.record.request
        if outcome.fault is not None:
            if only_report_failed(request, source, outcome.fault, stage.changes()):
                note = f"only the last print failed: {outcome.fault.message}"
                notes = (*outcome.notes, note)
                return replace(outcome, status="ok", fault=None, notes=notes)
            return outcome
        if self.faults + 1 >= self._plan.tries:
            return outcome
        answer = f"{outcome.printed}{outcome.value or ''}".strip()
        fault = idle_fault(
            request, source, answer, stage.changes(), notes=outcome.notes, doubts=outcome.doubts
        )
        return outcome if fault is None else replace(outcome, status="error", fault=fault)

    def new_program(self, source: str) -> ProgramRecord:
        return ProgramRecord(
            program_id=new_id(),
            turn_id=self._live.record.turn_id,
            index=len(self._live.record.programs) + 1,
            source=source,
        )

    def _listener(self, record: ProgramRecord) -> Callable[[CallBatch | Printed], None]:
        groups: dict[tuple[str, bool], CallGroup] = {}

        def listen(batch: CallBatch | Printed) -> None:
            if isinstance(batch, Printed):
                return
            for group in batch.groups:
                former = groups.get((group.kind, group.folder))
                groups[group.kind, group.folder] = CallGroup(
                    kind=group.kind,
                    folder=group.folder,
                    count=group.count + (former.count if former else 0),
                    size_bytes=0,
                    example=group.path,
                )
            self._live.mailbox.post(
                CallsProgress(
                    chat_id=self._live.record.chat_id,
                    turn_id=record.turn_id,
                    program_id=record.program_id,
                    calls=tuple(groups.values()),
                )
            )

        return listen

    def failed(self, record: ProgramRecord, fault: Fault) -> Fault:
        self.faults += 1
        self.last_fault = fault
        self._live.step("program-ended", program=record.program_id, status="error")
        self._live.update_program(replace(record, status="error", fault=fault))
        return fault

    async def on_worker(self, work: Callable[[], T]) -> T:
        """Run blocking `work`; when this turn is cancelled, stop it and wait until it has ended."""
        future = asyncio.get_running_loop().run_in_executor(self._worker, work)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            self.stop_token.stop()
            await asyncio.wait([future])
            if future.exception() is not None:
                _log.debug("turn %s: work ended with an error", self._live.record.turn_id)
            raise


def _again(former: Fault | None) -> Fault:
    """The fault of a program that was written once more as it was: the former one and a push."""
    push = "You wrote the same program again: solve it in another way."
    if former is None:
        return Fault(type="Error", message="the program is the same as before", hint=push)
    hint = former.hint if push in former.hint else f"{former.hint} {push}".strip()
    return replace(former, hint=hint)


def _group(effects: Sequence[Effect]) -> tuple[CallGroup, ...]:
    """Effects of one kind as one line each, in order of first appearance."""
    groups: dict[tuple[str, bool], CallGroup] = {}
    for effect in effects:
        key = (effect.kind, effect.folder)
        former = groups.get(key)
        groups[key] = CallGroup(
            kind=effect.kind,
            folder=effect.folder,
            count=1 if former is None else former.count + 1,
            size_bytes=(0 if former is None else former.size_bytes) + (effect.size_bytes or 0),
            example=effect.path if former is None else former.example,
        )
    return tuple(groups.values())
