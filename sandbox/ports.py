"""What the sandbox needs of its surroundings, as protocols. The app implements them.

Called from the runner's worker thread; an implementation must be safe there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from sandbox.effects import Effect

if TYPE_CHECKING:
    from sandbox.addresses import Target
    from sandbox.secrets import Binding


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


class TapeLog(Protocol):
    """Where the marks of a program's tape go, in order. Any thread."""

    def append(self, mark: bytes, *, sync: bool) -> None:
        """Keep a mark; `sync`: it and all before it are on the disk when this returns."""
        ...


class Secrets(Protocol):
    """The secrets that programs may use, and what keeps their values out of programs and texts.

    Called from the runner's worker thread and the network's.
    """

    def names(self) -> Sequence[str]:
        """The names of all that programs may use."""
        ...

    def binding(self, name: str) -> Binding | None:
        """What a secret is bound to; None when there is none of that name."""
        ...

    def headers(self, name: str, method: str, target: Target) -> tuple[tuple[str, bytes], ...]:
        """The headers that carry a secret, for the request that is sent now; the use is recorded.

        Blocks. Raises `PermissionError` when it may not go there or cannot be had.
        """
        ...

    def holds(self, text: str | bytes) -> bool:
        """Whether a known value is in there, in any form."""
        ...

    def text(self, text: str) -> str:
        """`text` without known values."""
        ...

    def data(self, data: bytes) -> bytes:
        """`data`, of the same length, without known values."""
        ...

    def pieces(self) -> TextPieces:
        """For a text that comes in pieces: a value may be split over them."""
        ...


class TextPieces(Protocol):
    """Takes known values out of a text in pieces."""

    def feed(self, piece: str) -> str:
        """What is certain by now."""
        ...

    def end(self) -> str:
        """The rest."""
        ...


class _AsItIs:
    def feed(self, piece: str) -> str:
        return piece

    def end(self) -> str:
        return ""


class NoSecrets:
    """There are none, and no value is known."""

    def names(self) -> Sequence[str]:
        """None."""
        return ()

    def binding(self, name: str) -> Binding | None:
        """None."""
        return None

    def headers(self, name: str, method: str, target: Target) -> tuple[tuple[str, bytes], ...]:
        """Nothing can be sent."""
        raise PermissionError(f"there is no secret {name}")

    def holds(self, text: str | bytes) -> bool:
        """Nothing is known."""
        return False

    def text(self, text: str) -> str:
        """As it is."""
        return text

    def data(self, data: bytes) -> bytes:
        """As it is."""
        return data

    def pieces(self) -> TextPieces:
        """As it is."""
        return _AsItIs()


NO_SECRETS = NoSecrets()
