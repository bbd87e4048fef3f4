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
from dataclasses import dataclass, field, replace
from typing import TypeVar

from app.engine.conversation import Conversation
from app.engine.effect_journal import EffectJournal
from app.engine.events import CallsProgress
from app.engine.expect import FilesBefore, Finished, unmet
from app.engine.gate import TurnGate, shown_before
from app.engine.idle import idle_fault, only_report_failed
from app.engine.live_record import LiveRecord
from app.engine.loops import LoopWatch
from app.engine.toolbox import Way
from app.engine.turn_tape import TurnTape
from app.store.chats import new_id
from app.store.codec import clean
from app.store.journal import Step
from app.store.records import GIVEN_PROGRAM, CallGroup, ProgramRecord, TurnRecord
from models.consensus import Ballot, Election, ballot_of, decided, elect
from sandbox.builtin_tools import builtin_tools
from sandbox.changeset import ChangeSet
from sandbox.effects import Effect
from sandbox.errors import Fault, ProgramFaultError, StateUnusableError
from sandbox.grants import NO_GRANTS, Grants
from sandbox.outcome import CallBatch, Outcome, Printed, StopToken
from sandbox.ports import NO_SECRETS, Reason, Secrets
from sandbox.program import Program, prepare
from sandbox.question import Question, composed
from sandbox.review import Surroundings
from sandbox.runner import Runner
from sandbox.session_state import FRESH, SessionState
from sandbox.spans import carried, span
from sandbox.stage import Stage
from sandbox.tape import Result, Tape, TapeDivergedError
from sandbox.tools import ToolSet
from sandbox.unbridged import prepare_unbridged
from sandbox.workspace.session import Workspace

T = TypeVar("T")
_IDLE_WEIGHT = 10
"""A program that did nothing is worth less than one that did most of it."""

