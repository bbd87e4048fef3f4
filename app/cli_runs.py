"""`drydock runs`: earlier runs. Thread: the command line's only thread, in asyncio."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from app.cli import EXIT_DONE, EXIT_FAILED, print_json, say
from app.cli_run import checked_grants, conclude, exit_code, open_engine, tell_end
from app.cli_words import calls_text, change_lines, many, review_sentence, turn_line
from app.engine.listing import size_text
from app.engine.turn_export import export_turn
from app.engine.turn_json import turn_json
from app.errors import AppError
from app.store.records import TurnRecord
from sandbox.grants import grants_of


async def list_runs(args: argparse.Namespace) -> int:
    """The latest runs, newest first."""
    async with open_engine() as (engine, _):
        turns = await engine.run_records(max(1, args.limit))
        kept = await engine.undo_space()
        bounds = (await engine.settings()).undo
    if args.json:
        undo = {"bytes": kept.size_bytes, "runs": kept.runs}
        print_json({"version": 1, "runs": [_row(turn) for turn in turns], "undo": undo})
        return EXIT_DONE
    if not turns:
        say("There are no runs yet.")
    for turn in turns:
        print(turn_line(turn))
    if kept.runs:
        days = f"for {many(bounds.keep_days, 'day')}" if bounds.keep_days else "for ever"
        runs = many(kept.runs, "run")
        say(f"Undo is kept {days}; it takes {size_text(kept.size_bytes)} for {runs}.")
    return EXIT_DONE


def _row(turn: TurnRecord) -> dict[str, object]:
    return {
        "run_id": turn.turn_id,
        "status": turn.status,
        "started": turn.started.isoformat(),
        "task": turn.request,
        "model": turn.model_id,
        "committed": turn.committed,
    }


async def show_run(args: argparse.Namespace) -> int:
    """Everything about one run."""
    async with open_engine() as (engine, _):
        turn = await engine.run_record(args.run_id)
        patch = await engine.patch(args.run_id)
        if args.json:
            print_json(await turn_json(engine, turn) | {"patch": os.fsdecode(patch)})
            return EXIT_DONE
        if args.patch:
            _write(patch)
            return EXIT_DONE
        print(turn_line(turn))
        for program in turn.programs:
            print(f"\nProgram {program.index} ({program.status})\n{program.source.rstrip()}")
            for note in program.notes:
                print(f"  repaired: {note}")
            if program.fault is not None:
                print(f"  {program.fault.brief()}")
            elif program.calls:
                print(f"  {calls_text(program.calls)}")
        if turn.changes is not None:
            print(f"\n{review_sentence(turn.changes)}")
            print("\n".join(change_lines(turn.changes.changes, everything=True)))
            if patch:
                print()
                _write(patch)
        if turn.answer:
            print(f"\n{turn.answer}")
        tell_end(turn)
    return EXIT_DONE


def _write(patch: bytes) -> None:
    """A patch has the bytes of its files, whatever they stand for."""
    sys.stdout.flush()
    sys.stdout.buffer.write(patch)
    sys.stdout.buffer.flush()


async def resume_run(args: argparse.Namespace) -> int:
    """Decide on a waiting run, answer one that asks, or go on with an interrupted one."""
    grants = checked_grants(args.grant)
    async with open_engine() as (engine, _):
        turn = await engine.run_record(args.run_id)
        if turn.status not in {"interrupted", "asking", "waiting", "committing"}:
            raise AppError(
                f"There is nothing to resume: this run is {turn.status}.",
                hint="Only an interrupted or waiting run can be resumed.",
            )
        if turn.status == "interrupted" or (
            turn.status == "asking" and (grants or args.from_start)
        ):
            await engine.resume(turn.turn_id, grants=grants_of(grants), from_start=args.from_start)
            turn = await engine.wait(turn.turn_id)
        return await conclude(engine, turn, args, grants)


async def export_run(args: argparse.Namespace) -> int:
    """Write a run to a file."""
    path = _absolute(args.path or f"drydock-run-{args.run_id}.zip")
    async with open_engine() as (engine, _):
        await export_turn(engine, args.run_id, path)
    if args.json:
        print_json({"version": 1, "run_id": args.run_id, "path": str(path)})
    say(f"Written to {path}.")
    return EXIT_DONE


def _absolute(path: str) -> Path:
    return Path(path).expanduser().absolute()


async def replay_run(args: argparse.Namespace) -> int:
    """Run a finished run's programs again, and tell whether they do the same."""
    async with open_engine() as (engine, _):
        found = await engine.replays.run(args.run_id)
    if args.json:
        told = {"same": found.is_same, "programs": found.programs, "effects": found.effects}
        differences = list(found.differences)
        print_json({"version": 1, "run_id": args.run_id, **told, "differences": differences})
    programs = f"{found.programs} program" + "s" * (found.programs != 1)
    if found.is_same:
        say(f"The same again: {programs}, {found.effects} effects. Nothing was changed or sent.")
        return EXIT_DONE
    say(f"Not the same: {programs} were run again. Nothing was changed or sent.")
    for line in found.differences:
        say(f"  {line}")
    return EXIT_FAILED


async def reset_session(args: argparse.Namespace) -> int:
    """Forget what the programs of a run's chat defined."""
    async with open_engine() as (engine, _):
        turn = await engine.run_record(args.run_id)
        found = await engine.sessions.reset(turn.chat_id)
    names = [*found.variables, *(f"{name}()" for name in found.functions)]
    if args.json:
        print_json({"version": 1, "chat_id": turn.chat_id, "forgotten": names})
    elif names:
        say(f"Forgotten: {', '.join(names)}. The next program of this chat starts fresh.")
    else:
        say("Nothing was defined. The next program of this chat starts fresh.")
    return EXIT_DONE


async def undo_run(args: argparse.Namespace) -> int:
    """Take a run's changes back."""
    async with open_engine() as (engine, _):
        turn = await engine.undo(args.run_id)
        if args.json:
            print_json(await turn_json(engine, turn))
        if turn.status != "undone":
            tell_end(turn)
            return EXIT_FAILED
        for conflict in turn.conflicts:
            say(f"Left as it is: {conflict.path}: {conflict.reason}")
        if turn.conflicts:
            return EXIT_FAILED
        say("Undone. Everything is as it was before.")
        return exit_code(turn)


async def redo_run(args: argparse.Namespace) -> int:
    """Make the changes of an undone run again."""
    async with open_engine() as (engine, _):
        turn = await engine.redo(args.run_id)
        if args.json:
            print_json(await turn_json(engine, turn))
        tell_end(turn)
        return EXIT_DONE if turn.status == "done" and not turn.conflicts else EXIT_FAILED
