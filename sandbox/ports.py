"""What the sandbox needs of its surroundings, as protocols. The app implements them.

Called from the runner's worker thread; an implementation must be safe there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from sandbox.effects import Effect


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The gate's answer for one call. `reason` is a code for the journal, never shown raw."""

    outcome: Literal["allow", "ask", "deny"]
    reason: str = ""
    message: str = ""


class Gate(Protocol):
    """Judges the effects that a call is about to have."""

    def judge(self, effects: Sequence[Effect]) -> Verdict:
        """Allow, ask or deny `effects`, all of one call. Fails closed: unknown kinds are denied."""
        ...


class Journal(Protocol):
    """The append-only record of a turn."""

    def settle(self, program_id: str, effects: Sequence[Effect]) -> None:
        """Record the effects of calls that are done, in order; may batch."""
        ...