_log = logging.getLogger(__name__)
_CHANGED = "What it works on had changed meanwhile: it was run again from its start."


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a turn has to work with.

    `earlier`: the chat's turns before this one; `tape`: what it was answered already, if it goes
    on; `grants`: what the person allowed in advance; `around`: what the review's rules look up; it
    blocks; `secrets`: what programs may use; `workspace`: where shell commands run; `conversation`:
    what the chat's local model was sent before; `find_state`: what earlier programs of the chat
    left; it blocks; `tools`: what programs can call; `way`: how the model works with it.
    """

    turn: TurnRecord
    earlier: Sequence[TurnRecord]
    tries: int
    reply_tokens: int
    temperature: float
    tape: TurnTape
    seed: int | None = None
    grants: Grants = NO_GRANTS
    around: Callable[[], Surroundings] = Surroundings
    secrets: Secrets = NO_SECRETS
    candidates: int = 1
    workspace: Workspace | None = None
    conversation: Conversation = field(default_factory=Conversation)
    find_state: Callable[[], SessionState] = lambda: FRESH
    tools: ToolSet = field(default_factory=builtin_tools)
    way: Way = "code"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Doubted:
    """A program that ran to its end but was doubted: what there is if no better one comes."""

    source: str
    doubts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cast:
    source: str
    ballot: Ballot


class TriesSpentError(Exception):
    """The last try failed; the turn reports it."""


class TurnAskingError(Exception):
    """A program waits for the person; the turn ends here until there is an answer."""

    def __init__(self, question: Question) -> None:
        super().__init__(question.kind)
        self.question = question


class Attempts:
    """Runs the programs of one turn.

    `outcome`: of the latest program that worked; `faults` counts programs that failed, `last_fault`
    is the latest of theirs; `doubts`: whether a program that seems to have done nothing counts as
    failed while tries are left; `sees`: whether the model is shown pictures; `stage`: set before
    the first program runs; `voting`: whether a program that works casts a ballot, and leaves the
    stage as it was; `ran`: whether one has worked since `next_candidate`; `left`: what programs
    that worked left for the next one, None while none did.
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
        self.voting = False
        self.ran = False
        self._ballots: list[_Cast] = []
        self._before: FilesBefore | None = None
        self._doubted: list[_Doubted] = []
        self._plan = plan
        self._live = live
        self._runner = runner
        self._worker = worker
        self._gate = TurnGate(plan.grants, plan.turn.request, shown_before(plan.earlier))
        self.loops = LoopWatch()
        self._number = 0
        self._former = {program.index: program for program in plan.turn.programs}
        self._made: list[tuple[bytes, Result]] = []
        self._state: SessionState | None = None
        self.left: SessionState | None = None
        self._kept: list[Effect] = []

    @property
    def spent(self) -> bool:
        """Whether no try is left."""
        return self.faults >= self._plan.tries

    async def try_program(self, source: str, *, again: bool = False) -> Fault | None:
        """Bridge, check and run `source` on a layer of its own; None when it worked.

        Raises `TurnAskingError` when it waits for the person, `LoopedError` when the model goes
        round in circles. `again`: it may be one that was tried before.
        """
        record = self.new_program(source)
        with span("drydock.program", program_id=record.program_id, number=record.index):
            return await self._try(source, record, again=again)

    async def _try(self, source: str, record: ProgramRecord, *, again: bool) -> Fault | None:
        self._live.update_program(record, status="checking")
        asked = self._plan.turn.model_id != GIVEN_PROGRAM and not (again or self.voting)
        if asked and self.faults + 1 < self._plan.tries:
            self.loops.program(source)
        former = self._live.record.programs[: record.index - 1]
        if not again and any(source.strip() == program.source.strip() for program in former):
            if self._casts_again(source):
                self._live.update_program(replace(record, status="ok"))
                return None
            return self.failed(record, _again(self.last_fault))
        try:
            program = await self._made_ready(source, record)
        except ProgramFaultError as error:
            return self.failed(record, error.fault)
        record = replace(record, bridged=program.repaired, notes=program.notes)
        self._step(record, "program-started", number=record.index)
        self._live.update_program(replace(record, status="running"), status="running")
        try:
            outcome = await self._run_again(program, record)
        except StateUnusableError as error:
            self._live.tell(error.message, error.hint)
            self._state = FRESH
            return await self._try(source, record, again=True)
        record = replace(
            record,
            status=outcome.status,
            fault=outcome.fault,
            printed=outcome.printed,
            warned=outcome.warned,
            value=outcome.value,
            wall_s=outcome.wall_s,
            calls=_group(outcome.effects),
            file_calls=outcome.file_calls,
            shown=outcome.shown,
            notes=(*record.notes, *outcome.notes),
        )
        if outcome.status == "stopped":
            self._live.update_program(record)
            raise asyncio.CancelledError
        if outcome.question is not None:
            self._live.update_program(record)
            so_far = composed((*self._kept, *outcome.effects))
            raise TurnAskingError(replace(outcome.question, composition=so_far))
        if outcome.fault is not None:
            return self.failed(record, outcome.fault)
        self.loops.result(f"{outcome.printed}{outcome.value or ''}" if not outcome.effects else "")
        self.ran = True
        if not self.voting:
            self.outcome = outcome
            self._state = self.left = outcome.state or self._state
            self._kept += outcome.effects
        self._step(record, "program-ended", status="ok")
        self._live.update_program(record)
        return None

    async def _made_ready(self, source: str, record: ProgramRecord) -> Program:
        """Bridge and check a program. Raises `ProgramFaultError`."""
        if self._plan.way == "naive":
            return prepare_unbridged(source, self._plan.tools)
        if self._state is None:
            self._state = await self.on_worker(self._plan.find_state)
        with span("drydock.bridge", program_id=record.program_id):
            program = prepare(source, self._plan.tools, self._state)
        await self.on_worker(lambda: self._runner.check(program))
        return program

    async def _run_again(self, program: Program, record: ProgramRecord) -> Outcome:
        """Run `program` as its tape has it; from its start when that is no longer so."""
        tape = self._plan.tape.program(record.index, program.repaired)
        try:
            outcome = await self._run(program, record, tape)
        except TapeDivergedError as error:
            _log.info("turn %s: %s", self._live.record.turn_id, error.message)
            self._plan.tape.repeat(record.index)
            tape = self._plan.tape.program(record.index, program.repaired)
            outcome = await self._run(program, record, tape)
            outcome = replace(outcome, notes=(*outcome.notes, _CHANGED))
        if outcome.fault is not None:
            self._made += tape.made()
        return outcome

    async def _run(self, program: Program, record: ProgramRecord, tape: Tape) -> Outcome:
        stage = self.stage
        assert stage is not None
        self._live.store.forget_effects(record.program_id)

        def work() -> Outcome:
            if self.doubts and self._before is None:
                self._before = FilesBefore.of(stage)
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
                    tape=tape,
                    former=self._made,
                    workspace=self._plan.workspace,
                )
                if outcome.state is not None:
                    outcome = replace(outcome, state=self._gate.labelled(outcome.state))
                outcome = self._judged(outcome, program.source, stage)
                if outcome.status == "ok" and record.fault is not None:  # as it was before
                    outcome = replace(outcome, status="error", fault=record.fault)
                kept = outcome.status == "ok" and not self.voting
                if outcome.status == "ok" and self.voting:
                    answer = f"{outcome.printed}{outcome.value or ''}"
                    ballot = ballot_of(_effects_of(stage.changes()), answer)
                    self._ballots.append(_Cast(source=program.source, ballot=ballot))
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

    def _judged(self, outcome: Outcome, source: str, stage: Stage) -> Outcome:
        """The outcome, as a failed one when it cannot be what the person wanted."""
        if not self.doubts or outcome.status in ("stopped", "asking"):
            return outcome
        request = self._live.record.request
        changes = stage.changes()
        if outcome.fault is not None:
            if only_report_failed(request, source, outcome.fault, changes):
                note = f"only the last print failed: {outcome.fault.message}"
                notes = (*outcome.notes, note)
                return replace(outcome, status="ok", fault=None, notes=notes)
            return outcome
        answer = f"{outcome.printed}{outcome.value or ''}".strip()
        fault = idle_fault(
            request, source, answer, changes, notes=outcome.notes, doubts=outcome.doubts
        )
        weight = _IDLE_WEIGHT if fault is not None else 0
        if self._before is not None:
            finished = Finished(source=source, answer=answer, changes=changes)
            doubts = unmet(request, finished, self._before, stage)
            weight += len(doubts)
            if doubts and fault is None:
                hint = " ".join((*doubts[1:3], *outcome.notes))
                fault = Fault(type="Doubtful", message=doubts[0].rstrip("."), hint=hint)
            elif doubts and fault is not None:
                fault = replace(fault, hint=" ".join(doubts[:3]))
        last = self.faults + 1 >= self._plan.tries and not self._ballots
        if fault is None or (last and all(weight <= item.doubts for item in self._doubted)):
            return outcome
        self._doubted.append(_Doubted(source=source, doubts=weight))
        return replace(outcome, status="error", fault=fault)

    async def settle(self, *, now: bool = False) -> bool:
        """With no try left (or `now`), run the least doubtful program again and keep what it does.

        Asks nothing of the model. False while tries are left.
        Raises: `TriesSpentError` when every program failed outright.
        """
        if not (now or self.spent):
            return False
        if self._doubted and not self._ballots:
            best = min(self._doubted, key=lambda item: item.doubts)
            self.doubts = False
            if await self.try_program(best.source, again=True) is None:
                return True
        raise TriesSpentError

    # the vote

    def next_candidate(self) -> None:
        """Begin a program that has no former one to go by. Only the first may be tried again."""
        self.ran = False
        if self._ballots:
            self.faults = self._plan.tries - 1

    @property
    def is_decided(self) -> bool:
        """Whether no further candidate is needed."""
        return decided([cast.ballot for cast in self._ballots], self._plan.candidates)

    @property
    def has_ballots(self) -> bool:
        """Whether any candidate worked."""
        return bool(self._ballots)

    async def count_votes(self) -> Election | None:
        """Run the program that most agree with once more and keep what it does."""
        election = elect([cast.ballot for cast in self._ballots])
        if election is None:
            return None
        self.voting = self.doubts = False
        await self.try_program(self._ballots[election.winner].source, again=True)
        return election

    def _casts_again(self, source: str) -> bool:
        """Let a program cast its ballot again, for another candidate that wrote it too."""
        cast = next((c for c in self._ballots if c.source.strip() == source.strip()), None)
        if cast is None or not self.voting:
            return False
        self._ballots.append(cast)
        self.ran = True
        return True

    def new_program(self, source: str) -> ProgramRecord:
        """The record of the next program; the one it had, when the turn goes on."""
        self._number += 1
        former = self._former.get(self._number)
        if former is not None and former.source == clean(source):
            return former
        return ProgramRecord(
            program_id=new_id() if former is None else former.program_id,
            turn_id=self._live.record.turn_id,
            index=self._number,
            source=source,
        )

    def _step(self, record: ProgramRecord, step: Step, **data: str | int | None) -> None:
        """Journal a step of a program, unless it is told once more."""
        if record.index not in self._former:
            self._live.step(step, program=record.program_id, **data)

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
        self._step(record, "program-ended", status="error")
        self._live.update_program(replace(record, status="error", fault=fault))
        given = self._plan.turn.model_id == GIVEN_PROGRAM
        if not (given or self.voting or self.doubts or self.spent):
            self.loops.fault(f"{fault.type}: {fault.message}")
        return fault

    async def on_worker(self, work: Callable[[], T]) -> T:
        """Run blocking `work`; when this turn is cancelled, stop it and wait until it has ended."""
        future = asyncio.get_running_loop().run_in_executor(self._worker, carried(work))
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


def _effects_of(changes: ChangeSet) -> list[str]:
    """Each change as a text that is the same for the same effect."""
    return [
        f"{item.kind}\0{item.path}\0{item.final_path}\0{item.blob}\0{item.source}\0{item.mode}"
        for item in changes.changes
    ]


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
