"""Runs the programs of a finished turn again, from its record, and compares what they do.

Owns the comparison and what makes it impossible. Nothing is asked, sent or written: tools, clock,
chance and the order of files are answered by the turn's tape, and files by a stage that is made as
it was when the turn began. Thread: the engine's; the work is done on a worker.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from app.engine.folders import open_grants
from app.engine.gate import TurnGate
from app.engine.secret_desk import SecretDesk
from app.engine.tape_room import TapeRoom
from app.engine.turn_context import TurnContext
from app.engine.turn_tape import TurnTape
from app.errors import AppError
from app.paths import Paths
from app.store.records import Folder, ProgramRecord, TurnRecord
from app.store.state_file import StateFiles
from sandbox.artifacts import Artifacts
from sandbox.blobs import BlobStore
from sandbox.changeset import Change, ChangeSet
from sandbox.effects import Effect
from sandbox.errors import ProgramFaultError, StateUnusableError
from sandbox.grants import grants_of
from sandbox.kept import KeptContents
from sandbox.limits import Limits
from sandbox.outcome import CallBatch, Printed, StopToken
from sandbox.pool import SandboxPool
from sandbox.ports import Secrets
from sandbox.program import prepare
from sandbox.rewind import RewindError, rewind
from sandbox.runner import Runner
from sandbox.session_state import FRESH, SessionState
from sandbox.stage import Stage
from sandbox.tape import TapeDivergedError
from sandbox.tools import ToolSet
from sandbox.workspace.shell_tools import tools_with_shell

_FINISHED = frozenset({"done", "waiting", "rejected", "undone", "failed"})
_MOST_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """What came of it. `programs`: how many were run again; `effects`: how many were compared;
    `differences`: one line each, none when all was the same."""

    programs: int = 0
    effects: int = 0
    differences: tuple[str, ...] = ()

    @property
    def is_same(self) -> bool:
        """Whether everything was as it had been."""
        return not self.differences


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayWork:
    """All that a replay needs. `effects`: as they were recorded, by program id."""

    turn: TurnRecord
    folders: Sequence[Folder]
    effects: Mapping[str, Sequence[Effect]]
    tape: TurnTape
    paths: Paths
    states: StateFiles
    limits: Limits
    pool: SandboxPool
    tools: ToolSet
    secrets: Secrets
    blobs: BlobStore


class Replays:
    """Replays of finished turns. `secrets`: gives what programs of a turn may use."""

    def __init__(self, context: TurnContext, secrets: SecretDesk) -> None:
        self._context = context
        self._secrets = secrets
        self._tapes = TapeRoom(context.paths, secrets.mark)

    async def run(self, turn_id: str) -> Replay:
        """Run the programs of a turn again and compare what they do.

        Raises: `AppError` when it cannot be done, `TapeUnusableError` for a damaged record.
        """
        context = self._context
        turn = context.store.turn(turn_id)
        check_finished(turn)
        tape = self._tapes.reopened(turn_id)
        tape.close()
        effects = {
            one.program_id: context.store.effects_of(turn_id, one.program_id)
            for one in turn.programs
        }
        folder = context.paths.blobs / f"replay-{turn_id}"
        sandbox = context.settings().sandbox
        folders = context.store.turn_folders(turn_id)
        secrets = self._secrets.for_turn(turn_id)

        def work() -> Replay:
            try:
                with SandboxPool(sandbox.limits()) as pool:
                    return replay(
                        ReplayWork(
                            turn=turn,
                            folders=folders,
                            effects=effects,
                            tape=tape,
                            paths=context.paths,
                            states=context.states,
                            limits=sandbox.limits(),
                            pool=pool,
                            tools=tools_with_shell(),
                            secrets=secrets,
                            blobs=BlobStore(folder, limit_bytes=sandbox.staged_bytes),
                        )
                    )
            finally:
                shutil.rmtree(folder, ignore_errors=True)

        return await asyncio.to_thread(work)


@dataclass(slots=True)
class _Told:
    differences: list[str] = field(default_factory=list[str])
    programs: int = 0
    effects: int = 0


def check_finished(turn: TurnRecord) -> None:
    """Raise unless a turn is over and has programs to run again."""
    if turn.status not in _FINISHED:
        raise AppError(
            f"This run cannot be replayed: it is {turn.status}.",
            hint="Only a run that has ended can be replayed.",
        )
    if not turn.programs:
        raise AppError("There is nothing to replay: this run has no program.")


def replay(work: ReplayWork) -> Replay:
    """Run the turn's programs again. Blocks.

    Raises `AppError` when what they worked on cannot be made again.
    """
    stage = Stage(open_grants(work.folders, work.paths), work.blobs)
    state = _first_state(work)
    if work.turn.committed:
        _rewind(work, stage)
    run = work.tape.run
    gate = TurnGate(grants_of(frozenset(run.get("grants", ()))), work.turn.request)
    told = _Told()
    for record in work.turn.programs:
        if work.tape.has(record.index):
            state = _again(work, record, stage, gate, state, told)
    if not told.differences:
        told.differences += _unlike(stage, work.turn.changes)
    found = told.differences
    if len(found) > _MOST_SHOWN:
        found = [*found[:_MOST_SHOWN], f"and {len(found) - _MOST_SHOWN} more"]
    return Replay(programs=told.programs, effects=told.effects, differences=tuple(found))


def _first_state(work: ReplayWork) -> SessionState:
    of: str = work.tape.run.get("state", "")
    try:
        return work.states.load(work.turn.chat_id, of) if of else FRESH
    except StateUnusableError as error:
        raise AppError(f"This run cannot be replayed. {error.message}") from error


def _rewind(work: ReplayWork, stage: Stage) -> None:
    changes = work.turn.changes or ChangeSet()
    applied = set(work.turn.approved)
    chosen = ChangeSet(changes=tuple(one for one in changes.changes if one.id in applied))
    try:
        rewind(stage, chosen, KeptContents(work.paths.undo / work.turn.turn_id))
    except RewindError as error:
        raise AppError(f"This run cannot be replayed. {error.message}", hint=error.hint) from error


def _again(
    work: ReplayWork,
    record: ProgramRecord,
    stage: Stage,
    gate: TurnGate,
    state: SessionState,
    told: _Told,
) -> SessionState:
    """Run one program again; the state for the next one."""
    told.programs += 1
    name = f"program {record.index}"
    try:
        program = prepare(record.source, work.tools, state)
    except ProgramFaultError as error:
        told.differences.append(f"{name} cannot be made ready: {error.fault.message}")
        return state
    tape = work.tape.replayed(record.index, program.repaired)
    if tape is None:
        told.differences.append(f"{name} is bridged otherwise than when it ran")
        return state

    def listen(_batch: CallBatch | Printed) -> None:
        """Nobody watches."""

    effects = _Effects()
    stage.push()
    kept = False
    try:
        outcome = Runner(
            work.pool, work.limits, work.tools, artifacts=Artifacts(work.paths.artifacts)
        ).run(
            program,
            program_id=record.program_id,
            stage=stage,
            gate=gate.begin(program),
            journal=effects,
            listen=listen,
            stop=StopToken(),
            grants=grants_of(frozenset(work.tape.run.get("grants", ()))),
            secrets=work.secrets,
            tape=tape,
        )
        kept = record.status == "ok" and _counts(work.turn, record)
        told.effects += len(effects.found)
        if outcome.file_calls < tape.calls:
            text = f"{name} makes {outcome.file_calls:,} calls and made {tape.calls:,}"
            told.differences.append(text)
        if outcome.printed != record.printed or (outcome.value or "") != (record.value or ""):
            told.differences.append(f"{name} printed or answered something else")
        told.differences += [
            f"{name}: {line}" for line in _compared(work.effects[record.program_id], effects.found)
        ]
        if outcome.state is not None and kept:
            return gate.labelled(outcome.state)
    except TapeDivergedError as error:
        told.differences.append(f"{name}: {error.message}")
    finally:
        gate.end()
        if kept:
            stage.merge()
        else:
            stage.drop()
    return state


class _Effects:
    """A journal in memory."""

    def __init__(self) -> None:
        self.found: list[Effect] = []

    def settle(self, program_id: str, effects: Sequence[Effect]) -> None:
        """Keep them."""
        self.found.extend(effects)


def _counts(turn: TurnRecord, record: ProgramRecord) -> bool:
    """Whether a program that worked was more than a vote: of candidates, the last one was run."""
    return turn.usage.candidates < 2 or record is turn.programs[-1]


def _compared(before: Sequence[Effect], now: Sequence[Effect]) -> list[str]:
    found: list[str] = []
    for number, (one, other) in enumerate(zip(before, now, strict=False), 1):
        if one != other:
            found.append(f"effect {number} was {_said(one)} and is {_said(other)}")
    if len(before) != len(now):
        found.append(f"it had {len(before)} effects and has {len(now)}")
    return found


def _said(effect: Effect) -> str:
    target = "" if effect.target is None else f" to {effect.target}"
    size = "" if effect.size_bytes is None else f" ({effect.size_bytes} bytes)"
    return f"{effect.kind} {effect.path}{target}{size}"


def _unlike(stage: Stage, changes: ChangeSet | None) -> list[str]:
    """Where the stage at the end is not what the turn's changes say."""
    found = () if changes is None else changes.changes
    return [f"{one.final_path} is not what it was" for one in found if not _is_like(stage, one)]


def _is_like(stage: Stage, change: Change) -> bool:
    path = change.final_path
    match change.kind:
        case "delete" | "rmdir":
            return not stage.exists(path)
        case "mkdir":
            return stage.is_dir(path)
        case _:
            if not stage.exists(path):
                return False
            if not change.has_new_content or change.blob is None or change.prefix_bytes:
                return True
            return stage.sha256(path) == change.blob
