"""Begins, ends, decides and undoes turns: the life of a turn around `turn.py`.

Owns which turns are live in this process. Every state is in the store before anybody hears of it.
Thread: engine; commits and undos run on a worker thread, one at a time.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from app.engine.events import ChatsChanged, Notice, TurnChanged
from app.engine.folders import open_grants
from app.engine.keeper import UndoKeeper
from app.engine.mailbox import Mailbox
from app.engine.problems import (
    GIVEN_PROGRAM,
    all_conflicts,
    conflict_records,
    left_over,
    problem_of,
    spent,
)
from app.engine.turn import LiveTurn, Plan, TriesSpentError
from app.engine.warm import ModelSource
from app.errors import AppError
from app.paths import Paths
from app.settings import Settings
from app.store.chats import ChatStore
from app.store.journal import TurnJournal
from app.store.records import (
    ChatRecord,
    ConflictRecord,
    Problem,
    TurnRecord,
    TurnStatus,
    Usage,
)
from models.errors import ModelError
from sandbox.blobs import BlobStore
from sandbox.changeset import ChangeSet, select, with_applied
from sandbox.commit import commit, recover, verified
from sandbox.errors import CommitError, HalfDoneError, SandboxError, SandboxUnavailableError
from sandbox.grants import NO_GRANTS, Grants
from sandbox.pool import SandboxPool
from sandbox.redo import redo
from sandbox.reversal import latest, make_room
from sandbox.runner import Runner
from sandbox.stage import Stage
from sandbox.undo import undo
from sandbox.verify import Choice

_log = logging.getLogger(__name__)
T = TypeVar("T")


class TurnDesk:
    """All turns of this process."""

    def __init__(
        self,
        *,
        paths: Paths,
        store: ChatStore,
        journal: TurnJournal,
        mailbox: Mailbox,
        models: ModelSource,
        keeper: UndoKeeper,
        settings: Callable[[], Settings],
    ) -> None:
        self._paths = paths
        self._store = store
        self._journal = journal
        self._mailbox = mailbox
        self._models = models
        self._settings = settings
        self._worker = ThreadPoolExecutor(max_workers=4, thread_name_prefix="turn")
        self._pool = SandboxPool(settings().sandbox.limits())  # so that programs start warm
        self._disk = asyncio.Lock()
        self._keeper = keeper
        self._live: dict[str, tuple[LiveTurn, asyncio.Task[None]]] = {}

    # beginning

    def begin(
        self,
        chat: ChatRecord,
        request: str,
        *,
        seed: int | None = None,
        grants: Grants = NO_GRANTS,
    ) -> TurnRecord:
        """Start a turn in which the chat's model writes the program."""
        self._check(chat)
        earlier = self._store.view(chat.chat_id).turns
        turn = self._store.add_turn(chat, request, chat.model_id)
        self._launch(turn, earlier, None, seed=seed, grants=grants)
        return turn

    def begin_program(
        self, chat: ChatRecord, source: str, title: str, *, grants: Grants = NO_GRANTS
    ) -> TurnRecord:
        """Start a turn with a given program."""
        self._check(chat)
        turn = self._store.add_turn(
            chat, title, GIVEN_PROGRAM, status="checking", usage=Usage(money="0")
        )
        self._launch(turn, (), source, grants=grants)
        return turn

    def resume(self, turn_id: str, grants: Grants = NO_GRANTS) -> TurnRecord:
        """Go on with an interrupted turn: its last program is run again on a fresh stage.

        Nothing of an interrupted turn is on the disk, so this repeats no effect.
        Raises: `AppError` when it is not interrupted.
        """
        if not self._store.claim(turn_id, ["interrupted"], "checking"):
            turn = self._store.turn(turn_id)
            raise AppError(
                f"This run cannot be resumed: it is {turn.status}.",
                hint="Only an interrupted or waiting run can be resumed.",
            )
        turn = self._store.turn(turn_id)
        self._journal.add(turn_id, "resumed")
        earlier = [
            item for item in self._store.view(turn.chat_id).turns if item.started < turn.started
        ]
        last = turn.programs[-1] if turn.programs else None
        again = last.source if last is not None and last.status != "error" else None
        if last is not None and again is not None:
            self._store.delete_program(last.program_id)
            turn = replace(turn, programs=turn.programs[:-1])
        turn = replace(turn, problem=None)
        self._launch(turn, earlier, again, grants=grants)
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
        *,
        seed: int | None = None,
        grants: Grants,
    ) -> None:
        settings = self._settings()
        live = LiveTurn(
            Plan(
                turn=turn,
                earlier=earlier,
                tries=settings.model.tries,
                reply_tokens=settings.model.reply_tokens,
                temperature=settings.model.temperature,
                seed=seed,
                grants=grants,
            ),
            store=self._store,
            journal=self._journal,
            mailbox=self._mailbox,
            runner=Runner(self._pool, settings.sandbox.limits()),
            worker=self._worker,
        )
        self._journal.add(turn.turn_id, "started", model=turn.model_id)
        task = asyncio.create_task(self._drive(live, source), name=f"turn-{turn.turn_id}")
        self._live[turn.turn_id] = (live, task)
        self._mailbox.post(TurnChanged(turn=turn))
        self._mailbox.post(ChatsChanged())

    # running

    async def _drive(self, live: LiveTurn, source: str | None) -> None:
        turn_id = live.record.turn_id
        try:
            changes = await self._run(live, source)
        except asyncio.CancelledError:
            self._settle(live.record, "stopped", Problem(message="Stopped. Nothing was changed."))
        except TriesSpentError:
            self._settle(live.record, "failed", spent(live))
        except ModelError as error:
            self._settle(live.record, "failed", problem_of(error, "model"))
        except SandboxUnavailableError as error:
            self._settle(live.record, "failed", problem_of(error, "sandbox"))
        except (AppError, SandboxError) as error:
            self._settle(live.record, "failed", problem_of(error))
        except Exception as error:
            _log.exception("turn %s ended by an error of ours", turn_id)
            problem = Problem(
                message="Something went wrong inside Drydock. Nothing was changed.",
                hint="Try again; if it happens again, send the log file.",
                details=f"{type(error).__name__}: {error}",
            )
            self._settle(live.record, "failed", problem)
        else:
            if changes.changes:
                self._journal.add(turn_id, "review", changes=len(changes.changes))
                self._settle(live.record, "waiting")
            else:
                self._settle(live.record, "done")
        finally:
            self._live.pop(turn_id, None)

    async def _run(self, live: LiveTurn, source: str | None) -> ChangeSet:
        folders = self._store.turn_folders(live.record.turn_id)
        blobs = BlobStore(self._paths.blobs / live.record.turn_id)

        def open_stage() -> Stage:
            return Stage(open_grants(folders, self._paths), blobs)

        if source is not None:
            changes = await live.run_program(source, open_stage)
        else:
            model_id = live.record.model_id
            changes = await live.run_request(lambda: self._models.ready(model_id), open_stage)
        await self._keep_safe(blobs, changes)
        return changes

    async def _keep_safe(self, blobs: BlobStore, changes: ChangeSet) -> None:
        """Make the staged content durable: it may wait for the person for days."""
        digests = [change.blob for change in changes.changes if change.blob is not None]
        try:
            await self._on_disk(lambda: blobs.seal(digests))
        except OSError as error:
            raise AppError(
                f"The staged content could not be kept: {error.strerror}. Nothing was changed.",
                hint="Free some space on the disk, then send the request again.",
            ) from error

    def _settle(
        self,
        turn: TurnRecord,
        status: TurnStatus,
        problem: Problem | None = None,
    ) -> TurnRecord:
        if status == "failed" or status == "stopped":  # narrows the type
            self._journal.add(turn.turn_id, status, kind=problem.kind if problem else "")
        if status != "waiting":
            shutil.rmtree(self._paths.blobs / turn.turn_id, ignore_errors=True)
        turn = replace(turn, status=status, problem=problem)
        self._store.save_turn(turn)
        self._mailbox.post(TurnChanged(turn=turn))
        self._mailbox.post(ChatsChanged())
        return turn

    async def stop(self, turn_id: str) -> None:
        """Stop a live turn and wait until everything that it started has ended."""
        found = self._live.get(turn_id)
        if found is None:
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

    # deciding

    async def conflicts(
        self, turn_id: str, approved: Collection[str] | None = None
    ) -> tuple[ConflictRecord, ...]:
        """Where the disk no longer fits the changes of a waiting turn, with what can be chosen.

        `approved`: only these changes count; None for all. Nothing is changed.
        """
        changes = self._store.turn(turn_id).changes or ChangeSet()
        chosen = changes if approved is None else select(changes, set(approved))
        grants = open_grants(self._store.turn_folders(turn_id), self._paths)
        _, found = await self._on_disk(lambda: verified(chosen, grants))
        return conflict_records(found)

    async def decide(
        self,
        turn_id: str,
        approved: Collection[str] | None,
        *,
        choices: Mapping[str, Choice] | None = None,
        whole: bool = False,
    ) -> TurnRecord:
        """Apply the approved changes of a waiting turn, or reject all of them (None).

        `choices`: by change id, what to do where the disk changed meanwhile; without one such a
        change is left out, or, if it is to be the `whole` or nothing, the turn waits again with the
        conflicts in its record.
        Raises: `AppError` when the turn does not wait; when applying failed, the turn waits again
        and its problem says why.
        """
        await self._take_up(turn_id)
        target: TurnStatus = "rejected" if approved is None else "committing"
        if not self._store.claim(turn_id, ["waiting"], target):
            status = self._store.turn(turn_id).status
            raise AppError(f"There is nothing to decide: this run is {status}.")
        turn = self._store.turn(turn_id)
        self._journal.add(turn_id, "decided", approved=None if approved is None else len(approved))
        if approved is None or turn.changes is None:
            return self._settle(turn, "rejected")
        self._mailbox.post(TurnChanged(turn=turn))
        chosen = select(turn.changes, set(approved))
        folders = self._store.turn_folders(turn_id)
        try:
            await self._on_disk(lambda: make_room(self._paths.undo / turn_id))
            report = await self._on_disk(
                lambda: commit(
                    chosen,
                    blobs=BlobStore(self._paths.blobs / turn_id),
                    undo_folder=self._paths.undo / turn_id,
                    grants=open_grants(folders, self._paths),
                    choices=choices,
                    whole=whole,
                ),
            )
        except (CommitError, AppError) as error:
            return self._not_applied(turn, "waiting", error)
        conflicts = conflict_records(report.conflicts)
        if whole and conflicts:
            return self._settle(replace(turn, conflicts=conflicts), "waiting")
        turn = replace(
            turn,
            changes=with_applied(turn.changes, report.applied),
            approved=tuple(change.id for change in report.applied),
            committed=bool(report.applied),
            conflicts=conflicts,
        )
        self._journal.add(
            turn_id, "committed", applied=len(report.applied), conflicts=len(conflicts)
        )
        if not report.applied and conflicts:
            return self._settle(turn, "failed", all_conflicts(len(conflicts)))
        turn = self._settle(turn, "done")
        await self._keeper.tidy()
        return turn

    async def undo(self, turn_id: str) -> TurnRecord:
        """Take a committed turn back.

        Raises: `AppError` when it is not committed or was undone already. What could not be put
        back is named in the record's conflicts.
        """
        await self._take_up(turn_id)
        turn = self._store.turn(turn_id)
        if turn.committed:
            self._keeper.check_kept(turn_id)
        if not turn.committed or not self._store.claim(turn_id, ["done", "failed"], "committing"):
            raise AppError(
                f"There is nothing to undo: this run is {turn.status}"
                + ("." if turn.committed else " and changed nothing."),
            )
        try:
            report = await self._on_disk(lambda: undo(self._paths.undo / turn_id))
        except CommitError as error:
            return self._not_applied(turn, "done", error)
        conflicts = conflict_records(report.conflicts)
        self._journal.add(turn_id, "undone", conflicts=len(conflicts))
        turn = replace(turn, conflicts=conflicts, committed=bool(conflicts))
        return self._settle(turn, "undone", left_over(conflicts))

    async def redo(self, turn_id: str) -> TurnRecord:
        """Make the changes of an undone turn again.

        Raises: `AppError` when it was not undone. What no longer fits is named in the conflicts.
        """
        await self._take_up(turn_id)
        turn = self._store.turn(turn_id)
        if turn.status == "undone":
            self._keeper.check_kept(turn_id)
        if not self._store.claim(turn_id, ["undone"], "committing"):
            raise AppError(
                f"There is nothing to do again: this run is {turn.status}.",
                hint="Only a run that was undone can be done again.",
            )
        folders = self._store.turn_folders(turn_id)
        try:
            report = await self._on_disk(
                lambda: redo(self._paths.undo / turn_id, grants=open_grants(folders, self._paths))
            )
        except (CommitError, AppError) as error:
            return self._not_applied(turn, "undone", error)
        conflicts = conflict_records(report.conflicts)
        self._journal.add(turn_id, "redone", conflicts=len(conflicts))
        if not report.applied:
            return self._settle(replace(turn, conflicts=conflicts), "undone")
        return self._settle(replace(turn, conflicts=conflicts, committed=True), "done")

    def _not_applied(
        self, turn: TurnRecord, before: TurnStatus, error: CommitError | AppError
    ) -> TurnRecord:
        """A fault on the disk: the turn is what it was, or, half done, waits to be taken back."""
        if not isinstance(error, HalfDoneError):
            return self._settle(turn, before, problem_of(error))
        _log.error("turn %s is half done and could not be taken back", turn.turn_id)
        turn = replace(turn, status="committing", problem=problem_of(error))
        self._store.save_turn(turn)
        self._store.release(turn.turn_id)
        self._mailbox.post(TurnChanged(turn=turn))
        return turn

    async def _take_up(self, turn_id: str) -> None:
        """Go on with taking back a turn that was left half done, if this is one."""
        for turn in self._store.unfinished():
            if turn.turn_id == turn_id and turn.status == "committing":
                await self._recover_commit(turn, self._paths.undo / turn_id)

    async def _on_disk(self, work: Callable[[], T]) -> T:
        """Run blocking `work` on the worker, one at a time."""
        async with self._disk:
            return await asyncio.get_running_loop().run_in_executor(self._worker, work)

    # start and end

    async def recover(self) -> None:
        """After a crash: finish or take back interrupted commits, mark interrupted turns."""
        for turn in self._store.unfinished():
            folder = self._paths.undo / turn.turn_id
            if turn.status == "committing":
                await self._recover_commit(turn, folder)
                continue
            if not self._store.claim(turn.turn_id, [turn.status], "interrupted"):
                continue
            self._journal.add(turn.turn_id, "interrupted")
            shutil.rmtree(self._paths.blobs / turn.turn_id, ignore_errors=True)

    async def _recover_commit(self, turn: TurnRecord, folder: Path) -> None:
        """Take back what was half done; what the disk has then is what the store says."""
        try:
            await self._on_disk(lambda: recover(folder))
        except CommitError as error:
            self._mailbox.post(Notice(severity="danger", message=error.message, hint=error.hint))
            return
        done = latest(folder)
        if done is None:
            status: TurnStatus = "waiting"
            committed, approved = False, turn.approved
        else:
            status = "undone" if done.is_undo else "done"
            ids = tuple(change.id for change in done.changes)
            approved = ids if done.number == 1 else turn.approved
            committed = not done.is_undo or len(ids) < len(turn.approved)
        if self._store.claim(turn.turn_id, ["committing"], status):
            self._journal.add(turn.turn_id, "interrupted", status=status)
            self._store.save_turn(
                replace(turn, status=status, committed=committed, approved=approved, problem=None)
            )

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
