"""`drydock run` and `drydock exec`: one turn from the command line, with its review.

Thread: the command line's only thread, in asyncio.
"""

from __future__ import annotations

import argparse
import asyncio
import getpass
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from app.cli import (
    EXIT_DONE,
    EXIT_FAILED,
    EXIT_MODEL,
    EXIT_SANDBOX,
    EXIT_WAITS,
    print_json,
    say,
)
from app.cli_ask import how_to_answer, see_questions
from app.cli_words import (
    calls_text,
    change_lines,
    many,
    offer_line,
    question_lines,
    review_sentence,
)
from app.engine.demo import make_demo
from app.engine.engine import Engine
from app.engine.events import FetchEnded, FetchProgressed, ModelActivity, Notice, TurnChanged
from app.engine.listing import size_text
from app.engine.mailbox import Mailbox
from app.engine.reason_words import place_of, reason_sentence
from app.engine.turn_json import turn_json
from app.errors import ModelUnavailableError, UsageError
from app.log import start_log
from app.paths import Paths, open_home
from app.store.records import ChatRecord, Folder, TurnRecord
from models.providers import AUTO, is_remote
from sandbox.changeset import ChangeSet
from sandbox.grant_budgets import FORMS, OPTIONS
from sandbox.grants import grants_of
from sandbox.verify import Choice

_GRANT_FORMS = f"{', '.join(FORMS)}; with {OPTIONS}"


@asynccontextmanager
async def open_engine() -> AsyncGenerator[tuple[Engine, Paths]]:
    """An engine for one command, closed in order at the end; its progress goes to stderr."""
    paths = open_home()
    start_log(paths.logs)
    mailbox = Mailbox()
    engine = Engine(paths, mailbox)
    narrator = _Narrator(mailbox)
    mailbox.bind(asyncio.get_running_loop(), narrator.tell)
    await engine.start(in_background=False)
    try:
        yield engine, paths
    finally:
        narrator.tell()
        await engine.close()


async def run_task(args: argparse.Namespace) -> int:
    """`drydock run`: the model writes the program."""
    grants = checked_grants(args.grant)
    if args.demo and (args.task or args.folder or args.read_folder):
        raise UsageError("--demo brings its own task and folder.")
    if not args.demo and not args.task.strip():
        raise UsageError("Say what to do.", hint='drydock run "Sort by type" --folder ~/Downloads')
    async with open_engine() as (engine, paths):
        await _open_vault(engine, args)
        task, folders = await _demo(paths) if args.demo else (args.task, _folders(args))
        if args.key_stdin:
            await take_key(engine, args.model or (await engine.settings()).default_model)
        earlier = await _earlier_chat(engine, args)
        wanted = args.model or ("" if earlier is None else earlier.model_id)
        model_id = await _model_ready(engine, wanted)
        chat = earlier or await engine.new_chat(folders, model_id)
        if args.local_only:
            await engine.places.mark_chat(chat.chat_id, True)
        turn = await engine.send(
            chat.chat_id, task, seed=args.seed, grants=grants_of(grants), model_id=args.model
        )
        return await _see_through(engine, turn, args, grants)


async def run_program(args: argparse.Namespace) -> int:
    """`drydock exec`: a given program through the same stage, gate and journal."""
    grants = checked_grants(args.grant)
    source = await asyncio.to_thread(_read_program, args.program)
    async with open_engine() as (engine, _):
        await _open_vault(engine, args)
        folders = _folders(args)
        chat = await _earlier_chat(engine, args) or await engine.new_chat(folders)
        title = "program" if args.program == "-" else Path(args.program).name
        turn = await engine.run_program(chat.chat_id, source, title, grants=grants_of(grants))
        return await _see_through(engine, turn, args, grants)


async def _earlier_chat(engine: Engine, args: argparse.Namespace) -> ChatRecord | None:
    """The chat of the run that is gone on after, if one is named."""
    if not args.after:
        return None
    turn = await engine.run_record(args.after)
    return (await engine.open_chat(turn.chat_id)).chat


async def _see_through(
    engine: Engine, turn: TurnRecord, args: argparse.Namespace, grants: frozenset[str]
) -> int:
    turn = await _finished(engine, turn.turn_id)
    return await conclude(engine, turn, args, grants)


