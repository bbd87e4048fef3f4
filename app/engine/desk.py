"""Begins, ends and goes on with turns: the life of a turn around `turn.py`.

Owns which turns are live in this process. Every state is in the store before anybody hears of it.
What is decided on a turn when it has ended is in `decisions.py`. Thread: engine.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace

from app.engine.attempts import Plan, TriesSpentError, TurnAskingError
from app.engine.conversation import Conversations
from app.engine.decisions import Decisions
from app.engine.events import ChatsChanged, Notice, TurnChanged
from app.engine.folders import open_grants
from app.engine.keeper import UndoKeeper
from app.engine.live_record import LiveRecord
from app.engine.loops import LoopedError
from app.engine.offline import is_offline
from app.engine.problems import in_circles, problem_of, spent
from app.engine.ready import ReadyRoom
from app.engine.router import Choice
from app.engine.secret_desk import SecretDesk
from app.engine.standing import StandingGrants
from app.engine.steering import Steering
from app.engine.surroundings import look_around_turn, recently
from app.engine.tape_room import TapeRoom, begun_with
from app.engine.toolbox import Toolbox
from app.engine.turn import LiveTurn
from app.engine.turn_context import TurnContext
from app.engine.turn_tape import TurnTape, forget_strays
from app.engine.workspaces import Workspaces
from app.errors import AppError
from app.store.records import (
    GIVEN_PROGRAM,
    ChatRecord,
    Offer,
    Problem,
    TurnRecord,
    TurnStatus,
    Usage,
)
from app.store.tape_file import TapeUnusableError
from models.errors import ModelError
from sandbox.artifacts import Artifacts
from sandbox.blobs import BlobStore
from sandbox.builtin_tools import builtin_tools
from sandbox.changeset import ChangeSet
from sandbox.check import stubs_for
from sandbox.errors import SandboxError, SandboxUnavailableError, StateUnusableError
from sandbox.grant_budgets import word_of
from sandbox.grants import NO_GRANTS, Grants, grants_of
from sandbox.pool import SandboxPool
from sandbox.question import PersonsAnswer
from sandbox.review import Surroundings, judge_changes
from sandbox.runner import Runner
from sandbox.session_state import FRESH, SessionState
from sandbox.stage import Stage
from sandbox.workspace.shell_tools import asks_for_shell

_log = logging.getLogger(__name__)
_RESUMES = 5
_STOPPED = Problem(message="Stopped. Nothing was changed.")


class TurnDesk:
    """All turns of this process. `decisions`: on those that have ended."""

    def __init__(
        self,
        context: TurnContext,
        *,
        models: ReadyRoom,
        steering: Steering,
        keeper: UndoKeeper,
        secrets: SecretDesk,
        standing: StandingGrants,
        workspaces: Workspaces,
        toolbox: Toolbox,
    ) -> None:
        self._paths = context.paths
        self._store = context.store
        self._standing = standing
        self._journal = context.journal
        self._mailbox = context.mailbox
        self._states = context.states
        self._models = models
        self._steering = steering
        self._settings = context.settings
        self._secrets = secrets
        self._tapes = TapeRoom(context.paths, secrets.mark)
        self._workspaces = workspaces
        self._toolbox = toolbox
        self._worker = context.worker
        limits, stubs = context.settings().sandbox.limits(), stubs_for(builtin_tools())
        self._pool = SandboxPool(limits, stubs=stubs)  # so that programs start warm
        self.decisions = Decisions(context, keeper)
        self._conversations = Conversations()
        self._live: dict[str, tuple[LiveTurn, asyncio.Task[None]]] = {}

    # beginning

    def begin(
        self,
        chat: ChatRecord,
        request: str,
        *,
        seed: int | None = None,
        grants: Grants = NO_GRANTS,
        choice: Choice | None = None,
    ) -> TurnRecord:
        """Start a turn in which a model writes the program: `choice`'s, else the chat's."""
        self._check(chat)
        earlier = self._store.view(chat.chat_id).turns
        model_id = chat.model_id if choice is None else choice.model_id
        routed = "" if choice is None else choice.line
        state = self._states.latest(chat.chat_id, [turn.turn_id for turn in earlier])
        turn_id, tape = self._tapes.new(begun_with(None, seed, grants, state))
        turn = self._store.add_turn(chat, request, model_id, turn_id=turn_id, routed=routed)
        self._launch(turn, earlier, None, tape, seed=seed, grants=grants)
        return turn

    def begin_program(
        self, chat: ChatRecord, source: str, title: str, *, grants: Grants = NO_GRANTS
    ) -> TurnRecord:
        """Start a turn with a given program."""
        self._check(chat)
        earlier = self._store.view(chat.chat_id).turns
        state = self._states.latest(chat.chat_id, [turn.turn_id for turn in earlier])
        turn_id, tape = self._tapes.new(begun_with(source, None, grants, state))
        turn = self._store.add_turn(
            chat,
            title,
            GIVEN_PROGRAM,
            turn_id=turn_id,
            status="checking",
            usage=Usage(money="0"),
        )
        self._launch(turn, (), source, tape, grants=grants)
        return turn

    def resume(
        self, turn_id: str, grants: Grants = NO_GRANTS, *, from_start: bool = False
    ) -> TurnRecord:
        """Go on with an interrupted turn at the call where it was; or from its start.

        One that asks is asked again, unless grants now cover what it asks for.

        What it was answered is played from its tape, nothing is done twice. From the start it is
        a new try: programs are run, and asked about, again.
        Raises: `AppError` when it is not interrupted; `TapeUnusableError` when it can only be
        started again: the turn stays as it is, and says so.
        """
        turn = self._store.turn(turn_id)
        if turn.status not in ("interrupted", "asking"):
            raise AppError(
                f"This run cannot be resumed: it is {turn.status}.",
                hint="Only an interrupted or waiting run can be resumed.",
            )
        if from_start:
            tape = self._tapes.restarted(turn)
            for program in turn.programs:
                self._store.forget_effects(program.program_id)
                self._store.delete_program(program.program_id)
            turn = replace(turn, programs=(), reply="")
        else:
            tape = self._reopened(turn)
        return self._go_on(turn, turn.status, tape, grants)

    def answer(self, turn_id: str, answer: PersonsAnswer, grants: Grants = NO_GRANTS) -> TurnRecord:
        """Answer the question of a turn; its program goes on at that call.

        Raises: `AppError` when nothing is asked; `TapeUnusableError` as `resume`.
        """
        turn = self._store.turn(turn_id)
        question = turn.question
        if turn.status != "asking" or question is None:
            raise AppError(f"There is nothing to answer: this run is {turn.status}.")
        if answer.approved and question.choices and answer.text not in question.choices:
            raise AppError(
                "That is not one of the answers.", hint=f"Choose: {', '.join(question.choices)}"
            )
        tape = self._reopened(turn)
        number = next(
            program.index for program in turn.programs if program.program_id == question.program_id
        )
        tape.answer(number, question, answer)
        self._journal.add(turn_id, "answered", approved=answer.approved, kind=question.kind)
        return self._go_on(turn, "asking", tape, grants)

    def _reopened(self, turn: TurnRecord) -> TurnTape:
        """The tape of a turn that is to go on; when it cannot, the turn says why."""
        try:
            return self._tapes.reopened(turn.turn_id)
        except TapeUnusableError as error:
            if self._store.claim(turn.turn_id, [turn.status], "interrupted"):
                self.decisions.settle(
                    replace(turn, question=None), "interrupted", problem_of(error)
                )
            raise

    def _go_on(
        self, turn: TurnRecord, status: TurnStatus, tape: TurnTape, grants: Grants
    ) -> TurnRecord:
        if not self._store.claim(turn.turn_id, [status], "checking"):
            tape.close()
            status = self._store.turn(turn.turn_id).status
            raise AppError(f"This run is at work elsewhere, or over: it is {status}.")
        self._journal.add(turn.turn_id, "resumed")
        earlier = [
            item for item in self._store.view(turn.chat_id).turns if item.started < turn.started
        ]
        given = turn.model_id == GIVEN_PROGRAM
        turn = replace(
            turn,
            status="checking",
            problem=None,
            question=None,
            usage=Usage(model_s=turn.usage.model_s, money=turn.usage.money if given else None),
        )
        run = tape.run
        grants = grants_of(grants.texts | frozenset(run.get("grants", ())))
        self._launch(turn, earlier, run.get("source"), tape, seed=run.get("seed"), grants=grants)
        return turn

    def _check(self, chat: ChatRecord) -> None:
        if not chat.folders:
            raise AppError(
                "This chat has no folder yet.",
                hint="Add the folder you want to work on, or drag it into the window.",
            )
        if any(live.record.chat_id == chat.chat_id for live, _ in self._live.values()):
            raise AppError(
                "This chat is still at work.", hint="Wait until it is done, or stop it first."
            )
        open_grants(chat.folders, self._paths)

    def _launch(
        self,
        turn: TurnRecord,
        earlier: Sequence[TurnRecord],
        source: str | None,
        tape: TurnTape,
        *,
        seed: int | None = None,
        grants: Grants,
    ) -> None:
        settings = self._settings()
        grants = self._standing.with_standing(grants, turn.chat_id)
        workspace = self._workspaces.of(turn.chat_id)
        tools = self._toolbox.of(turn.chat_id, shell=workspace is not None)
        if workspace is not None and self._needs_workspace(turn):
            self._worker.submit(self._workspaces.warm, turn.chat_id)
        live = LiveTurn(
            Plan(
                turn=turn,
                earlier=earlier,
                tries=settings.model.tries,
                candidates=settings.model.candidates,
                reply_tokens=settings.model.reply_tokens,
                temperature=settings.model_for(turn.model_id).temperature,
                tape=tape,
                seed=seed,
                grants=grants,
                around=self._around(turn),
                secrets=self._secrets.for_turn(turn.turn_id),
                workspace=workspace,
                conversation=self._conversations.of(turn.chat_id, turn.model_id),
                find_state=lambda: self._found_state(turn, tape.run.get("state", "")),
                tools=tools,
                way=self._toolbox.way,
            ),
            LiveRecord(turn, store=self._store, journal=self._journal, mailbox=self._mailbox),
            runner=Runner(
                self._pool,
                settings.sandbox.limits(),
                tools,
                artifacts=Artifacts(self._paths.artifacts),
                offline=lambda: is_offline(self._settings()),
            ),
            worker=self._worker,
        )
        self._journal.add(turn.turn_id, "started", model=turn.model_id)
        task = asyncio.create_task(self._drive(live, source, tape), name=f"turn-{turn.turn_id}")
        self._live[turn.turn_id] = (live, task)
        self._mailbox.post(TurnChanged(turn=turn))
        self._mailbox.post(ChatsChanged())

    def _found_state(self, turn: TurnRecord, of: str) -> SessionState:
        """What earlier programs of the chat left; a fresh state when there is none. Blocks."""
        if not of:
            return FRESH
        try:
            return self._states.load(turn.chat_id, of)
        except StateUnusableError as error:
            self._tell_fresh(error)
            return FRESH

    def _tell_fresh(self, error: StateUnusableError) -> None:
        self._mailbox.post(Notice(severity="caution", message=error.message, hint=error.hint))

    async def answer_by_grants(self, turn: TurnRecord, grants: Grants) -> None:
        """Approve what grants cover; a composition that a rule names is never covered."""
        changes = turn.changes
        if not grants.changes or changes is None:
            return
        around = await self.decisions.on_disk(self._around(turn))
        if judge_changes(changes, turn.reasons, grants, around).outcome != "allow":
            return
        kinds = sorted({word_of(change) for change in changes.changes})
        used = self._standing.used(turn.chat_id, kinds)
        self._journal.add(
            turn.turn_id, "granted", kinds=", ".join(kinds), grants="; ".join(used) or "of the run"
        )
        with contextlib.suppress(AppError):  # decided meanwhile, or not: it waits for the person
            await self.decisions.decide(turn.turn_id, [change.id for change in changes.changes])

    def _around(self, turn: TurnRecord) -> Callable[[], Surroundings]:
        folders, blobs = self._store.turn_folders(turn.turn_id), self._paths.blobs / turn.turn_id
        earlier = self._store.applied_since(recently(), but=turn.turn_id)
        return lambda: look_around_turn(turn, folders, blobs, earlier)

    def _needs_workspace(self, turn: TurnRecord) -> bool:
        """Whether it is worth starting in advance: it was used before, or seems to be asked for."""
        return self._workspaces.was_used(turn.chat_id) or asks_for_shell(turn.request)

    # running

    async def _drive(self, live: LiveTurn, source: str | None, tape: TurnTape) -> None:
        turn_id = live.record.turn_id
        try:
            changes = await self._run(live, source)
        except asyncio.CancelledError:
            self.decisions.settle(live.record, "stopped", _STOPPED)
        except TurnAskingError as asking:
            self._journal.add(turn_id, "asked", kind=asking.question.kind)
            self.decisions.settle(replace(live.record, question=asking.question), "asking")
        except (TriesSpentError, LoopedError) as error:
            looped = isinstance(error, LoopedError)
            problem = in_circles(error.circle) if looped else spent(live)
            record = replace(live.record, offer=self._offer(live, looped=looped))
            self.decisions.settle(record, "failed", problem)
        except ModelError as error:
            self.decisions.settle(live.record, "failed", problem_of(error, "model"))
        except SandboxUnavailableError as error:
            self.decisions.settle(live.record, "failed", problem_of(error, "sandbox"))
        except (AppError, SandboxError) as error:
            self.decisions.settle(live.record, "failed", problem_of(error))
        except Exception as error:
            _log.exception("turn %s ended by an error of ours", turn_id)
            problem = Problem(
                message="Something went wrong inside Drydock. Nothing was changed.",
                kind="ours",
                hint="Try again; if it happens again, send the log file.",
                details=f"{type(error).__name__}: {error}",
            )
            self.decisions.settle(live.record, "failed", problem)
        else:
            offer = self._steering.doubtful(live.record)
            record = replace(live.record, offer=offer) if offer else live.record
            if changes.changes:
                self._journal.add(turn_id, "review", changes=len(changes.changes))
                self.decisions.settle(record, "waiting")
                await self.answer_by_grants(live.record, live.grants)
            else:
                self.decisions.settle(record, "done")
        finally:
            tape.close()
            self._live.pop(turn_id, None)

    def _offer(self, live: LiveTurn, *, looped: bool = False) -> Offer | None:
        """A bigger model for a turn, on evidence; programs that were given have none."""
        if live.record.model_id == GIVEN_PROGRAM:
            return None
        fault = live.last_fault
        # What a gate has refused is not asked of a bigger model.
        refused = fault is not None and fault.type == "PermissionError"
        return self._steering.after(live.record, looped=looped or live.looped, refused=refused)

    async def _run(self, live: LiveTurn, source: str | None) -> ChangeSet:
        folders = self._store.turn_folders(live.record.turn_id)
        blobs = BlobStore(
            self._paths.blobs / live.record.turn_id,
            limit_bytes=self._settings().sandbox.staged_bytes,
        )

        def open_stage() -> Stage:
            return Stage(open_grants(folders, self._paths), blobs)

        if source is not None:
            changes = await live.run_program(source, open_stage)
        else:
            model_id = live.record.model_id
            changes = await live.run_request(
                lambda: self._models.ready(model_id, live.record), open_stage
            )
        await self._keep_safe(blobs, changes)
        await self._keep_state(live)
        return changes

    async def _keep_state(self, live: LiveTurn) -> None:
        """Keep what the turn's programs left for the chat's next one."""
        state, turn = live.state, live.record
        if state is None:
            return
        try:
            await self.decisions.on_disk(
                lambda: self._states.save(turn.chat_id, turn.turn_id, state)
            )
        except (OSError, SandboxError) as error:
            _log.warning("turn %s: its state was not kept: %s", turn.turn_id, error)
            message = "What this program defined could not be kept for the next one."
            self._mailbox.post(Notice(severity="caution", message=message, hint=str(error)))

    async def _keep_safe(self, blobs: BlobStore, changes: ChangeSet) -> None:
        """Make the staged content durable: it may wait for the person for days."""
        digests = [change.blob for change in changes.changes if change.blob is not None]
        try:
            await self.decisions.on_disk(lambda: blobs.seal(digests))
        except OSError as error:
            raise AppError(
                f"The staged content could not be kept: {error.strerror}. Nothing was changed.",
                hint="Free some space on the disk, then send the request again.",
            ) from error

    async def stop(self, turn_id: str) -> None:
        """Stop a live turn and wait until everything that it started has ended."""
        found = self._live.get(turn_id)
        if found is None:
            if self._store.claim(turn_id, ["asking"], "stopped"):
                turn = replace(self._store.turn(turn_id), question=None)
                self.decisions.settle(turn, "stopped", _STOPPED)
            return
        live, task = found
        live.stop_token.stop()
        task.cancel()
        await asyncio.wait([task])

    async def wait(self, turn_id: str) -> TurnRecord:
        """The turn as it is when it is no longer live in this process."""
        found = self._live.get(turn_id)
        if found is not None:
            await asyncio.wait([found[1]])
        return self._store.turn(turn_id)

    # start and end

    async def recover(self) -> None:
        """After a crash: finish or take back interrupted commits, mark interrupted turns."""
        for turn in self._store.unfinished():
            if turn.status == "committing":
                await self.decisions.recover_commit(turn)
                continue
            if not self._store.claim(turn.turn_id, [turn.status], "interrupted"):
                continue
            self._journal.add(turn.turn_id, "interrupted")
            shutil.rmtree(self._paths.blobs / turn.turn_id, ignore_errors=True)
        forget_strays(self._paths, self._store.has_turn)
        self._states.forget_strays({chat.chat_id for chat in self._store.chats("")})

    def go_on(self) -> None:
        """Let turns that were at work when the app ended go on by themselves."""
        for turn in self._store.interrupted():
            steps = [entry.step for entry in self._journal.entries(turn.turn_id)]
            if turn.problem is not None or steps.count("resumed") >= _RESUMES:
                continue  # left to the person
            try:
                self.resume(turn.turn_id)
            except AppError as error:
                _log.warning("turn %s does not go on: %s", turn.turn_id, error.message)

    async def warm(self) -> None:
        """Start the interpreter's workers, so that the first program starts at once."""
        await asyncio.get_running_loop().run_in_executor(self._worker, self._pool.start)

    async def close(self) -> None:
        """Stop live turns, as interrupted so that they can go on, and end the workers."""
        for live, task in list(self._live.values()):
            live.stop_token.stop()
            task.cancel()
            await asyncio.wait([task])
            if self._store.claim(live.record.turn_id, ["stopped"], "interrupted"):
                turn = replace(self._store.turn(live.record.turn_id), problem=None)
                self._store.save_turn(turn)
        await asyncio.get_running_loop().run_in_executor(self._worker, self._pool.close)
        self._worker.shutdown(wait=False, cancel_futures=True)
