"""One turn, from the request to a change set that waits for the person.

Reads in the order of things: context, model, program, run, result; then the change set. Owns the
turn's record while it is live and writes every state to the store before it is shown. Thread: the
engine's; the stage and the interpreter work on a worker thread, one at a time.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from app.engine.context import build_context
from app.engine.effect_journal import EffectJournal
from app.engine.events import CallsProgress, ReplyDelta, TurnChanged
from app.engine.gate import StagedGate
from app.engine.idle import idle_fault, only_report_failed
from app.engine.listing import list_folders
from app.engine.mailbox import Mailbox
from app.engine.reply import text_of
from app.store.chats import ChatStore, new_id
from app.store.journal import Step, TurnJournal
from app.store.records import CallGroup, ProgramRecord, TurnRecord, Usage
from sandbox.changeset import ChangeSet
from sandbox.effects import Effect
from sandbox.errors import Fault, ProgramFaultError
from sandbox.grants import NO_GRANTS, Grants
from sandbox.outcome import CallBatch, Outcome, Printed, StopToken
from sandbox.program import Program, prepare
from sandbox.runner import Runner

if TYPE_CHECKING:
    from pydantic_ai import Agent, RunContext
    from pydantic_ai.models import Model
    from pydantic_ai.usage import RunUsage

    from app.engine.warm import ReadyModel
    from models.prompt import Prompt
    from sandbox.stage import Stage

T = TypeVar("T")
_log = logging.getLogger(__name__)

_LISTING_SHARE = 0.2
_LISTING_TOKENS = 640
_PRINTED_TO_MODEL_CHARS = 4_000
_LINE_CHARS = 120
_WRITE_ANEW = frozenset({"SyntaxError", "IndexError"})
"""Faults of programs that a model only repeats when it sees them."""
_LOOP = Fault(
    type="Repetition",
    message="the reply repeated itself and was ended",
    hint="Write a short program; use a loop instead of many like lines.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a turn has to work with.

    `earlier`: the chat's turns before this one; `grants`: what the person allowed in advance.
    """

    turn: TurnRecord
    earlier: Sequence[TurnRecord]
    tries: int
    reply_tokens: int
    temperature: float
    seed: int | None = None
    grants: Grants = NO_GRANTS


@dataclass(slots=True, kw_only=True)
class _Progress:
    """What has happened so far; `faults` counts programs that failed."""

    faults: int = 0
    outcome: Outcome | None = None
    final_text: str = ""
    last_fault: Fault | None = None
    nudged: bool = False
    doubts: bool = False
    """Whether a program that seems to have done nothing counts as failed while tries are left."""
    looped: bool = False


class TriesSpentError(Exception):
    """The last try failed; the turn reports it."""