async def conclude(
    engine: Engine, turn: TurnRecord, args: argparse.Namespace, grants: frozenset[str]
) -> int:
    """Answer and decide on a turn as the arguments say, report it, and give the exit code."""
    turn = await see_questions(engine, turn, args, grants)
    if turn.status == "waiting" and grants:
        turn = await engine.answer_by_grants(turn.turn_id, grants_of(grants))
    if turn.status == "waiting" and turn.changes is not None:
        if not args.json or args.approve == "ask":
            show_review(turn)
        approved = _decision(turn.changes, args.approve)
        if approved is not None:
            wanted = approved or None
            choices = await _choices(engine, turn, approved, args.conflicts)
            keep = args.on_fault == "keep"
            turn = await engine.decide(turn.turn_id, approved=wanted, choices=choices, keep=keep)
    await report(engine, turn, as_json=args.json)
    return exit_code(turn)


async def _choices(
    engine: Engine, turn: TurnRecord, approved: list[str], wish: Choice | None
) -> dict[str, Choice]:
    """What to do where the folder changed meanwhile, told, by change id.

    Without a wish such a change is left out. A wish that a conflict does not allow is not forced.
    """
    choices: dict[str, Choice] = {}
    for conflict in await engine.conflicts(turn.turn_id, approved) if wish and approved else ():
        if wish in conflict.choices:
            choices[conflict.change_id] = wish
            say(f"{conflict.path}: {conflict.reason} Chosen: {wish}.")
    return choices


async def report(engine: Engine, turn: TurnRecord, *, as_json: bool) -> None:
    """Print a turn's end: words for people on stderr, the answer or the JSON on stdout."""
    if as_json:
        print_json(await turn_json(engine, turn))
    elif turn.answer and turn.status in {"done", "waiting"}:
        print(turn.answer, flush=True)
    tell_end(turn)


def tell_end(turn: TurnRecord) -> None:
    """How a turn ended and what can be done now, on stderr."""
    for conflict in turn.conflicts:
        say(f"Not applied: {conflict.path}: {conflict.reason}")
    if turn.problem is not None:
        say(turn.problem.message)
        if turn.problem.details:
            say(turn.problem.details)
        if turn.problem.hint:
            say(turn.problem.hint)
        if turn.problem.can_keep:
            say("Or apply what can be applied, and list the rest: --on-fault keep")
    if turn.offer is not None:
        say(offer_line(turn.offer))
    _tell_next(turn)


def _tell_next(turn: TurnRecord) -> None:
    if turn.status == "asking" and turn.question is not None:
        for line in question_lines(turn.question):
            say(line)
        say(f"It waits for you: drydock runs resume {turn.turn_id}")
        say(how_to_answer(turn.question))
    elif turn.status == "waiting":
        say(f"Nothing is on the disk yet. Decide with: drydock runs resume {turn.turn_id}")
    elif turn.committed:
        applied = many(len(turn.approved), "change")
        say(f"Applied {applied}. Take them back with: drydock runs undo {turn.turn_id}")
    elif turn.status == "rejected":
        say("Rejected. Nothing was changed.")


def exit_code(turn: TurnRecord) -> int:
    """The exit code of a turn."""
    match turn.status:
        case "done" | "undone":
            return EXIT_FAILED if turn.conflicts else EXIT_DONE
        case "waiting" | "asking":
            return EXIT_WAITS
        case _ if turn.problem is not None and turn.problem.kind == "model":
            return EXIT_MODEL
        case _ if turn.problem is not None and turn.problem.kind == "sandbox":
            return EXIT_SANDBOX
        case _:
            return EXIT_FAILED


def show_review(turn: TurnRecord) -> None:
    """What the turn would do, on stderr."""
    assert turn.changes is not None
    say(review_sentence(turn.changes))
    for reason in turn.reasons:
        place = place_of(reason)
        say(f"Unusual: {reason_sentence(reason)}{f' ({place})' if place else ''}")
    for line in change_lines(turn.changes.changes):
        say(line)


