"""What a run's program asks, at the terminal: shown in full, answered, or left for later.

Thread: the command line's only thread, in asyncio.
"""

from __future__ import annotations

import argparse
import sys

from app.cli import say
from app.cli_words import question_lines
from app.engine.engine import Engine
from app.errors import UsageError
from app.store.records import TurnRecord
from sandbox.grants import grants_of
from sandbox.question import DONE, PersonsAnswer, Question

_MOST_QUESTIONS = 1_000
AGAIN = "again"


async def see_questions(
    engine: Engine, turn: TurnRecord, args: argparse.Namespace, grants: frozenset[str]
) -> TurnRecord:
    """Answer what the run asks, as far as the arguments or the person at the terminal do."""
    given: str | None = getattr(args, "answer", None)
    refused: str | None = getattr(args, "refuse", None)
    for _ in range(_MOST_QUESTIONS):
        question = turn.question
        if turn.status != "asking" or question is None:
            break
        answer = _given(question, given, refused) or _decided(question, args.approve)
        if answer is None:
            break
        given = refused = None  # for the first question alone
        await engine.answer(turn.turn_id, answer, grants=grants_of(grants))
        turn = await engine.wait(turn.turn_id)
    return turn


def _given(question: Question, answer: str | None, refused: str | None) -> PersonsAnswer | None:
    if refused is not None:
        return PersonsAnswer(approved=False, text=refused)
    if answer is None:
        return None
    if question.kind == "person":
        return PersonsAnswer(approved=True, text=_chosen(question, answer))
    if question.kind == "unknown" and answer in (AGAIN, DONE):
        return PersonsAnswer(approved=True, text=DONE if answer == DONE else "")
    raise UsageError("The program does not ask for a text here.", hint=how_to_answer(question))


def how_to_answer(question: Question) -> str:
    """What to say on the command line, after the run's id."""
    match question.kind:
        case "person" if question.call == "ui_table":
            return "Answer with: --answer ok for the rows as they are, or --answer JSON of all rows"
        case "person" if question.call == "ui_selection":
            return "Answer with: --answer PATH (several: one a line), or say no with --refuse"
        case "person":
            return "Answer with: --answer TEXT, or say no with --refuse"
        case "unknown":
            return (
                f"Answer with: --answer {DONE} when you know that it was done, --answer {AGAIN} "
                "to do it once more, or --refuse"
            )
        case "effects":
            return "Answer with: --approve all, or --refuse [REASON], or at a terminal"


def _chosen(question: Question, text: str) -> str:
    """A choice's number stands for the choice."""
    if text.isdecimal() and 0 < int(text) <= len(question.choices):
        return question.choices[int(text) - 1]
    return text


def _decided(question: Question, approve: str) -> PersonsAnswer | None:
    """What the arguments say; nobody but the person answers a question or repeats a request."""
    if approve == "all" and question.kind == "effects":
        for line in question_lines(question):
            say(line)
        say("Approved by --approve all.")
        return PersonsAnswer(approved=True)
    if approve != "ask" or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    for line in question_lines(question):
        say(line)
    return _asked(question)


def _asked(question: Question) -> PersonsAnswer | None:
    """Ask at the terminal. An empty answer is no answer: the run stays asking."""
    if question.kind == "person":
        text = _chosen(question, _read("Answer (empty: later): "))
        return PersonsAnswer(approved=True, text=text) if text else None
    unknown = question.kind == "unknown"
    yes = "y: do it again, d: it was done" if unknown else "y: yes"
    text = _read(f"{yes}, n: no, n REASON: no and tell the model why, empty: later: ")
    word, _, reason = text.partition(" ")
    match word.lower():
        case "y" | "yes":
            return PersonsAnswer(approved=True)
        case "d" | "done" if unknown:
            return PersonsAnswer(approved=True, text=DONE)
        case "n" | "no":
            return PersonsAnswer(approved=False, text=reason.strip())
        case _:
            return None


def _read(prompt: str) -> str:
    print(prompt, end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip()
