"""Does the calls of one program at the host: planned, judged, done, recorded, one at a time.

Owns the order of these steps, for calls that are made for the first time and for those that the
tape has. It must not drive the program: `runner.py` does. Thread: the runner's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any

from pydantic_monty import ExternalSettledResult, FunctionSnapshot, FutureSnapshot, SourceRange

from sandbox import fingerprint
from sandbox.changeset import Evidence
from sandbox.effects import Effect, EffectKind, Span
from sandbox.errors import Fault, ProgramFaultError
from sandbox.host_answer import Answer
from sandbox.host_clock import StageClock
from sandbox.host_files import HostPaths
from sandbox.host_rooms import HostRooms, is_clock, is_unsteady
from sandbox.ledger import Ledger
from sandbox.names import shown
from sandbox.places import EVALUATED, Places
from sandbox.plain import NotPlainError
from sandbox.ports import Gate, Verdict
from sandbox.question import DONE, Question, QuestionKind, composed
from sandbox.tape import Cell, Reply, Result, Tape, TapeDivergedError
from sandbox.tool_calls import LATER, Pending, known

REVERSIBLE: frozenset[EffectKind] = frozenset(
    {"read", "create", "modify", "delete", "move", "show", "command"}
)
"""Effects that leave nothing outside the stage and the workspace."""
_CLOCK_CALLS = 1_000_000
_TOLD = ("value", "begun")
# These leave something in the run itself, for its outcome: they are done again.
_LEFT_IN_RUN = frozenset({"show", "keep_artifact", "look"})
# What a host call may raise into a program; anything else is our bug and ends the run.
PROGRAM_ERRORS = (
    OSError,
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    AttributeError,
    NameError,
)


class AskingError(Exception):
    """The program stops here until the person has answered."""

    def __init__(self, question: Question) -> None:
        super().__init__(question.kind)
        self.question = question


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """One call. `ordinal`: its number in the program; `digest`: of name and arguments."""

    ordinal: int
    name: str
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    identity: bytes
    span: Span | None
    call_id: int

    @property
    def plain_name(self) -> str:
        return self.name.removeprefix(LATER).removeprefix("__dd_")

    @property
    def digest(self) -> bytes:
        return fingerprint.digest(self.identity)


class Calls:
    """The calls of one run. `count`: so far; `notes`: what the model should know of them."""

    def __init__(
        self,
        places: Places,
        *,
        paths: HostPaths,
        rooms: HostRooms,
        gate: Gate,
        ledger: Ledger,
        tape: Tape,
        former: Sequence[tuple[bytes, Result]] = (),
    ) -> None:
        """`former`: calls that cannot be taken back, made by programs of the turn that failed."""
        self.count = 0
        self.notes: list[str] = []
        self._places = places
        self._paths = paths
        self._stage = paths.stage
        self._rooms = rooms
        self._gate = gate
        self._ledger = ledger
        self._tape = tape
        self._former = [*former, *tape.former]
        self._clock = StageClock()
        self._clocks = 0
        self._ordinals: dict[int, int] = {}
        self._begun: dict[int, bool] = {}
        paths.clock = self._clock
        self._stage.use_clock(self._clock)

    def answer(self, snapshot: FunctionSnapshot) -> Any:
        """Do one call; its result or its error, for the program.

        Raises `AskingError`, `TapeDivergedError`, and `ProgramFaultError` for a spent budget.
        """
        name = snapshot.function_name
        span = self._places.span(name, snapshot.position)
        ordinal, self.count = self.count, self.count + 1
        self._check_budget(name, span)
        if snapshot.position.filename == EVALUATED:
            self._tape.did(bytes(fingerprint.DIGEST_BYTES), None)
            return {"exception": PermissionError("eval() and exec() cannot use files or modules")}
        call = _Call(
            ordinal=ordinal,
            name=name,
            args=snapshot.args,
            kwargs=snapshot.kwargs,
            identity=fingerprint.of_call(name, snapshot.args, snapshot.kwargs),
            span=span,
            call_id=snapshot.call_id,
        )
        cell = self._tape.cell(ordinal)
        if self._rooms.tools.has(name):
            return self._tool(call, cell)
        if is_unsteady(name):
            return self._unsteady(call, cell)
        return self._again(call, cell, snapshot.position)

    # Calls that can be done again: on the stage, or without any effect

    def _again(self, call: _Call, cell: Cell | None, position: SourceRange) -> Any:
        self._clock.begin(None if cell is None else cell.time_ns)
        result = self._staged(call, position)
        given = result.error if result.error is not None else result.value
        digest = fingerprint.digest(call.identity, fingerprint.of_value(given))
        if cell is None:
            self._tape.did(digest, self._clock.taken_ns)
        elif cell.digest != digest:
            raise _diverged(call)
        return _for_monty(result)

    def _staged(self, call: _Call, position: SourceRange) -> Result:
        self._paths.asked = None
        span = call.span
        tells = True  # an error says what is there, or is not
        try:
            answer = self._rooms.planned(call.name, call.args, call.kwargs)
            if answer.place is not None:
                opens = call.name == "__dd_load"
                span = self._places.opened(answer.place, span, position, opens=opens)
            effects = _marked(answer.effects, call.plain_name, span)
            if effects:
                verdict = self._judged(effects, call.plain_name, span)
                if verdict.outcome != "allow":  # nobody is asked for what is staged
                    return Result(error=PermissionError(verdict.message or "not allowed"))
            value = answer.do()
            self._ledger.add(effects)
            tells = not effects and answer.reveals
        except (SystemExit, *PROGRAM_ERRORS) as error:
            return Result(error=_for_program(error, self._paths.cwd))
        finally:
            self._tell_look(call, span, tells=tells)
        return Result(value=value)

    def _tell_look(self, call: _Call, span: Span | None, *, tells: bool) -> None:
        """Let the gate know that the program learned what is at a path, by no effect of its own.

        It counts for what is judged later and is no effect in the ledger: it is a look, and it is
        over. What the gate says to it is of no use any more.
        """
        path = self._paths.asked
        if tells and path is not None:
            look = self._paths.effect("read", path)
            self._gate.judge((replace(look, call=call.plain_name, span=span),))

    # The clock, chance and the machine: recorded, never asked again

    def _unsteady(self, call: _Call, cell: Cell | None) -> Any:
        if cell is not None:
            return _for_monty(self._recorded(call, cell))
        try:
            result = Result(value=self._rooms.planned(call.name, call.args, call.kwargs).do())
        except PROGRAM_ERRORS as error:
            result = Result(error=error)
        self._tape.answered(call.digest, result)
        return _for_monty(result)

    # Tools: recorded, never repeated

    def _tool(self, call: _Call, cell: Cell | None) -> Any:
        if cell is not None and (cell.kind not in _TOLD or cell.digest != call.digest):
            raise _diverged(call)
        recorded = None if cell is None else self._outcome(call, cell)
        if cell is not None and recorded is not None:
            self._rooms.tools.counted(call.name)
            self._witness(call.plain_name, call.span)
            self._rooms.tools.again(call.name, recorded.value)
            self._count_effects(cell.effects, call)
            self._gate.judge(cell.effects)  # what it told then counts for what is judged now
            if cell.kind == "value" and recorded.error is None and is_final(cell.effects):
                self._note_made(call)
            self._ledger.add((*cell.effects, *recorded.effects) if cell.kind == "begun" else ())
            return self._given(call, recorded)
        self._clock.begin(None)
        self._paths.asked = None
        try:
            return self._begin(call, cell)
        except PROGRAM_ERRORS as error:
            result = Result(error=_for_program(error, self._paths.cwd))
            if cell is None and call.ordinal not in self._begun:
                self._tape.answered(call.digest, result)
            else:
                self._record(call, result)
            return _for_monty(result)

    def _outcome(self, call: _Call, cell: Cell) -> Result | None:
        """What a recorded call came to; None when that is not known, or it is to be seen again."""
        if cell.kind == "begun" and call.plain_name in _LEFT_IN_RUN:
            return None
        return cell.result if cell.kind == "value" else self._tape.result(call.ordinal)

    def _begin(self, call: _Call, cell: Cell | None) -> Any:
        """Plan a call, have it judged, and begin it. An error is the program's."""
        answer = self._rooms.planned(call.name, call.args, call.kwargs)
        effects = _marked(answer.effects, call.plain_name, call.span)
        final = is_final(effects)
        if cell is None and final:
            made = self._made_before(call)
            if made is not None:
                self._tape.answered(call.digest, made, effects)
                self._count_effects(effects, call)
                self._gate.judge(effects)
                return self._given(call, made)
        reply = self._allowed(call, cell, effects, answer) if effects else None
        if reply is not None and reply.kind == "unknown" and reply.text == DONE:
            return self._taken_as_done(call, effects)
        if cell is None:
            self._tape.begin(call.ordinal, call.digest, effects, final=final)
        elif final:
            self._tape.begin_again(call.ordinal, call.digest)
        self._begun[call.ordinal] = final
        if reply is not None and answer.asks_person:
            value: object = answer.taken(reply.text) if answer.taken else reply.text
        else:
            value = answer.do()
        if isinstance(value, Pending):
            self._ledger.add(effects)
            return self._kept(call, value.future, answer)
        more = _marked(answer.more, "redirect", call.span)
        self._ledger.add((*effects, *more))
        result = Result(value=value, effects=more)
        self._record(call, result)
        return self._given(call, result)

    def _taken_as_done(self, call: _Call, effects: tuple[Effect, ...]) -> Any:
        """The person knows that a call was made whose answer was lost."""
        self._begun[call.ordinal] = True
        self._ledger.add(effects)
        self.notes.append(
            f"{call.plain_name}() was done, as the person says; what it answered is not known."
        )
        result = Result(value=self._rooms.tools.unseen(call.name))
        self._record(call, result)
        return self._given(call, result)

    def _allowed(
        self, call: _Call, cell: Cell | None, effects: tuple[Effect, ...], answer: Answer
    ) -> Reply | None:
        """Raise unless the gate or the person allows it; what the person said, if anything."""
        verdict = self._judged(effects, call.plain_name, call.span)
        if verdict.outcome == "deny":
            raise PermissionError(verdict.message or "not allowed")
        kind: QuestionKind = "person" if answer.asks_person else "effects"
        if cell is not None and cell.final and not answer.asks_person:
            kind = "unknown"  # what the person has answered is on the tape: nothing is repeated
        elif verdict.outcome == "allow":
            return None
        reply = self._tape.reply(call.ordinal, kind, call.digest)
        if reply is not None and reply.approved:
            self._rooms.tools.approve(effects)
        if reply is None:
            raise AskingError(self._question(kind, call, effects, answer, verdict))
        if not reply.approved:
            self.notes.append(f"The person refused {call.plain_name}(). {reply.text}".strip())
            raise PermissionError(_refusal(kind, reply.text))
        return reply

    def _question(
        self,
        kind: QuestionKind,
        call: _Call,
        effects: tuple[Effect, ...],
        answer: Answer,
        verdict: Verdict,
    ) -> Question:
        self._rooms.tools.drain({o for o, final in self._begun.items() if final})
        return Question(
            kind=kind,
            program_id=self._ledger.program_id,
            ordinal=call.ordinal,
            digest=call.digest.hex(),
            call=call.plain_name,
            line=call.span.line if call.span else None,
            effects=effects,
            reasons=verdict.reasons,
            composition=composed(self._ledger.effects),
            exact=answer.exact,
            choices=answer.choices,
        )

    def _made_before(self, call: _Call) -> Result | None:
        """What this call came to in a program of the turn that failed, once for each time."""
        digest = call.digest
        for place, (made, result) in enumerate(self._former):
            if made != digest:
                continue
            if result.error is None:
                del self._former[place]
                self._note_made(call)
            return result
        return None

    def _note_made(self, call: _Call) -> None:
        self.notes.append(
            f"{call.plain_name}() was done before in this turn and was not repeated; "
            "its former answer was used."
        )

    def _given(self, call: _Call, result: Result) -> Any:
        """A result for the program; a call that it will wait for gets it when it waits."""
        if result.error is None and call.name.startswith(LATER):
            return self._kept(call, known(result), None)
        return _for_monty(result)

    def _kept(self, call: _Call, future: Future[Any], answer: Answer | None) -> Any:
        """Remember what is under way. `answer` None: its result is recorded already."""
        self._ordinals[call.call_id] = call.ordinal
        if answer is not None:
            future = self._recording(call, future, answer)
        self._rooms.tools.keep(call.call_id, call.ordinal, future)
        return {"future": ...}

    def _recording(self, call: _Call, future: Future[Any], answer: Answer) -> Future[Any]:
        """`future`, done when what it came to is on the tape."""
        outer: Future[Any] = Future()

        def settle(inner: Future[Any]) -> None:
            if inner.cancelled() or outer.cancelled():
                return
            error = inner.exception()
            if error is not None and not isinstance(error, PROGRAM_ERRORS):
                outer.set_exception(error)
                return
            more = _marked(tuple(answer.more), "redirect", call.span)
            if error is None:
                result = Result(value=inner.result(), effects=more)
            else:
                result = Result(error=_for_program(error, self._paths.cwd), effects=more)
            try:
                self._record(call, result)
            except BaseException as failed:
                outer.set_exception(failed)
            else:
                outer.set_result(result.value) if error is None else outer.set_exception(
                    result.error or error
                )

        future.add_done_callback(settle)
        return outer

    def _record(self, call: _Call, result: Result) -> None:
        """Put the outcome of a call that was begun on the tape. Any thread."""
        final = self._begun.get(call.ordinal, False)
        try:
            self._tape.done(call.ordinal, result, final=final)
        except NotPlainError:
            if final:
                lost = Result(error=OSError("the answer could not be kept"))
                self._tape.done(call.ordinal, lost, final=True)

    def settle(self, snapshot: FutureSnapshot) -> dict[int, ExternalSettledResult]:
        """Wait for calls that the program waits for; the results of those that are done."""
        waiting = snapshot.pending_call_ids
        recorded = self._tape.next_settled()
        if recorded is not None:
            waiting = [one for one in waiting if self._ordinals[one] in recorded]
            return self._rooms.tools.settle(waiting, _shown_error, everything=True)
        results = self._rooms.tools.settle(waiting, _shown_error)
        self._tape.settle(self._ordinals[one] for one in results)
        return results

    # What all calls share

    def _judged(self, effects: tuple[Effect, ...], name: str, span: Span | None) -> Verdict:
        self._witness(name, span)
        return self._gate.judge(effects)

    def _witness(self, name: str, at: Span | None) -> None:
        line = at.line if at else None
        self._stage.evidence = Evidence(program_id=self._ledger.program_id, line=line, call=name)

    def _count_effects(self, effects: tuple[Effect, ...], call: _Call) -> None:
        """Let the gate know of effects that are not had again, for what is judged later."""
        if effects:
            self._judged(effects, call.plain_name, call.span)

    def _recorded(self, call: _Call, cell: Cell) -> Result:
        if cell.kind != "value" or cell.digest != call.digest:
            raise _diverged(call)
        return cell.result

    def _check_budget(self, name: str, span: Span | None) -> None:
        if is_clock(name):
            self._clocks += 1
        limit = self._paths.limits.file_calls
        if self.count - self._clocks <= limit and self._clocks <= _CLOCK_CALLS:
            return
        waits = self._clocks > _CLOCK_CALLS
        raise ProgramFaultError(
            Fault(
                type="CallLimitError",
                message="the program looked at the clock too often"
                if waits
                else f"the program made more than {limit:,} file calls",
                line=span.line if span else None,
                hint="Do not wait in a loop: nothing changes while a program runs."
                if waits
                else "List each folder once, and read each file once.",
            )
        )


