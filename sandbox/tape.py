"""The tape of one program: what it was answered, call by call, so that it can go on after a crash.

A program is a function of its answers. Run again with the same answers it comes to the same call in
the same state, so the tape is all that has to outlive the process: calls on the stage are done
again and compared with the digests that the tape has of them; answers of tools, of the clock and of
chance are taken from the tape and the call is not repeated. An effect that cannot be taken back is
on the disk as intended before it is begun, and with its outcome after.

Owns the marks and their form. `app/store/tape_file.py` keeps them. Thread: the runner's; `done`
also from the network's.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, cast

from sandbox.effects import Effect
from sandbox.errors import SandboxError
from sandbox.fingerprint import DIGEST_BYTES
from sandbox.plain import NotPlainError, from_text, to_text
from sandbox.ports import TapeLog

_FLUSH_CELLS = 128
_LENGTH = struct.Struct("<I")
_TIME = struct.Struct("<q")

CELLS, RESULT, SETTLED, ANSWER, AGAIN, REPEAT = b"c", b"r", b"s", b"a", b"u", b"x"
"""What a mark is: calls in order; the outcome of one that was begun; calls that the program waited
for and that were given to it; what the person answered; a call whose outcome was unknown is begun
again; from here on the program is run from its start."""

CellKind = Literal["done", "timed", "value", "begun"]
_KINDS: dict[int, CellKind] = {ord("d"): "done", ord("t"): "timed", ord("v"): "value"}
_KINDS[ord("b")] = "begun"


class TapeDamagedError(SandboxError):
    """What is on the tape cannot be read."""


class TapeDivergedError(SandboxError):
    """The program, run again, does not do what is on its tape: what it works on has changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a call came to: its value, or its error; `effects`: that were not foreseen."""

    value: object = None
    error: BaseException | None = None
    effects: tuple[Effect, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One call. `digest`: of the call, with its answer when `kind` is done or timed.

    `time_ns`: what the stage took for now; `result`: of a value; `effects`: of what is not done
    again; `final`: whether it could not be taken back; `name`: of the tool, for people.
    """

    kind: CellKind
    digest: bytes
    time_ns: int | None = None
    result: Result = field(default_factory=Result)
    effects: tuple[Effect, ...] = ()
    final: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the person answered to a question of this kind, for the call with this digest."""

    ordinal: int
    kind: str
    digest: bytes
    approved: bool
    text: str = ""


@dataclass(slots=True, kw_only=True)
class Recorded:
    """All that is on the tape of one program."""

    cells: list[Cell] = field(default_factory=list[Cell])
    results: dict[int, Result] = field(default_factory=dict[int, Result])
    settled: list[tuple[int, ...]] = field(default_factory=list[tuple[int, ...]])
    replies: dict[tuple[int, str], Reply] = field(default_factory=dict[tuple[int, str], Reply])
    former: list[tuple[bytes, Result]] = field(default_factory=list[tuple[bytes, Result]])
    """Of runs before it was run from its start again: what cannot be taken back."""

    def add(self, mark: bytes) -> None:
        """Take the next mark. Raises `TapeDamagedError`."""
        kind, body = mark[:1], mark[1:]
        try:
            if kind == CELLS:
                self.cells.extend(_cells(body))
                return
            if kind == REPEAT:
                self._repeat()
                return
            found: Any = from_text(body)
            if kind == RESULT:
                ordinal = found.pop("call")
                self.results[ordinal] = Result(**found)
            elif kind == SETTLED:
                self.settled.append(tuple(found))
            elif kind == ANSWER:
                reply = Reply(**found)
                self.replies[reply.ordinal, reply.kind] = reply
            elif kind == AGAIN:
                self.replies.pop((found, "unknown"), None)
            else:
                raise TapeDamagedError("The record of this run has a part that is not known.")
        except (NotPlainError, KeyError, TypeError, AttributeError, struct.error) as error:
            raise TapeDamagedError("The record of this run cannot be read.") from error

    def made(self) -> list[tuple[bytes, Result]]:
        """Calls that cannot be taken back, of known outcome, and those that were refused."""
        return [
            *self.former,
            *(
                (cell.digest, self.results[ordinal])
                for ordinal, cell in enumerate(self.cells)
                if cell.kind == "begun" and cell.final and ordinal in self.results
            ),
            *(
                (reply.digest, Result(error=PermissionError("the person refused this before")))
                for reply in self.replies.values()
                if not reply.approved
            ),
        ]

    def _repeat(self) -> None:
        self.former = self.made()
        self.cells, self.results, self.settled, self.replies = [], {}, [], {}


class Tape:
    """Plays what is recorded of a program, then records what it does."""

    def __init__(
        self,
        log: TapeLog | None = None,
        recorded: Recorded | None = None,
        *,
        whole: bool = False,
    ) -> None:
        """`log`: where marks go; without one nothing is kept; `whole`: the program is to do what
        is on the tape and nothing more."""
        self._log = log
        self._whole = whole
        self._recorded = recorded or Recorded()
        self._buffer = bytearray()
        self._buffered = 0
        self._lock = threading.Lock()
        self._waits = 0
        self._begun: dict[int, bytes] = {}
        self._made: list[tuple[bytes, Result]] = []

    # playing

    @property
    def former(self) -> Sequence[tuple[bytes, Result]]:
        """What runs of this program before it was started again did for good."""
        return self._recorded.former

    def made(self) -> list[tuple[bytes, Result]]:
        """What the program did so far that cannot be taken back, and what it was refused."""
        return [*self._recorded.made(), *self._made]

    def cell(self, ordinal: int) -> Cell | None:
        """The recorded call with this number; None from where the tape ends."""
        cells = self._recorded.cells
        if ordinal < len(cells):
            return cells[ordinal]
        if self._whole:
            raise TapeDivergedError(f"it makes more than the {len(cells):,} calls that it made")
        return None

    @property
    def calls(self) -> int:
        """How many calls are recorded."""
        return len(self._recorded.cells)

    def result(self, ordinal: int) -> Result | None:
        """The recorded outcome of a call that was begun."""
        return self._recorded.results.get(ordinal)

    def reply(self, ordinal: int, kind: str, digest: bytes) -> Reply | None:
        """What the person answered to this kind of question for this very call."""
        found = self._recorded.replies.get((ordinal, kind))
        return found if found is not None and found.digest == digest else None

    def next_settled(self) -> tuple[int, ...] | None:
        """Which calls the program was given when it waited, this time; None: not recorded."""
        number, self._waits = self._waits, self._waits + 1
        settled = self._recorded.settled
        if number >= len(settled) and self._whole:
            raise TapeDivergedError("it waits more often than it did")
        return settled[number] if number < len(settled) else None

    # recording

    def did(self, digest: bytes, time_ns: int | None) -> None:
        """A call that can be done again."""
        if time_ns is None:
            self._cell(b"d" + digest)
        else:
            self._cell(b"t" + digest + _TIME.pack(time_ns))

    def answered(self, digest: bytes, result: Result, effects: Sequence[Effect] = ()) -> None:
        """A call whose answer cannot be found again. Raises `NotPlainError`."""
        content = {"value": result.value, "error": result.error, "effects": tuple(effects)}
        text = to_text(content).encode("ascii")
        self._cell(b"v" + digest + _LENGTH.pack(len(text)) + text)

    def begin(self, ordinal: int, digest: bytes, effects: Sequence[Effect], *, final: bool) -> None:
        """A call of a tool is about to begin; `final`: it cannot be taken back, so wait for it."""
        self._begun[ordinal] = digest
        text = to_text({"effects": tuple(effects), "final": final}).encode("ascii")
        self._cell(b"b" + digest + _LENGTH.pack(len(text)) + text)
        self.flush(sync=final)

    def done(self, ordinal: int, result: Result, *, final: bool) -> None:
        """What a call that was begun came to. Any thread. Raises `NotPlainError`."""
        content = {
            "call": ordinal,
            "value": result.value,
            "error": result.error,
            "effects": result.effects,
        }
        self._mark(RESULT + to_text(content).encode("ascii"), sync=final)
        digest = self._begun.get(ordinal)
        if final and digest is not None:
            self._made.append((digest, result))

    def begin_again(self, ordinal: int, digest: bytes) -> None:
        """A call whose outcome is unknown is begun once more, as the person said."""
        self._begun[ordinal] = digest
        self._mark(AGAIN + to_text(ordinal).encode("ascii"), sync=True)

    def settle(self, ordinals: Iterable[int]) -> None:
        """These calls are given to the program, which waited for them."""
        self._mark(SETTLED + to_text(list(ordinals)).encode("ascii"))

    def flush(self, *, sync: bool = False) -> None:
        """Hand over what is buffered."""
        if self._log is None:
            self._buffer.clear()
            self._buffered = 0
            return
        with self._lock:
            cells, self._buffer, self._buffered = bytes(self._buffer), bytearray(), 0
            if cells:
                self._log.append(CELLS + cells, sync=sync)

    def _cell(self, data: bytes) -> None:
        self._buffer += data
        self._buffered += 1
        if self._buffered >= _FLUSH_CELLS:
            self.flush()

    def _mark(self, mark: bytes, *, sync: bool = False) -> None:
        if self._log is None:
            return
        with self._lock:
            self._log.append(mark, sync=sync)


def reply_mark(reply: Reply) -> bytes:
    """The mark of what the person answered."""
    content = {item.name: getattr(reply, item.name) for item in fields(reply)}
    return ANSWER + to_text(content).encode("ascii")


def _cells(body: bytes) -> list[Cell]:
    found: list[Cell] = []
    at = 0
    while at < len(body):
        kind, at = _KINDS[body[at]], at + 1
        digest, at = body[at : at + DIGEST_BYTES], at + DIGEST_BYTES
        if kind == "done":
            found.append(Cell(kind=kind, digest=digest))
            continue
        if kind == "timed":
            (time_ns,) = _TIME.unpack_from(body, at)
            at += _TIME.size
            found.append(Cell(kind=kind, digest=digest, time_ns=time_ns))
            continue
        (length,) = _LENGTH.unpack_from(body, at)
        at += _LENGTH.size
        content = cast("dict[str, Any]", from_text(body[at : at + length]))
        at += length
        found.append(
            Cell(
                kind=kind,
                digest=digest,
                result=Result(value=content.get("value"), error=content.get("error")),
                effects=content["effects"],
                final=content.get("final", False),
            )
        )
    if at > len(body):
        raise TapeDamagedError("The record of this run cannot be read.")
    return found
