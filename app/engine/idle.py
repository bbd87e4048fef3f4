"""Whether a program has done what was asked at all, as far as one can tell from outside.

Owns the few certain cases: a request for a change after which nothing has changed, or only empty
folders and files were made; a question that nothing answers, or for which files are written;
misread tables; and the other way round, a program that failed only in its report.
It must not judge more than that: a false alarm costs a try. Pure; any thread.
"""

from __future__ import annotations

import ast
import re

from sandbox.changeset import Change, ChangeSet
from sandbox.errors import Fault

_CHANGE = re.compile(
    r"\b(add|append|archive|change|clean|collect|combine|convert|copy|create|cut|delete|erase"
    r"|export|extract|fill|fix|generate|group|insert|join|make|merge|move|number|organi[sz]e"
    r"|prefix|put|remove|rename|replace|save|separate|sort|split|store|swap|tidy|turn|update"
    r"|write)\b",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"^\W*(how|what|which|who|whose|when|where|why|is|are|does|do|did|has|have)\b",
    re.IGNORECASE,
)
_LOOK = "Look at the real names, endings and columns in the listing, and at the conditions."

_OFTEN = (
    ("re.match(", "re.match only matches at the beginning of a text: use re.search."),
    ("iterdir()", 'Path(".").iterdir() does not see what is in subfolders: rglob("*") does.'),
)
"""What is often the reason, by what the program contains."""


def idle_fault(
    request: str,
    source: str,
    answer: str,
    changes: ChangeSet,
    *,
    notes: tuple[str, ...] = (),
    doubts: tuple[str, ...] = (),
) -> Fault | None:
    """Why the program cannot have been the right one, or None.

    `source`: the program; `answer`: what it printed; `changes`: all that differs now; `notes`,
    `doubts`: remarks of its run, and reasons to think that it misread a file.
    """
    if doubts:
        message = "the program ran, but it misread a file"
        return Fault(type="Misread", message=message, hint=" ".join(doubts[:3]))
    question = _QUESTION.search(request) is not None
    hint = " ".join((*notes, *(text for word, text in _OFTEN if word in source), _LOOK))
    if _CHANGE.search(request) and not question:
        if not changes.changes:
            return Fault(type="NothingDone", message="the program changed no file", hint=hint)
        if all(_is_empty(change) for change in changes.changes) and "empty" not in request.lower():
            message = "the program made only empty folders or files and changed nothing else"
            return Fault(type="NothingDone", message=message, hint=hint)
    elif not changes.changes:
        if not answer:
            message, hint = "the program printed no answer", "Print the answer with print()."
            return Fault(type="NothingDone", message=message, hint=hint)
        if notes:
            return Fault(type="NothingDone", message="the program found nothing", hint=hint)
    elif question and not _CHANGE.search(request):
        message = "the program changed or wrote files, but the task only asks a question"
        return Fault(type="NotAsked", message=message, hint="Print the answer and write no file.")
    return None


def only_report_failed(request: str, source: str, fault: Fault, changes: ChangeSet) -> bool:
    """Whether all work was done and only the last line failed, which prints what was done.

    Not so for a question, whose answer is what is printed.
    """
    asks_for_change = _CHANGE.search(request) and not _QUESTION.search(request)
    if not asks_for_change or fault.line is None:
        return False
    if not changes.changes or all(_is_empty(change) for change in changes.changes):
        return False
    try:
        *before, last = ast.parse(source).body
    except (SyntaxError, ValueError):
        return False
    match last:
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"))):
            return bool(before) and last.lineno <= fault.line <= (last.end_lineno or last.lineno)
        case _:
            return False


def _is_empty(change: Change) -> bool:
    return change.kind == "mkdir" or (change.kind == "create" and not change.size_after)