def _decision(changes: ChangeSet, approve: str) -> list[str] | None:
    """Ids to approve, an empty list to reject, None to leave the turn waiting."""
    everything = [change.id for change in changes.changes]
    if approve == "all":
        return everything
    if approve == "never" or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    return _ask(changes, everything)


def _ask(changes: ChangeSet, everything: list[str]) -> list[str] | None:
    """Ask at the terminal. An empty answer is no answer: the run stays waiting."""
    help_text = "y: approve all, n: reject, numbers: approve all but these, l: list all, q: later"
    while True:
        say(help_text)
        try:
            answer = _read_answer().strip().lower()
        except EOFError:
            return None
        if answer in {"y", "yes"}:
            return everything
        if answer in {"n", "no"}:
            return []
        if answer in {"", "q"}:
            return None
        if answer == "l":
            for line in change_lines(changes.changes, everything=True):
                say(line)
            continue
        try:
            left_out = {everything[int(word) - 1] for word in answer.replace(",", " ").split()}
        except (ValueError, IndexError):
            say("That is not one of the choices.")
            continue
        return [change_id for change_id in everything if change_id not in left_out]


def _read_answer() -> str:
    print("Approve? ", end="", file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line


async def _finished(engine: Engine, turn_id: str) -> TurnRecord:
    """Wait for a turn; Ctrl+C stops it and everything that it started."""
    try:
        return await engine.wait(turn_id)
    except asyncio.CancelledError:
        await engine.stop(turn_id)
        raise


async def _model_ready(engine: Engine, model_id: str) -> str:
    """The id of the model to use, fetched first when it is not here."""
    wanted = model_id or (await engine.settings()).default_model
    statuses = {status.model_id: status for status in await engine.shelf.models()}
    if wanted == AUTO:
        return wanted
    if is_remote(wanted):
        await _remote_ready(engine, wanted)
        return wanted
    if not wanted.startswith("local:"):
        raise UsageError(
            f"There is no provider named {wanted.partition(':')[0]}.",
            hint="Models are written local:NAME, anthropic:NAME, openai:NAME, google:NAME, "
            "mistral:NAME, groq:NAME, openrouter:NAME or compatible:SERVER/NAME.",
        )
    status = statuses.get(wanted)
    if status is None:
        raise UsageError(
            f"There is no model named {wanted}.", hint="Choose one of: " + ", ".join(statuses)
        )
    if not status.present:
        say(f"{status.name} is not here yet; downloading {size_text(status.size_bytes)}.")
        await fetch_model(engine, wanted)
    return wanted


async def _remote_ready(engine: Engine, model_id: str) -> None:
    """Check a remote model's id, and ask for its key at the terminal if there is none.

    Raises: `ModelError`.
    """
    place = await engine.places.place_of(model_id)
    say(f"Requests go to {place.label} ({place.host}).")
    if not place.has_key and not place.optional and sys.stdin.isatty() and sys.stderr.isatty():
        key = await asyncio.to_thread(getpass.getpass, f"Key for {place.label}, for this run: ")
        await engine.places.set_key(place.key_name, key)


async def take_key(engine: Engine, model_id: str) -> None:
    """Read a model's key from the first line of standard input, for this run alone."""
    place = await engine.places.place_of(model_id)
    key = (await asyncio.to_thread(sys.stdin.readline)).strip()
    if not key:
        raise UsageError("There is no key on standard input.", hint="Write it on the first line.")
    await engine.places.set_key(place.key_name, key)


async def fetch_model(engine: Engine, model_id: str) -> None:
    """Fetch a model and wait. Raises: `ModelUnavailableError` with each source's reason."""
    ended = await engine.shelf.fetches.run(model_id)
    if ended.cancelled:
        raise ModelUnavailableError("The download was stopped.", hint="Run it again to go on.")
    if ended.problem:
        raise ModelUnavailableError(ended.problem, hint=ended.hint)


def _folders(args: argparse.Namespace) -> list[Folder]:
    folders = [Folder(path=str(Path(item).expanduser().absolute())) for item in args.folder]
    folders += [
        Folder(path=str(Path(item).expanduser().absolute()), rights="read")
        for item in args.read_folder
    ]
    if args.after and folders:
        raise UsageError("--after goes on with the folders of that run's chat.")
    if not folders and not args.after:
        raise UsageError("Say which folder to work on.", hint="--folder PATH, as often as needed")
    for folder in folders:
        if not Path(folder.path).is_dir():
            raise UsageError(f"There is no folder {folder.path}.", hint="Check the path.")
    return folders


async def _open_vault(engine: Engine, args: argparse.Namespace) -> None:
    """Ask for the passphrase of the encrypted file, where secrets are in it and somebody is there.

    Without it the run has no secrets from there; pressing Enter goes on so.
    """
    desk = engine.secrets
    await desk.ready()
    if args.approve != "ask" or not sys.stdin.isatty() or not desk.wants_passphrase():
        return
    say("Your secrets are in an encrypted file. Press Enter to go on without them.")
    passphrase = await asyncio.to_thread(getpass.getpass, "Passphrase: ")
    if passphrase:
        await desk.unlock_file(passphrase)


async def _demo(paths: Paths) -> tuple[str, list[Folder]]:
    """A fresh copy of the demo folder, and its task."""
    demo = await asyncio.to_thread(make_demo, paths)
    say(f"The demo folder is {demo.folder}")
    say(f"Task: {demo.task}")
    return demo.task, [Folder(path=str(demo.folder))]


def _read_program(name: str) -> str:
    try:
        source = sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"The program cannot be read: {name} ({error}).", hint="Give a Python file in UTF-8."
        ) from error
    if not source.strip():
        raise UsageError("The program is empty.", hint="Give a Python file with a program.")
    return source


