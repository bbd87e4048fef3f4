"""One turn, from the request to a change set that waits for the person.

Reads in the order of things: context, model, program, run, result; then the change set. Owns the
conversation with the model; `attempts.py` runs the programs. Thread: the engine's.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from app.engine.accounts import turn_money
from app.engine.asking import build_agent, settings_of
from app.engine.attempts import Attempts, Plan, TriesSpentError
from app.engine.classic import (
    MOST_STEPS,
    CallWatch,
    CirclingError,
    build_classic_agent,
    dressed,
    is_end_of_calls,
)
from app.engine.context import Context, build_context, declared_by, program_of
from app.engine.conversation import Row
from app.engine.events import ReplyDelta, ThinkingDelta
from app.engine.listing import list_folders
from app.engine.live_record import LiveRecord
from app.engine.reply import Heard, begins_anew, text_of, thinking_of, used_of
from app.store.records import TurnRecord, Usage
from models.prompt import fenced
from sandbox.artifacts import excerpt, is_long
from sandbox.changeset import ChangeSet
from sandbox.errors import Fault
from sandbox.grants import Grants
from sandbox.outcome import StopToken
from sandbox.runner import Runner
from sandbox.spans import span

if TYPE_CHECKING:
    from pydantic_ai import Agent, RunContext
    from pydantic_ai.models import Model
    from pydantic_ai.usage import RunUsage

    from app.engine.warm import ReadyModel
    from models.prompt import Prompt
    from sandbox.session_state import SessionState
    from sandbox.stage import Stage

_MOST_REQUESTS = 40
_LISTING_SHARE = 0.2
_LISTING_TOKENS = 640
_LINE_CHARS = 120
_CANDIDATE_TEMPERATURE = 0.7
_WRITE_ANEW = frozenset({"SyntaxError", "IndexError"})
"""Faults of programs that a model only repeats when it sees them."""
_LOOP = Fault(
    type="Repetition",
    message="the reply repeated itself and was ended",
    hint="Write a short program; use a loop instead of many like lines.",
)


class LiveTurn:
    """Drives one turn. Make it, then await `run_request` or `run_program`."""

    def __init__(
        self, plan: Plan, live: LiveRecord, *, runner: Runner, worker: ThreadPoolExecutor
    ) -> None:
        self._plan = plan
        self._live = live
        self._attempts = Attempts(plan, live, runner=runner, worker=worker)
        self._artifacts = runner.artifacts
        self._final_text = ""
        self._nudged = False
        self._looped = False
        self._said: list[Row] = []
        self._before = plan.turn.usage
        self._watch = CallWatch()

    @property
    def record(self) -> TurnRecord:
        """The turn as it is now."""
        return self._live.record

    @property
    def stop_token(self) -> StopToken:
        """Ends the program that runs."""
        return self._attempts.stop_token

    @property
    def grants(self) -> Grants:
        """What the person allowed in advance, for this run and standing."""
        return self._plan.grants

    @property
    def state(self) -> SessionState | None:
        """What its programs left for the chat's next one; None when none of them worked."""
        return self._attempts.left

    @property
    def looped(self) -> bool:
        """Whether the latest reply went round in circles."""
        return self._looped

    @property
    def last_fault(self) -> Fault | None:
        """The fault of the latest program that failed."""
        return self._attempts.last_fault

    # the two ways in

    async def run_request(
        self, get_model: Callable[[], Awaitable[ReadyModel]], open_stage: Callable[[], Stage]
    ) -> ChangeSet:
        """The model writes programs until one works; returns the stage's change set.

        Raises: `ModelError`, `SandboxError`, `TriesSpentError`, `TurnAskingError`,
        `LoopedError`, `CancelledError`.
        """
        with span("drydock.turn", turn_id=self.record.turn_id, model=self.record.model_id):
            return await self._requested(get_model, open_stage)

    async def _requested(
        self, get_model: Callable[[], Awaitable[ReadyModel]], open_stage: Callable[[], Stage]
    ) -> ChangeSet:
        ready = dressed(await get_model(), self._plan.way)
        stage = self._attempts.stage = await self._attempts.on_worker(open_stage)
        with span("drydock.listing"):
            listing = await self._attempts.on_worker(
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
        stage = self._attempts.stage = await self._attempts.on_worker(open_stage)
        fault = await self._attempts.try_program(source)
        if fault is not None:
            raise TriesSpentError
        return await self._finish(stage)

    # model

    async def _converse(self, ready: ReadyModel, listing: str) -> None:
        from pydantic_ai.exceptions import AgentRunError

        context = self._context(ready, listing)
        try:
            await self._ask_candidates(ready, context)
        except Exception as error:
            if self._calls and is_end_of_calls(error):
                if self._attempts.outcome is None:
                    raise TriesSpentError from error
                return  # what the calls did so far stands, as it would anywhere
            if not isinstance(error, AgentRunError):
                raise
            if ready.explain is None:
                raise
            raise ready.explain(error) from error

    async def _ask_candidates(self, ready: ReadyModel, context: Context) -> None:
        """One program, or as many as have to vote."""
        from app.engine.taped_model import TapedModel

        # One for all: a further candidate's replies follow those of the first on the tape.
        model = TapedModel(ready.model, self._plan.tape)
        self._attempts.doubts = ready.one_program and self._plan.way == "code"
        wanted = self._plan.candidates if self._attempts.doubts else 1
        self._attempts.voting = wanted > 1
        for number in range(wanted):
            self._attempts.next_candidate()
            try:
                await self._exchange(ready, model, context, number)
            except TriesSpentError:
                if not self._attempts.has_ballots:
                    raise
            if self._attempts.is_decided or self._final_text:
                break
        election = await self._attempts.count_votes() if self._attempts.voting else None
        if election is not None:
            usage = replace(
                self.record.usage, candidates=election.ballots, agreeing=election.agreeing
            )
            self._live.update(usage=usage)
        if ready.one_program:
            self._keep_said()

    def _keep_said(self) -> None:
        """Keep what the model was sent, for the chat's next turn; with the program that counts."""
        source = program_of(self.record)
        if not self._said:
            return
        if source and source.strip() not in self._said[-1][1]:
            self._said[-1] = ("assistant", fenced(source))
        self._plan.conversation.keep(self.record.turn_id, self._said)

    async def _exchange(
        self, ready: ReadyModel, model: Model, context: Context, number: int
    ) -> None:
        """Request and reply until the model has nothing more to do."""
        from pydantic_ai import Agent
        from pydantic_ai.usage import UsageLimits

        from models.local import said_rows

        agent = self._agent(ready, model, context.instructions)
        self._add_check(agent, ready)
        self._attempts.sees = ready.sees
        self._before = self.record.usage
        seed = self._plan.seed
        settings = settings_of(
            ready,
            reply_tokens=self._plan.reply_tokens,
            temperature=max(self._plan.temperature, _CANDIDATE_TEMPERATURE if number else 0),
            seed=None if seed is None else seed + number,
        )
        async with agent.iter(
            context.prompt,
            message_history=context.history,
            model_settings=settings,
            usage_limits=UsageLimits(request_limit=MOST_STEPS if self._calls else _MOST_REQUESTS),
        ) as run:
            async for node in run:
                if Agent.is_model_request_node(node):
                    with span("drydock.reply", model=self.record.model_id):
                        await self._stream_reply(node, run.ctx, ready)
                elif Agent.is_call_tools_node(node):
                    async with node.stream(run.ctx) as events:
                        async for _ in events:
                            pass
                    if ready.one_program and self._attempts.ran:
                        break
                elif Agent.is_end_node(node):
                    self._final_text = _spoken(str(node.data.output))
            self._said = said_rows(run.all_messages()[context.repeated :])

    def _agent(self, ready: ReadyModel, model: Model, instructions: str) -> Agent[None, str]:
        if self._calls:
            return build_classic_agent(
                model,
                instructions,
                toolset=self._plan.tools,
                request=self.record.request,
                run=self._run_call,
            )

        async def run(source: str) -> Any:
            return await self._run_code(source, ready)

        return build_agent(
            ready,
            instructions,
            tries=self._plan.tries,
            run_code=run,
            model=model,
            tools=self._plan.tools,
            shell=self._plan.workspace is not None,
        )

    @property
    def _calls(self) -> bool:
        """Whether the model makes one call after the other."""
        return self._plan.way == "tools"

    async def _run_call(self, source: str) -> str:
        """One call of a tool; what went wrong is told as its result."""
        fault = await self._attempts.try_program(source, again=True)
        told = self._result_text() if fault is None else f"Error: {fault.brief()}"
        if self._watch.is_circling(source, told):
            raise CirclingError
        return told

    def _context(self, ready: ReadyModel, listing: str) -> Context:
        """What the model is sent first: as it was, when the turn goes on."""
        from pydantic_ai.messages import ModelMessagesTypeAdapter

        kept = self._plan.tape.context
        if kept is not None:
            kept = dict(kept)
            kept["history"] = ModelMessagesTypeAdapter.validate_json(kept["history"])
            return Context(**kept)
        context = build_context(
            ready.prompt,
            request=self.record.request,
            listing=listing,
            earlier=self._plan.earlier,
            context_tokens=ready.context_tokens,
            now=datetime.now().astimezone(),
            calls=not ready.one_program,
            tools=self._plan.tools,
            conversation=self._plan.conversation,
            reply_tokens=self._plan.reply_tokens,
            declared=declared_by(self._plan.way, self.record.request, self._plan.tools),
        )
        history = ModelMessagesTypeAdapter.dump_json(context.history).decode("utf-8")
        kept = {item.name: getattr(context, item.name) for item in fields(context)}
        self._plan.tape.set_context({**kept, "history": history})
        return context

    async def _run_code(self, source: str, ready: ReadyModel) -> Any:
        from pydantic_ai import ModelRetry

        fault = await self._attempts.try_program(source)
        if fault is None or await self._attempts.settle():
            text, pictures = self._result_text(), self._pictures()
            return _with_pictures(text, pictures) if pictures else text
        raise ModelRetry(self._told(fault, ready.prompt))

    def _add_check(self, agent: Agent[None, str], ready: ReadyModel) -> None:
        from pydantic_ai import ModelRetry

        @agent.output_validator
        async def check_answer(text: str) -> str:  # pyright: ignore[reportUnusedFunction]  # registered
            """Ask a small model once for a program when it only talked."""
            if self._calls and not (self.record.programs or self._nudged):
                self._nudged = True
                raise ModelRetry(ready.prompt.no_program.strip())
            if not ready.one_program or self._attempts.ran:
                return text
            if self._looped:
                fault = self._attempts.failed(self._attempts.new_program(text), _LOOP)
                if await self._attempts.settle():
                    return ""
                raise ModelRetry(self._told(fault, ready.prompt))
            if self._nudged:
                if self._attempts.faults:
                    await self._attempts.settle(now=True)
                    return ""
                return text
            self._nudged = True
            raise ModelRetry(ready.prompt.no_program.strip())

    async def _stream_reply(
        self, node: Any, ctx: RunContext[None] | Any, ready: ReadyModel
    ) -> None:
        from models.local import REPEATED

        self._live.update(status="writing", reply="", thinking="")
        self._attempts.loops.reply_begins()
        began = time.monotonic()
        if ready.tab is not None:
            ready.tab.begin_reply()
        words = Heard()
        try:
            async with node.stream(ctx) as events:
                async for event in events:
                    self._attempts.loops.thoughts(thinking_of(event))
                    self._hear(event, words)
                usage = events.usage
                response = events.response
                details: dict[str, Any] = response.provider_details or {}
        except BaseException:  # stopped or failed: what was written so far is kept
            self._live.record = replace(self.record, reply=words.text, thinking=words.thinking)
            raise
        model_s = time.monotonic() - began
        if ready.tab is not None:
            ready.tab.end_reply(used_of(response.usage, model_s))
        self._looped = REPEATED in details
        self._live.step("replied", chars=len(words.text), model=ready.model.model_name)
        self._live.update(
            reply=words.text,
            thinking=words.thinking,
            usage=self._usage(usage, model_s, ready),
        )

    def _hear(self, event: object, words: Heard) -> None:
        """Tell what an event of the stream brings. A reply that begins anew is shown anew."""
        if begins_anew(event, begun=words.begun):
            words.clear()
            self._live.update(status="writing", reply="", thinking="")
        ids = {"chat_id": self.record.chat_id, "turn_id": self.record.turn_id}
        if text := text_of(event):
            words.texts.append(text)
            self._live.mailbox.post(ReplyDelta(**ids, text=text))
        if thought := thinking_of(event):
            words.thoughts.append(thought)
            self._live.mailbox.post(ThinkingDelta(**ids, text=thought))
        words.begun = True

    # program

    def _told(self, fault: Fault, prompt: Prompt) -> str:
        """What the model is told of the latest program, which it does not see by itself.

        It gets a program back once, if it is known what is wrong with one line: a small model that
        sees a program is likely to write it again.
        """
        if self._plan.way == "naive":
            return prompt.retry_text(f"{fault.type}: {fault.message}")
        source = self.record.programs[-1].source
        lines = source.splitlines()
        if fault.line is None or not 0 < fault.line <= len(lines):
            return prompt.retry_text(fault.brief())
        said = f"{fault.message}, in the line `{lines[fault.line - 1].strip()[:_LINE_CHARS]}`"
        brief = replace(fault, message=said, line=None).brief()
        if fault.hint and fault.type not in _WRITE_ANEW and self._attempts.faults == 1:
            return prompt.correct_text(brief, source)
        return prompt.retry_text(brief)

    # result

    async def _finish(self, stage: Stage) -> ChangeSet:
        with span("drydock.changes"):
            changes = await self._attempts.on_worker(stage.changes)
        reasons = await self._attempts.on_worker(lambda: self._attempts.reasons(changes))
        self._live.update(
            answer=self._answer(), changes=changes if changes.changes else None, reasons=reasons
        )
        return changes

    def _answer(self) -> str:
        outcome = self._attempts.outcome
        if self._final_text or outcome is None:
            return self._final_text
        printed = outcome.printed.strip()
        value = (outcome.value or "").strip()
        if value and value not in printed:
            return f"{printed}\n{value}".strip()
        return printed

    def _result_text(self) -> str:
        answer = self._answer() or "The program ran and printed nothing."
        outcome, artifacts = self._attempts.outcome, self._artifacts
        if outcome is not None and outcome.warned.strip():
            answer = f"{answer}\n[standard error]\n{outcome.warned.strip()}"
        if artifacts is not None and is_long(answer):
            data = answer.encode("utf-8", "replace")
            kept = artifacts.keep(data, media_type="text/plain", name="output.txt")
            answer = excerpt(answer, kept)
        if outcome is not None and outcome.notes:
            answer = "\n".join([answer, *outcome.notes])
        for kept in outcome.kept if outcome is not None else ():
            answer += f"\n[kept as {kept.described()}]"
        return answer

    def _pictures(self) -> list[Any]:
        """What the program looked at, for a model that sees."""
        from pydantic_ai import BinaryContent

        outcome, artifacts = self._attempts.outcome, self._artifacts
        if outcome is None or artifacts is None:
            return []
        return [
            BinaryContent(data=artifacts.read(kept.artifact_id), media_type=kept.media_type)
            for kept in outcome.looks
        ]

    # bookkeeping

    def _usage(self, run: RunUsage, model_s: float, ready: ReadyModel) -> Usage:
        """The turn's usage: what it had before, and `run`, which counts all replies of this run.

        With a tab its accounts say what the turn took, requests that broke off included.
        """
        before = self._before
        used = Usage(
            input_tokens=before.input_tokens + run.input_tokens,
            cached_tokens=before.cached_tokens + run.cache_read_tokens,
            output_tokens=before.output_tokens + run.output_tokens,
            model_s=self.record.usage.model_s + model_s,
            money="0" if ready.model.system == "local" else None,
        )
        if ready.tab is None:
            return used
        total = ready.tab.total()
        money, currency = turn_money(total)
        return replace(
            used,
            money=money,
            currency=currency,
            thinking_tokens=total.thinking_tokens,
            energy_j=total.energy_j,
        )


def _with_pictures(text: str, pictures: list[Any]) -> Any:
    """A result with what a model that sees is shown."""
    from pydantic_ai import ToolReturn

    return ToolReturn(return_value=text, content=pictures)


def _spoken(text: str) -> str:
    """The model's last words; empty when it had none."""
    from models.remote import EMPTY_WORDS

    return "" if text == EMPTY_WORDS else text
