"""What is kept for undo and redo: its space, its policy, and what became of it.

Owns the undo folder of the home, one folder a turn. Nothing goes silently: every drop is in the
turn's journal and is told. Thread: engine; the disk is looked at on a worker thread.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
import time
from dataclasses import dataclass

from app.engine.events import Notice
from app.engine.turn_context import TurnContext
from app.errors import AppError, NotFoundError
from sandbox.retention import Overdue, drop, finish_drops, kept_in, overdue
from sandbox.system_bin import put_into_bin, take_out_of_bin

_log = logging.getLogger(__name__)
_SETTLED = frozenset({"done", "failed", "undone"})


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoSpace:
    """What undo takes on the disk now, and for how many runs."""

    size_bytes: int
    runs: int


class UndoKeeper:
    """Keeps undo as long as the settings say."""

    def __init__(self, context: TurnContext) -> None:
        self._paths = context.paths
        self._store = context.store
        self._journal = context.journal
        self._mailbox = context.mailbox
        self._settings = context.settings

    async def space(self) -> UndoSpace:
        """What undo takes now."""
        kept = await asyncio.to_thread(kept_in, self._paths.undo)
        return UndoSpace(size_bytes=sum(item.size_bytes for item in kept), runs=len(kept))

    async def tidy(self) -> None:
        """Drop what is over the settings' bounds; each drop is recorded first, and told."""
        policy = self._settings().undo.policy()
        await asyncio.to_thread(finish_drops, self._paths.undo)
        kept = await asyncio.to_thread(kept_in, self._paths.undo)
        busy = {item.name for item in kept if not self._may_go(item.name)}
        due = overdue(kept, policy, now_s=time.time(), busy=busy)
        gone: list[Overdue] = []
        for item in due:
            self._record(item)
            try:
                await asyncio.to_thread(drop, item.kept.folder)
            except OSError as error:
                _log.warning("undo of %s could not be dropped: %s", item.kept.name, error)
                continue
            gone.append(item)
        if gone:
            self._tell(gone)

    async def committed(self, turn_id: str) -> None:
        """After a commit or a redo: what it deleted goes into the bin too, if that is wished."""
        if not self._settings().undo.system_bin:
            return
        try:
            await asyncio.to_thread(put_into_bin, self._paths.undo / turn_id)
        except OSError as error:
            _log.warning("the bin did not take what %s deleted: %s", turn_id, error)
            self._mailbox.post(
                Notice(
                    severity="caution",
                    message=f"The system's bin did not take what was deleted: {error.strerror}.",
                    hint="Undo brings it back all the same.",
                )
            )

    async def undone(self, turn_id: str) -> None:
        """After an undo: what is back is not in the bin any more."""
        await asyncio.to_thread(take_out_of_bin, self._paths.undo / turn_id)

    def forget(self, turn_id: str) -> None:
        """Remove what is kept of a turn that is deleted: staged content and undo."""
        shutil.rmtree(self._paths.blobs / turn_id, ignore_errors=True)
        try:
            drop(self._paths.undo / turn_id)
        except OSError as error:
            _log.warning("undo of %s could not be removed: %s", turn_id, error)

    def check_kept(self, turn_id: str) -> None:
        """Raises: `AppError` saying when and why, when what undo needs was dropped."""
        if (self._paths.undo / turn_id).is_dir():
            return
        for entry in reversed(self._journal.entries(turn_id)):
            if entry.step == "undo-dropped":
                why = {
                    "age": "it was older than undo is kept",
                    "size": "undo took more space than it may",
                }[entry.data["reason"]]
                raise AppError(
                    f"The undo of this run was dropped on {entry.at:%Y-%m-%d}: {why}.",
                    hint="Undo can be kept for longer: see the settings.",
                )
        raise AppError(
            "What undo needs is not there any more.", hint="It was removed by something else."
        )

    def _may_go(self, turn_id: str) -> bool:
        try:
            return self._store.turn(turn_id).status in _SETTLED
        except NotFoundError:  # its chat was deleted: nobody can undo it any more
            return True

    def _record(self, item: Overdue) -> None:
        try:
            self._store.turn(item.kept.name)
        except NotFoundError:
            return
        self._journal.add(
            item.kept.name, "undo-dropped", reason=item.reason, size_bytes=item.kept.size_bytes
        )

    def _tell(self, gone: list[Overdue]) -> None:
        mebibytes = sum(item.kept.size_bytes for item in gone) / (1024 * 1024)
        runs = "1 older run" if len(gone) == 1 else f"{len(gone)} older runs"
        self._mailbox.post(
            Notice(
                severity="info",
                message=f"The undo of {runs} was dropped, {mebibytes:.1f} MiB became free.",
                hint="How long undo is kept is in the settings.",
            )
        )