class LiveTurn:
    """Drives one turn. Make it, then await `run_request` or `run_program`."""

    def __init__(
        self,
        plan: Plan,
        *,
        store: ChatStore,
        journal: TurnJournal,
        mailbox: Mailbox,
        runner: Runner,
        worker: ThreadPoolExecutor,
    ) -> None:
        self.record = plan.turn
        self.stop_token = StopToken()
        self._plan = plan
        self._store = store
        self._journal = journal
        self._mailbox = mailbox
        self._runner = runner
        self._worker = worker
        self._started = time.monotonic() - plan.turn.seconds
        self._progress = _Progress()
        self._stage: Stage | None = None

    # the two ways in

    async def run_request(
        self, get_model: Callable[[], Awaitable[ReadyModel]], open_stage: Callable[[], Stage]
    ) -> ChangeSet:
        """The model writes programs until one works; returns the stage's change set.

        Raises: `ModelError`, `SandboxError`, `TriesSpentError`, `CancelledError`.
        """
        ready = await get_model()
        stage = self._stage = await self._on_worker(open_stage)
        listing = await self._on_worker(
            lambda: list_folders(
                stage,
                self.record.request,
                budget_tokens=min(_LISTING_TOKENS, int(ready.context_tokens * _LISTING_SHARE)),
            )
        )
        await self._converse(ready, listing)
        return await self._finish(stage)

    async def run_program(self, source: str, open_stage: Callable[[], Stage]) -> ChangeSet:
        """Run a given program once; returns the stage's change set.

        Raises: `TriesSpentError` when it fails, `SandboxError`, `CancelledError`.
        """
        stage = self._stage = await self._on_worker(open_stage)
        fault = await self._try_program(source)
        if fault is not None:
            raise TriesSpentError
        return await self._finish(stage)

    # model

    async def _converse(self, ready: ReadyModel, listing: str) -> None:
        from pydantic_ai import Agent
        from pydantic_ai.settings import ModelSettings

        context = build_context(
            ready.prompt,
            request=self.record.request,
            listing=listing,
            earlier=self._plan.earlier,
            context_tokens=ready.context_tokens,
            now=datetime.now().astimezone(),
        )
        agent: Agent[None, str] = Agent(
            ready.model, instructions=context.instructions, retries=self._plan.tries + 1
        )
        self._add_tools(agent, ready)
        self._progress.doubts = ready.one_program
        settings = ModelSettings(
            max_tokens=self._plan.reply_tokens, temperature=self._plan.temperature
        )
        if self._plan.seed is not None:
            settings["seed"] = self._plan.seed
        async with agent.iter(
            context.prompt, message_history=context.history, model_settings=settings
        ) as run:
            async for node in run:
                if Agent.is_model_request_node(node):
                    await self._stream_reply(node, run.ctx, ready.model)
                elif Agent.is_call_tools_node(node):
                    async with node.stream(run.ctx) as events:
                        async for _ in events:
                            pass
                    if ready.one_program and self._progress.outcome is not None:
                        break
                elif Agent.is_end_node(node):
                    self._progress.final_text = str(node.data.output)

    def _add_tools(self, agent: Agent[None, str], ready: ReadyModel) -> None:
        from pydantic_ai import ModelRetry

        @agent.tool_plain
        async def run_code(source: str) -> str:  # pyright: ignore[reportUnusedFunction]  # registered
            """Run one Python program over the person's folders and return what it printed.

            Args:
                source: The whole program.
            """
            fault = await self._try_program(source)
            if fault is None:
                return self._result_text()
            if self._progress.faults >= self._plan.tries:
                raise TriesSpentError
            raise ModelRetry(self._told(fault, ready.prompt))

        @agent.output_validator
        async def check_answer(text: str) -> str:  # pyright: ignore[reportUnusedFunction]  # registered
            """Ask a small model once for a program when it only talked."""
            if not ready.one_program or self._progress.outcome is not None:
                return text
            if self._progress.looped:
                fault = self._failed(self._new_program(text), _LOOP)
                if self._progress.faults >= self._plan.tries:
                    raise TriesSpentError
                raise ModelRetry(self._told(fault, ready.prompt))
            if self._progress.nudged:
                if self._progress.faults:
                    raise TriesSpentError
                return text
            self._progress.nudged = True
            raise ModelRetry(ready.prompt.no_program.strip())

    async def _stream_reply(self, node: Any, ctx: RunContext[None] | Any, model: Model) -> None:
        from models.local import REPEATED

        self._update(status="writing", reply="")
        began = time.monotonic()
        text: list[str] = []
        try:
            async with node.stream(ctx) as events:
                async for event in events:
                    delta = text_of(event)
                    if delta:
                        text.append(delta)
                        self._tell(delta)
                usage = events.usage
                details: dict[str, Any] = events.response.provider_details or {}
        except BaseException:  # stopped or failed: what was written so far is kept
            self.record = replace(self.record, reply="".join(text))
            raise
        self._progress.looped = REPEATED in details
        self._journal_step("replied", chars=sum(map(len, text)), model=model.model_name)
        self._update(
            reply="".join(text),
            usage=self._usage(usage, time.monotonic() - began, model),
        )

    def _tell(self, text: str) -> None:
        chat_id, turn_id = self.record.chat_id, self.record.turn_id
        self._mailbox.post(ReplyDelta(chat_id=chat_id, turn_id=turn_id, text=text))

    # program

    async def _try_program(self, source: str) -> Fault | None:
        """Bridge, check and run `source` on a layer of its own; None when it worked."""
        record = self._new_program(source)
        self._update(status="checking", programs=(*self.record.programs, record))
        if any(source.strip() == former.source.strip() for former in self.record.programs[:-1]):
            return self._failed(record, _again(self._progress.last_fault))
        try:
            program = prepare(source)
        except ProgramFaultError as error:
            return self._failed(record, error.fault)
        record = replace(record, bridged=program.repaired, notes=program.notes)
        self._journal_step("program-started", program=record.program_id, number=record.index)
        self._update_program(record, status="running")
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
            self._update_program(record)
            raise asyncio.CancelledError
        if outcome.fault is not None:
            return self._failed(record, outcome.fault)
        self._progress.outcome = outcome
        self._journal_step("program-ended", program=record.program_id, status="ok")
        self._update_program(record)
        return None

    async def _run(self, program: Program, record: ProgramRecord) -> Outcome:
        stage = self._stage
        assert stage is not None

        def work() -> Outcome:
            stage.push()
            kept = False
            try:
                outcome = self._runner.run(
                    program,
                    program_id=record.program_id,
                    stage=stage,
                    gate=StagedGate(self._plan.grants, program.source),
                    journal=EffectJournal(self._store, self.record.turn_id, loop),
                    listen=listen,
                    stop=self.stop_token,
                    grants=self._plan.grants,
                )
                outcome = self._doubted(outcome, program.source, stage)
                kept = outcome.status == "ok"
                return outcome
            finally:
                if kept:
                    stage.merge()
                else:
                    stage.drop()

        loop = asyncio.get_running_loop()
        listen = self._listener(record)
        return await self._on_worker(work)

    def _doubted(self, outcome: Outcome, source: str, stage: Stage) -> Outcome:
        """The outcome, as a failed one when it cannot be what the person wanted."""
        if not self._progress.doubts or outcome.status == "stopped":
            return outcome
        request = self.record.request
        if outcome.fault is not None:
            if only_report_failed(request, source, outcome.fault, stage.changes()):
                note = f"only the last print failed: {outcome.fault.message}"
                notes = (*outcome.notes, note)
                return replace(outcome, status="ok", fault=None, notes=notes)
            return outcome
        if self._progress.faults + 1 >= self._plan.tries:
            return outcome
        answer = f"{outcome.printed}{outcome.value or ''}".strip()
        fault = idle_fault(
            request, source, answer, stage.changes(), notes=outcome.notes, doubts=outcome.doubts
        )
        return outcome if fault is None else replace(outcome, status="error", fault=fault)

    def _told(self, fault: Fault, prompt: Prompt) -> str:
        """What the model is told of the latest program, which it does not see by itself.

        It gets a program back once, if it is known what is wrong with one line: a small model that
        sees a program is likely to write it again.
        """
        source = self.record.programs[-1].source
        lines = source.splitlines()
        if fault.line is None or not 0 < fault.line <= len(lines):
            return prompt.retry_text(fault.brief())
        said = f"{fault.message}, in the line `{lines[fault.line - 1].strip()[:_LINE_CHARS]}`"
        brief = replace(fault, message=said, line=None).brief()
        if fault.hint and fault.type not in _WRITE_ANEW and self._progress.faults == 1:
            return prompt.correct_text(brief, source)
        return prompt.retry_text(brief)

    def _new_program(self, source: str) -> ProgramRecord:
        return ProgramRecord(
            program_id=new_id(),
            turn_id=self.record.turn_id,
            index=len(self.record.programs) + 1,
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
            self._mailbox.post(
                CallsProgress(
                    chat_id=self.record.chat_id,
                    turn_id=record.turn_id,
                    program_id=record.program_id,
                    calls=tuple(groups.values()),
                )
            )

        return listen

    def _failed(self, record: ProgramRecord, fault: Fault) -> Fault:
        self._progress.faults += 1
        self._progress.last_fault = fault
        self._journal_step("program-ended", program=record.program_id, status="error")
        self._update_program(replace(record, status="error", fault=fault))
        return fault

    # result

    async def _finish(self, stage: Stage) -> ChangeSet:
        changes = await self._on_worker(stage.changes)
        self._update(answer=self._answer(), changes=changes if changes.changes else None)
        return changes

    def _answer(self) -> str:
        outcome = self._progress.outcome
        if self._progress.final_text or outcome is None:
            return self._progress.final_text
        printed = outcome.printed.strip()
        value = (outcome.value or "").strip()
        if value and value not in printed:
            return f"{printed}\n{value}".strip()
        return printed

    def _result_text(self) -> str:
        answer = self._answer() or "The program ran and printed nothing."
        if len(answer) <= _PRINTED_TO_MODEL_CHARS:
            return answer
        half = _PRINTED_TO_MODEL_CHARS // 2
        cut = len(answer) - 2 * half
        return f"{answer[:half]}\n... {cut} characters left out ...\n{answer[-half:]}"

    @property
    def last_fault(self) -> Fault | None:
        """The fault of the latest program that failed."""
        return self._progress.last_fault

    # bookkeeping

    def _usage(self, run: RunUsage, model_s: float, model: Model) -> Usage:
        """The turn's usage: what it had before, and `run`, which counts all replies of this run."""
        before = self._plan.turn.usage
        return Usage(
            input_tokens=before.input_tokens + run.input_tokens,
            cached_tokens=before.cached_tokens + run.cache_read_tokens,
            output_tokens=before.output_tokens + run.output_tokens,
            model_s=self.record.usage.model_s + model_s,
            money="0" if model.system == "local" else None,
        )

    async def _on_worker(self, work: Callable[[], T]) -> T:
        """Run blocking `work`; when this turn is cancelled, stop it and wait until it has ended."""
        future = asyncio.get_running_loop().run_in_executor(self._worker, work)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            self.stop_token.stop()
            await asyncio.wait([future])
            if future.exception() is not None:
                _log.debug("turn %s: work ended with an error", self.record.turn_id)
            raise

    def _update(self, **changes: Any) -> None:
        seconds = time.monotonic() - self._started
        self.record = replace(self.record, **changes, seconds=seconds)
        self._store.save_turn(self.record)
        self._mailbox.post(TurnChanged(turn=self.record))

    def _update_program(self, record: ProgramRecord, **changes: Any) -> None:
        self._store.save_program(record)
        programs = (*self.record.programs[: record.index - 1], record)
        self._update(programs=programs, **changes)

    def _journal_step(self, step: Step, **data: str | int | None) -> None:
        self._journal.add(self.record.turn_id, step, **data)


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