def checked_grants(grants: list[str]) -> frozenset[str]:
    """The standing grants of a run. Raises: `UsageError` for one that is not known or malformed."""
    found = frozenset(grants)
    try:
        grants_of(found)
    except ValueError as error:
        raise UsageError(f"{error}.", hint=f"Known: {_GRANT_FORMS}") from error
    return found


class _Narrator:
    """Tells the engine's events to people on stderr, briefly."""

    def __init__(self, mailbox: Mailbox) -> None:
        self._mailbox = mailbox
        self._told: set[tuple[str, str]] = set()
        self._bar = False

    def tell(self) -> None:
        """Take what waits and print it."""
        for event in self._mailbox.drain():
            match event:
                case FetchProgressed():
                    self._progress(event)
                case FetchEnded():
                    self._end_bar()
                case ModelActivity(state="loading"):
                    self._once(f"Loading {event.model_id}", event.model_id)
                case ModelActivity(state="waiting"):
                    say(event.detail)
                case Notice():
                    say(f"{event.message} {event.hint}".strip())
                case TurnChanged():
                    self._turn(event.turn)
                case _:
                    pass

    def _turn(self, turn: TurnRecord) -> None:
        if turn.routed:
            self._once(f"Chosen: {turn.model_id}, {turn.routed}.", turn.turn_id)
        for program in turn.programs:
            if program.status == "running":
                self._once(f"Program {program.index} runs", program.program_id)
            elif program.fault is not None:
                self._once(
                    f"Program {program.index} failed: {program.fault.brief()}", program.program_id
                )
            elif program.status == "ok":
                did = calls_text(program.calls) or "no file was touched"
                self._once(f"Program {program.index} done: {did}", program.program_id)

    def _once(self, text: str, key: str) -> None:
        if (key, text) not in self._told:
            self._told.add((key, text))
            self._end_bar()
            say(text)

    def _progress(self, event: FetchProgressed) -> None:
        if not sys.stderr.isatty():
            return
        self._bar = True
        total = size_text(event.total_bytes) if event.total_bytes else "unknown size"
        speed = f", {size_text(int(event.bytes_per_s))}/s" if event.bytes_per_s else ""
        left = f", {event.seconds_left:.0f} s left" if event.seconds_left else ""
        share = f"{100 * event.done_bytes / event.total_bytes:3.0f} % " if event.total_bytes else ""
        line = f"\r{share}{size_text(event.done_bytes)} of {total}{speed}{left}, {event.source}"
        print(f"{line:<78}", end="", file=sys.stderr, flush=True)

    def _end_bar(self) -> None:
        if self._bar:
            self._bar = False
            say()
