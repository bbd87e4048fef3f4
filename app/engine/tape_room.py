"""The tapes of turns that begin, go on or are run again.

Owns what a tape is begun with. Thread: engine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from app.engine.turn_tape import TurnTape
from app.errors import AppError
from app.paths import Paths
from app.store.chats import new_id
from app.store.records import GIVEN_PROGRAM, TurnRecord
from app.store.tape_file import TapeUnusableError
from sandbox.grants import Grants


class TapeRoom:
    """Makes and opens tapes. `mark`: takes out of a mark what must not be on the disk."""

    def __init__(self, paths: Paths, mark: Callable[[bytes], bytes]) -> None:
        self._paths = paths
        self._mark = mark

    def new(self, run: dict[str, Any], turn_id: str = "") -> tuple[str, TurnTape]:
        """The tape of a turn that begins, made before the turn is: no turn is without one."""
        turn_id = turn_id or new_id()
        try:
            return turn_id, TurnTape.new(self._paths, turn_id, run, self._mark)
        except OSError as error:
            raise AppError(
                f"The run cannot be recorded: {error.strerror}.",
                hint="Free some space on the disk, then send the request again.",
            ) from error

    def reopened(self, turn_id: str) -> TurnTape:
        """The tape of a turn that is to go on. Raises `TapeUnusableError`."""
        return TurnTape.reopen(self._paths, turn_id, self._mark)

    def restarted(self, turn: TurnRecord) -> TurnTape:
        """A new tape for a turn that is run again from its start, begun as it was."""
        run = begun_with(None, None)
        try:
            former = self.reopened(turn.turn_id)
        except TapeUnusableError:
            if turn.model_id == GIVEN_PROGRAM:
                if not turn.programs:
                    raise
                run["source"] = turn.programs[0].source
        else:
            run = former.run
            former.close()
        return self.new(run, turn.turn_id)[1]


def begun_with(
    source: str | None, seed: int | None, grants: Grants | None = None, state: str = ""
) -> dict[str, Any]:
    """What a turn is begun with. `state`: the turn whose programs' names it finds."""
    texts = [] if grants is None else sorted(grants.texts)
    return {"source": source, "seed": seed, "grants": texts, "state": state}
