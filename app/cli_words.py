"""The command line's words: the review's sentence, change lines, sizes.

Made from data, never by a model. Thread: any.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from app.engine.listing import size_text
from app.engine.reason_words import reason_sentence
from app.store.records import CallGroup, Offer, TurnRecord
from sandbox.asked_table import table_from
from sandbox.changeset import Change, ChangeSet, sentence_parts, summary
from sandbox.marks import Mark, marks
from sandbox.question import Question

_PARTS = {
    "moved": "moves {n} file{s}",
    "moved_folders": "moves {n} folder{s}",
    "new_folders": "makes {n} new folder{s}",
    "created": "creates {n} file{s}",
    "modified": "changes {n} file{s}",
    "deleted": "deletes {n} file{s}",
    "removed_folders": "removes {n} folder{s}",
    "metadata": "changes modes or times of {n} item{s}",
}
_VERBS = {
    "read": "read",
    "create": "created",
    "modify": "changed",
    "delete": "deleted",
    "move": "moved",
    "secret": "used",
}
_EXAMPLES = 12
_QUESTIONS = {
    "effects": "The program waits at {call}(){where}. May it do this?",
    "unknown": "It is not known whether {call}(){where} was done when Drydock ended. Do it again?",
    "person": "The program asks you:",
}


def question_lines(question: Question) -> list[str]:
    """What a program asks, with what it would do and what it did so far."""
    where = "" if question.line is None else f" in line {question.line}"
    lines = [_QUESTIONS[question.kind].format(call=question.call, where=where)]
    if question.kind == "person":
        lines += _asked(question)
        lines += [f"  {number}: {text}" for number, text in enumerate(question.choices, 1)]
        return lines
    for effect in question.effects:
        size = "" if effect.size_bytes is None else f", {size_text(effect.size_bytes)}"
        lines.append(f"  {effect.kind} {effect.path}{size}")
    lines += [f"  {reason_sentence(reason)}" for reason in question.reasons]
    lines += [f"  | {line}" for line in question.exact.splitlines()]
    so_far = question.composition
    done = ", ".join(f"{count} {kind}" for kind, count in so_far.counts.items()) or "nothing"
    lines.append(f"So far in this run: {done}; {size_text(so_far.read_bytes)} read.")
    if so_far.hosts:
        lines.append(f"Hosts so far: {', '.join(so_far.hosts)}")
    return lines


def _asked(question: Question) -> list[str]:
    """What the program asks for, in full; a table line by line."""
    if question.call != "ui_table":
        return [question.exact]
    table = table_from(question.exact)
    title = table.title or "Edit this table."
    lines = [json.dumps(line, ensure_ascii=False) for line in table.rows]
    return [title, f"  {json.dumps(table.columns, ensure_ascii=False)}", *(f"  {r}" for r in lines)]


def review_sentence(changes: ChangeSet) -> str:
    """``Moves 41 files, makes 6 new folders. Deletes nothing. Sends nothing.``"""
    counts = summary(changes)
    parts = [
        _PARTS[part.kind].format(n=part.count, s="" if part.count == 1 else "s")
        for part in sentence_parts(changes)
    ]
    if not parts:
        return "Changes nothing."
    text = ", ".join(parts)
    text = text[0].upper() + text[1:] + "."
    if counts.overwritten:
        text += f" Overwrites {_files(counts.overwritten)}."
    if not counts.deleted and not counts.removed_folders:
        text += " Deletes nothing."
    return text + " Sends nothing."


def change_line(change: Change) -> str:
    """One change on one line."""
    match change.kind:
        case "move":
            edited = ", edited" if change.modified else ""
            return f"move    {shown(change.path)} -> {shown(change.target or '')}{edited}"
        case "mkdir":
            return f"folder  {shown(change.path)}"
        case "rmdir":
            return f"remove  {shown(change.path)}"
        case "create":
            return f"create  {shown(change.path)}  {_size(change.size_after)}"
        case "modify":
            before, after = _size(change.size_before), _size(change.size_after)
            return f"change  {shown(change.path)}  {before} -> {after}"
        case "delete":
            return f"delete  {shown(change.path)}  {_size(change.size_before)}"
        case "mode":
            return f"mode    {shown(change.path)}"


_MARKS: dict[Mark, str] = {
    "overwrites": "replaces a file",
    "leaves-folder": "leaves its folder",
    "in-cloud": "only in the cloud",
    "program": "program file",
    "hidden": "hidden",
    "hard-link": "has other names, which keep the old content",
}


def _marked_line(change: Change) -> str:
    """One change with what deserves a second look."""
    found = ", ".join(_MARKS[mark] for mark in marks(change, ()) if mark != "leaves-folder")
    return f"{change_line(change)}  ({found})" if found else change_line(change)


def change_lines(changes: Sequence[Change], *, everything: bool = False) -> list[str]:
    """All changes, or the first dozen with a count of the rest; ids are the line numbers."""
    many = len(changes) if everything else _EXAMPLES
    lines = [f"{number:4}  {_marked_line(item)}" for number, item in enumerate(changes[:many], 1)]
    if len(changes) > many:
        lines.append(f"      and {len(changes) - many} more")
    return lines


def calls_text(groups: Iterable[CallGroup]) -> str:
    """``read 41 files, moved 41 files``."""
    parts: list[str] = []
    for group in groups:
        if group.kind == "read" and group.folder:
            parts.append(f"listed {many(group.count, 'folder')}")
        else:
            noun = "secret" if group.kind == "secret" else "folder" if group.folder else "file"
            parts.append(f"{_VERBS.get(group.kind, group.kind)} {many(group.count, noun)}")
    return ", ".join(parts)


def offer_line(offer: Offer) -> str:
    """A bigger model, why, about what it would cost, and what would leave."""
    price = (
        "at unknown cost" if offer.price is None else f"for about {offer.price} {offer.currency}"
    )
    if not offer.leaves:
        price = "on this machine"
    leaves = " The request and the folder's listing would leave this machine." * offer.leaves
    return f"{offer.line}. Try it {price}: --model {offer.model_id}.{leaves}"


def turn_line(turn: TurnRecord) -> str:
    """A run on one line of a list."""
    request = " ".join(turn.request.split())
    request = request if len(request) <= 60 else request[:59] + "…"
    return (
        f"{turn.turn_id}  {turn.started.astimezone():%Y-%m-%d %H:%M}  {turn.status:<11}  {request}"
    )


def shown(path: str) -> str:
    """A path on one line, with nothing hidden in it."""
    return path if path.isprintable() else ascii(path)[1:-1]


def _size(size_bytes: int | None) -> str:
    return "unknown" if size_bytes is None else size_text(size_bytes)


def _files(number: int) -> str:
    return many(number, "file")


def many(number: int, noun: str) -> str:
    """``1 file``, ``41 files``."""
    return f"{number} {noun}" + ("" if number == 1 else "s")
