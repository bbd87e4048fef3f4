"""The tape of one turn: what the model was sent and replied, and the tape of each program.

A turn that goes on after a crash, or days after a question, is driven from its beginning: replies
and answers come from the tape until it ends, then from the model and the world.

Owns what the file's marks mean. Thread: the engine's; program marks come from a worker thread.
"""

from __future__ import annotations

import contextlib
import hashlib
import struct
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import pydantic_monty

from app.paths import Paths
from app.store.tape_file import Head, TapeFile, TapeUnusableError
from sandbox.plain import NotPlainError, from_text, to_text
from sandbox.question import PersonsAnswer, Question
from sandbox.tape import REPEAT, Recorded, Reply, Result, Tape, TapeDamagedError, reply_mark

_RUN, _CONTEXT, _REPLY, _PROGRAM = b"T", b"C", b"R", b"P"
_NUMBER = struct.Struct("<H")
_START = b"S"
_STRAY_S = 24 * 3600


@dataclass(slots=True, kw_only=True)
class _Program:
    """What is on the tape of one program. `source`: a digest of what was run."""

    source: str = ""
    recorded: Recorded = field(default_factory=Recorded)


class TurnTape:
    """One turn's tape.

    `run`: what it was begun with; `context`: what the model was sent first; `replies`: of the
    model, as JSON, in order.
    """

    def __init__(self, file: TapeFile, marks: Sequence[bytes]) -> None:
        self.run: dict[str, Any] = {}
        self.context: dict[str, Any] | None = None
        self.replies: list[str] = []
        self._file = file
        self._programs: dict[int, _Program] = {}
        for mark in marks:
            self._take(mark)

    @classmethod
    def new(
        cls,
        paths: Paths,
        turn_id: str,
        run: dict[str, Any],
        scrub: Callable[[bytes], bytes] = bytes,
    ) -> TurnTape:
        """The tape of a turn that begins with `run`. OSError when it cannot be written."""
        first = _RUN + to_text(run).encode("ascii")
        return cls(TapeFile.new(paths.tapes / turn_id, _head(turn_id), first, scrub), [first])

    @classmethod
    def reopen(
        cls, paths: Paths, turn_id: str, scrub: Callable[[bytes], bytes] = bytes
    ) -> TurnTape:
        """The tape of a turn that goes on. Raises: `TapeUnusableError`."""
        file, marks = TapeFile.reopen(paths.tapes / turn_id, _head(turn_id), scrub)
        try:
            return cls(file, marks)
        except (TapeDamagedError, NotPlainError, struct.error, IndexError) as error:
            file.close()
            raise TapeUnusableError(
                "This run cannot go on where it was. Its record cannot be read.",
                hint="Start it again from its beginning, or send the request again.",
            ) from error

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    # the model

    def set_context(self, context: dict[str, Any]) -> None:
        """Keep what the model is sent first."""
        self.context = context
        self._file.append(_CONTEXT + to_text(context).encode("ascii"), sync=False)

    def add_reply(self, reply: str) -> None:
        """Keep what the model replied; it is on the disk when this returns."""
        self.replies.append(reply)
        self._file.append(_REPLY + reply.encode("utf-8", "surrogatepass"), sync=True)

    # programs

    def program(self, number: int, source: str) -> Tape:
        """The tape of the turn's program with this number, to be played and recorded.

        `source`: as the interpreter runs it; what another one did is not played.
        """
        log = _ProgramLog(self._file, number)
        found = self._programs.setdefault(number, _Program())
        digest = _digest(source)
        if found.source != digest:
            if found.source:
                self.repeat(number)
            found.source = digest
            log.append(_START + digest.encode("ascii"), sync=False)
        return Tape(log, found.recorded)

    def has(self, number: int) -> bool:
        """Whether the program with this number was run at all."""
        return bool(self._programs.get(number, _Program()).source)

    def replayed(self, number: int, source: str) -> Tape | None:
        """The tape of a program that is to do the same again; None when another one was run."""
        found = self._programs.get(number)
        if found is None or found.source != _digest(source):
            return None
        return Tape(None, found.recorded, whole=True)

    def repeat(self, number: int) -> None:
        """From here on the program is run from its start: what it did for good is kept in mind."""
        self._programs[number].recorded.add(REPEAT)
        _ProgramLog(self._file, number).append(REPEAT, sync=True)

    def made(self, number: int) -> list[tuple[bytes, Result]]:
        """What a program did that cannot be taken back."""
        found = self._programs.get(number)
        return [] if found is None else found.recorded.made()

    def answer(self, number: int, question: Question, answer: PersonsAnswer) -> None:
        """Keep what the person said to a program's question."""
        reply = Reply(
            ordinal=question.ordinal,
            kind=question.kind,
            digest=bytes.fromhex(question.digest),
            approved=answer.approved,
            text=answer.text,
        )
        mark = reply_mark(reply)
        self._programs.setdefault(number, _Program()).recorded.add(mark)
        _ProgramLog(self._file, number).append(mark, sync=True)

    def _take(self, mark: bytes) -> None:
        kind, body = mark[:1], mark[1:]
        if kind == _RUN:
            self.run = cast("dict[str, Any]", from_text(body))
        elif kind == _CONTEXT:
            self.context = cast("dict[str, Any]", from_text(body))
        elif kind == _REPLY:
            self.replies.append(body.decode("utf-8", "surrogatepass"))
        elif kind == _PROGRAM:
            (number,) = _NUMBER.unpack_from(body)
            program = self._programs.setdefault(number, _Program())
            inner = body[_NUMBER.size :]
            if inner[:1] == _START:
                program.source = inner[1:].decode("ascii")
            else:
                program.recorded.add(inner)
        else:
            raise TapeDamagedError("The record of this run has a part that is not known.")


class _ProgramLog:
    """Appends the marks of one program."""

    def __init__(self, file: TapeFile, number: int) -> None:
        self._file = file
        self._head = _PROGRAM + _NUMBER.pack(number)

    def append(self, mark: bytes, *, sync: bool) -> None:
        """Keep a mark."""
        self._file.append(self._head + mark, sync=sync)


def forget_strays(paths: Paths, is_known: Callable[[str], bool]) -> None:
    """Remove old tapes of turns that the store does not know: the process ended before it did."""
    before = time.time() - _STRAY_S
    for path in paths.tapes.glob("*"):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < before and not is_known(path.stem):
                path.unlink()


def forget_tape(paths: Paths, turn_id: str) -> None:
    """Remove a turn's tape."""
    with contextlib.suppress(OSError):
        (paths.tapes / turn_id).unlink(missing_ok=True)


def _digest(source: str) -> str:
    return hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()


def _head(turn_id: str) -> Head:
    return Head(turn_id=turn_id, interpreter=pydantic_monty.__version__)
