"""What the sandbox needs of its surroundings, as protocols. The app implements them.

Called from the runner's worker thread; an implementation must be safe there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from sandbox.effects import Effect


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why the gate asks or denies: a code with its data. The words are the window's."""

    code: str
    data: Mapping[str, str | int] = field(default_factory=dict[str, str | int])


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The gate's answer for one call. `reason` is a code for the journal, never shown raw.

    `reasons`: for the person, the most unusual first; `message`: for the program and the model,
    which never tells what is protected.
    """

    outcome: Literal["allow", "ask", "deny"]
    reason: str = ""
    message: str = ""
    reasons: tuple[Reason, ...] = ()


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
