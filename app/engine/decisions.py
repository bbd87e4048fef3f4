"""Decides on change sets: commits, undoes, does again, and takes back what was left half done.

Owns the turns that are no longer live. Every state is in the store before anybody hears of it.
Thread: engine; commits and undos run on a worker thread, one at a time.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import TypeVar

from app.engine.events import ChatsChanged, Notice, TurnChanged
from app.engine.folders import open_grants
from app.engine.keeper import UndoKeeper
from app.engine.problems import (
    all_conflicts,
    conflict_records,
    left_over,
    problem_of,
    with_sent,
)
from app.engine.turn_context import TurnContext
from app.errors import AppError
from app.store.records import ConflictRecord, Problem, TurnRecord, TurnStatus
from sandbox.blobs import BlobStore
from sandbox.changeset import ChangeSet, select, with_applied
from sandbox.commit import commit, recover, verified
from sandbox.errors import CommitError, HalfDoneError
from sandbox.redo import redo
from sandbox.reversal import latest, make_room
from sandbox.undo import undo
from sandbox.verify import Choice

_log = logging.getLogger(__name__)
T = TypeVar("T")


class Decisions:
    """What is decided on turns that are not live."""

    def __init__(self, context: TurnContext, keeper: UndoKeeper) -> None:
        self._paths = context.paths
        self._store = context.store
        self._journal = context.journal
        self._mailbox = context.mailbox
        self._keeper = keeper
        self._worker = context.worker
        self._disk = asyncio.Lock()

    async def conflicts(
        self, turn_id: str, approved: Collection[str] | None = None
    ) -> tuple[ConflictRecord, ...]:
        """Where the disk no longer fits the changes of a waiting turn, with what can be chosen.

        `approved`: only these changes count; None for all. Nothing is changed.
        """
        changes = self._store.turn(turn_id).changes or ChangeSet()
        chosen = changes if approved is None else select(changes, set(approved))
        grants = open_grants(self._store.turn_folders(turn_id), self._paths)
        _, found = await self.on_disk(lambda: verified(chosen, grants))
        return conflict_records(found)

    async def decide(
        self,
        turn_id: str,
        approved: Collection[str] | None,
        *,
        choices: Mapping[str, Choice] | None = None,
        whole: bool = False,
        keep: bool = False,
    ) -> TurnRecord:
        """Apply the approved changes of a waiting turn, or reject all of them (None).

        `choices`: by change id, what to do where the disk changed meanwhile; without one such a
        change is left out, or, if it is to be the `whole` or nothing, the turn waits again with the
        conflicts in its record. `keep`: where the disk refuses something, what can be applied is,
        and the rest is listed; else everything is taken back and the turn waits again, and its
        problem says why.
        Raises: `AppError` when the turn does not wait.
        """
        await self._take_up(turn_id)
        target: TurnStatus = "rejected" if approved is None else "committing"
        if not self._store.claim(turn_id, ["waiting"], target):
            status = self._store.turn(turn_id).status
            raise AppError(f"There is nothing to decide: this run is {status}.")
        turn = self._store.turn(turn_id)
        self._journal.add(turn_id, "decided", approved=None if approved is None else len(approved))
        if approved is None or turn.changes is None:
            return self.settle(turn, "rejected")
        self._mailbox.post(TurnChanged(turn=turn))
        chosen = select(turn.changes, set(approved))
        folders = self._store.turn_folders(turn_id)
        try:
            await self.on_disk(lambda: make_room(self._paths.undo / turn_id))
            report = await self.on_disk(
                lambda: commit(
                    chosen,
                    blobs=BlobStore(self._paths.blobs / turn_id),
                    undo_folder=self._paths.undo / turn_id,
                    grants=open_grants(folders, self._paths),
                    choices=choices,
                    whole=whole,
                    keep=keep,
                ),
            )
        except (CommitError, AppError) as error:
            return self._not_applied(turn, "waiting", error)
        conflicts, before = conflict_records(report.conflicts), turn.changes
        if whole and conflicts:
            return self.settle(replace(turn, conflicts=conflicts), "waiting")
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
            waits = replace(turn, changes=before, approved=(), committed=False)
            return self.settle(waits, "waiting", all_conflicts(len(conflicts)))
        turn = self.settle(turn, "done")
        await self._keeper.committed(turn_id)
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
            report = await self.on_disk(lambda: undo(self._paths.undo / turn_id))
        except CommitError as error:
            return self._not_applied(turn, "done", error)
        conflicts = conflict_records(report.conflicts)
        if not report.restored and conflicts:  # nothing was taken back: it can be tried again
            return self.settle(replace(turn, conflicts=conflicts), "done", left_over(conflicts))
        self._journal.add(turn_id, "undone", conflicts=len(conflicts))
        if not conflicts:
            await self._keeper.undone(turn_id)
        turn = replace(turn, conflicts=conflicts, committed=bool(conflicts))
        return self.settle(turn, "undone", left_over(conflicts))

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
            report = await self.on_disk(
                lambda: redo(self._paths.undo / turn_id, grants=open_grants(folders, self._paths))
            )
        except (CommitError, AppError) as error:
            return self._not_applied(turn, "undone", error)
        conflicts = conflict_records(report.conflicts)
        self._journal.add(turn_id, "redone", conflicts=len(conflicts))
        if not report.applied:
            return self.settle(replace(turn, conflicts=conflicts), "undone")
        await self._keeper.committed(turn_id)
        return self.settle(replace(turn, conflicts=conflicts, committed=True), "done")

    def _not_applied(
        self, turn: TurnRecord, before: TurnStatus, error: CommitError | AppError
    ) -> TurnRecord:
        """A fault on the disk: the turn is what it was, or, half done, waits to be taken back."""
        if not isinstance(error, HalfDoneError):
            return self.settle(turn, before, problem_of(error))
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
                await self.recover_commit(turn)

    async def on_disk(self, work: Callable[[], T]) -> T:
        """Run blocking `work` on the worker, one at a time."""
        async with self._disk:
            return await asyncio.get_running_loop().run_in_executor(self._worker, work)

    async def recover_commit(self, turn: TurnRecord) -> None:
        """Take back what was half done; what the disk has then is what the store says."""
        folder = self._paths.undo / turn.turn_id
        try:
            await self.on_disk(lambda: recover(folder))
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

    def settle(
        self,
        turn: TurnRecord,
        status: TurnStatus,
        problem: Problem | None = None,
    ) -> TurnRecord:
        """Write a turn's state at the end of something; what nobody can ask for is dropped."""
        if status == "failed" or status == "stopped":  # narrows the type
            self._journal.add(turn.turn_id, status, kind=problem.kind if problem else "")
            problem = with_sent(problem, self._store.effects(turn.turn_id))
        if status != "waiting":
            shutil.rmtree(self._paths.blobs / turn.turn_id, ignore_errors=True)
        turn = replace(turn, status=status, problem=problem)
        self._store.save_turn(turn)
        self._mailbox.post(TurnChanged(turn=turn))
        self._mailbox.post(ChatsChanged())
        return turn
