"""The gate of one turn: joins the flow of each program with what its calls do, and judges.

Owns the turn's ledger of effects and labels and its lock. The rules are in `sandbox/policy.py`
(calls) and `sandbox/review.py` (the end of the turn). Thread: the runner's worker, for redirects
the network's; begun and asked from the engine's.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Sequence

from app.store.records import TurnRecord
from sandbox.changeset import ChangeSet
from sandbox.downloaded import is_downloaded
from sandbox.effects import Effect
from sandbox.flow import Flow, analyse
from sandbox.grants import NO_GRANTS, Grants
from sandbox.labels import PRIVATE
from sandbox.origins import Origin
from sandbox.policy import ALLOW, Situation, judge
from sandbox.ports import Reason, Verdict
from sandbox.program import Program
from sandbox.review import Surroundings, review_reasons
from sandbox.session_state import SessionState
from sandbox.turn_ledger import TurnLedger

_LOOKED_UP = 20_000
_WORD_CHARS = 4


def shown_before(earlier: Iterable[TurnRecord]) -> tuple[Origin, ...]:
    """What the model reads of the chat's earlier turns: answers made from the person's files."""
    for turn in earlier:
        if turn.answer and any(program.calls for program in turn.programs):
            return (Origin(label=PRIVATE, kind="shown", what=turn.turn_id),)
    return ()


class TurnGate:
    """Judges the calls of a turn's programs, one program after another; fails closed.

    A program that was not announced with `begin` has no flow: all that the turn has learned is
    taken to be in everything that it does.
    """

    def __init__(
        self, grants: Grants = NO_GRANTS, request: str = "", shown: Iterable[Origin] = ()
    ) -> None:
        """`request`: the person's words: addresses in it hold nothing else; `shown`: labelled data
        that the model had been shown before this turn."""
        self._grants = grants
        self._known = request
        self._request = request
        self._lock = threading.Lock()
        self._places: dict[str, str] = {}
        self._folders: dict[str, str] = {}
        self.ledger = TurnLedger(downloaded=is_downloaded, place=self._place, shown=shown)

    def begin(self, program: Program) -> TurnGate:
        """The next program of the turn is about to run; gives the gate of its calls."""
        with self._lock:
            flow = self._flow(program)
            if not self.ledger.has_shown:
                self._known += f"\n{program.source}"
            self.ledger.begin(flow, program.state)
        return self

    def labelled(self, state: SessionState) -> SessionState:
        """What the program leaves for the next one, with where it came from."""
        with self._lock:
            return self.ledger.labelled(state)

    def end(self) -> None:
        """The program has ended, whichever way: the model is told of it."""
        with self._lock:
            self.ledger.end()

    def judge(self, effects: Sequence[Effect]) -> Verdict:
        """Judge the effects of one call. An empty list has no effect and is allowed."""
        with self._lock:
            found = [self._judge(effect) for effect in effects]
            denied = next((one for one in found if one.outcome == "deny"), None)
            if denied is not None:
                return denied
            self.ledger.observe(effects)
        asked = [one for one in found if one.outcome == "ask"]
        if not asked:
            return next((one for one in found if one is not ALLOW), ALLOW)
        reasons = [reason for one in asked for reason in one.reasons]
        first = asked[0]
        return Verdict(
            outcome="ask", reason=first.reason, message=first.message, reasons=tuple(reasons)
        )

    def review(self, changes: ChangeSet, around: Surroundings) -> tuple[Reason, ...]:
        """What is unusual about the turn's changes, the most unusual first."""
        with self._lock:
            return review_reasons(self.ledger, changes, around)

    def _judge(self, effect: Effect) -> Verdict:
        reach = self.ledger.reaching(effect)
        return judge(Situation(effect=effect, reach=reach, ledger=self.ledger, grants=self._grants))

    def _flow(self, program: Program) -> Flow | None:
        shown = self.ledger.has_shown
        try:
            return analyse(program, self._may_be_shown if shown else None)
        except (SyntaxError, ValueError, RecursionError):
            return None

    def _may_be_shown(self, text: str) -> bool:
        """Whether a constant may hold what the model was shown: it is not in the person's words,
        nor in what was written before the model saw anything."""
        if not any(char.isalnum() for char in text):
            return False
        return len(text) < _WORD_CHARS or text not in self._known

    def _place(self, path: str) -> str:
        """The one name of a path: links followed, case folded, since a disk may fold it."""
        found = self._places.get(path)
        if found is None:
            if len(self._places) >= _LOOKED_UP:
                self._places.clear()
            folder, name = os.path.split(path)
            inside = f"{self._folder(folder)}/{name}"
            known = os.path.realpath(path) if os.path.islink(path) else inside  # noqa: PTH114
            found = self._places[path] = known.casefold()
        return found

    def _folder(self, path: str) -> str:
        found = self._folders.get(path)
        if found is None:
            if len(self._folders) >= _LOOKED_UP:
                self._folders.clear()
            found = self._folders[path] = os.path.realpath(path)
        return found