def is_final(effects: Sequence[Effect]) -> bool:
    """Whether one of these effects cannot be taken back."""
    return any(effect.kind not in REVERSIBLE for effect in effects)


def _marked(effects: Sequence[Effect], call: str, span: Span | None) -> tuple[Effect, ...]:
    return tuple(replace(effect, call=effect.call or call, span=span) for effect in effects)


def _for_monty(result: Result) -> Any:
    if result.error is not None:
        return {"exception": result.error}
    return {"return_value": result.value}


def _shown_error(error: BaseException) -> BaseException:
    """An error of a call that ran beside the program, for it; raises what is not its own."""
    if isinstance(error, PROGRAM_ERRORS):
        return error
    raise error


def _refusal(kind: QuestionKind, text: str) -> str:
    said = f": {text}" if text else ""
    if kind == "unknown":
        return f"it is not known whether this was done before, and it is not to be repeated{said}"
    return f"the person refused this{said}"


def _diverged(call: _Call) -> TapeDivergedError:
    where = f" in line {call.span.line}" if call.span else ""
    return TapeDivergedError(
        f"{call.plain_name}(){where} is not what it was: what the program works on has changed."
    )


def _for_program(error: BaseException, cwd: str) -> BaseException:
    """`error` with file names as the program sees them, relative ones below its own folder."""
    if not isinstance(error, OSError) or error.errno is None:
        return error
    text = error.strerror or ""
    files = [error.filename, error.filename2]
    names = [shown(str(n)).removeprefix(f"{cwd}/") for n in files if n is not None]
    if len(names) == 2:
        return type(error)(error.errno, text, names[0], None, names[1])
    return type(error)(error.errno, text, *names)
