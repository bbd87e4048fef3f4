"""The words of the review: what is unusual, the marks of a change, and the choices of a conflict.

Owns no decision: what deserves a second look is told from the marks and kinds of the changes.
Texts go through Qt's translation with this file's name as their context. Thread: UI.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import assert_never

from PySide6.QtCore import QCoreApplication

from app.engine.reason_words import place_of, reason_sentence
from app.store.records import Folder
from app.ui import words
from sandbox.changeset import Change
from sandbox.marks import Mark, marks
from sandbox.ports import Reason
from sandbox.stage_paths import parent_of
from sandbox.verify import Choice

_ORIGINS = 3


def _tr(text: str) -> str:
    return QCoreApplication.translate("review_words", text)


def reason_lines(reasons: Sequence[Reason], tr: Callable[[str], str]) -> list[str]:
    """What the gate named, one sentence each, with the lines of the program that do it."""
    found: list[str] = []
    for reason in reasons:
        place = place_of(reason, tr)
        found.append(reason_sentence(reason, tr) + (f" ({place})" if place else ""))
    return found


def unusual(changes: Sequence[Change], folders: Sequence[Folder]) -> list[str]:
    """What a person should look at first, one sentence each; empty when there is nothing."""
    found: list[str] = []
    if deleted := sum(change.kind == "delete" for change in changes):
        found.append(
            _tr("Deletes {0}. Undo brings them back until the undo data is removed.").format(
                words.count(deleted, "file", "files")
            )
        )
    if replaced := sum(change.overwrites for change in changes):
        found.append(
            _tr("Replaces {0} that existed before at the same place.").format(
                words.count(replaced, "file", "files")
            )
        )
    if emptied := sum(
        change.kind == "modify" and change.size_after == 0 and bool(change.size_before)
        for change in changes
    ):
        found.append(_tr("Leaves {0} empty.").format(words.count(emptied, "file", "files")))
    return found + _marked(changes, [folder.path for folder in folders])


def _marked(changes: Sequence[Change], roots: Sequence[str]) -> list[str]:
    """What the marks of the changes say that their kinds do not."""
    seen: Counter[Mark] = Counter()
    leaves: dict[tuple[str, str], bool] = {}  # one answer for all moves between two folders
    for change in changes:
        if change.kind == "move":
            pair = (parent_of(change.path), parent_of(change.final_path))
            if pair not in leaves:
                leaves[pair] = "leaves-folder" in marks(change, roots)
            seen["leaves-folder"] += leaves[pair]
        for mark in marks(change, ()):
            seen[mark] += _matters(mark, change)
    found: list[str] = []
    if number := seen["leaves-folder"]:
        found.append(
            _tr("Moves {0} from one folder of this chat to another.").format(
                words.count(number, "item", "items")
            )
        )
    if number := seen["in-cloud"]:
        found.append(
            _tr("Touches {0} whose content is in the cloud only; undo cannot keep that.").format(
                words.count(number, "file", "files")
            )
        )
    if number := seen["program"]:
        found.append(
            _tr("Writes {0} that can be started as a program.").format(
                words.count(number, "file", "files")
            )
        )
    if number := seen["hard-link"]:
        found.append(
            _tr("Changes {0} that other names lead to; those keep the old content.").format(
                words.count(number, "file", "files")
            )
        )
    if number := seen["hidden"]:
        found.append(
            _tr("Gives {0} a hidden name, which most file managers do not show.").format(
                words.count(number, "item", "items")
            )
        )
    return found


def _matters(mark: Mark, change: Change) -> bool:
    """Whether a mark is worth a second look before deciding, and not only a word in its row."""
    match mark:
        case "leaves-folder" | "in-cloud" | "hard-link":
            return True
        case "program":
            return change.has_new_content or change.kind == "mode"
        case "hidden":
            was_hidden = PurePath(change.path).name.startswith(".")
            return change.kind in ("create", "mkdir") or (change.kind == "move" and not was_hidden)
        case "overwrites":  # the sentence about what is replaced counts it
            return False
        case _:
            assert_never(mark)


def origin(change: Change, programs: Sequence[str]) -> str:
    """What made a change: ``Line 3 of the program: shutil.move``; empty when nobody knows.

    `programs`: the ids of the turn's programs, in order.
    """
    parts: list[str] = []
    for one in change.evidence[:_ORIGINS]:
        which = _tr("the program")
        if len(programs) > 1 and one.program_id in programs:
            which = _tr("program {0}").format(programs.index(one.program_id) + 1)
        where = _tr("Line {0} of {1}").format(one.line, which) if one.line else which.capitalize()
        parts.append(f"{where}: {one.call}")
    if len(change.evidence) > _ORIGINS:
        parts.append(_tr("and {0} more").format(len(change.evidence) - _ORIGINS))
    return "; ".join(parts)


def mark_word(mark: Mark) -> str:
    """A mark as a small word behind what happens to an item."""
    match mark:
        case "overwrites":
            return _tr("replaces a file")
        case "leaves-folder":
            return _tr("leaves its folder")
        case "in-cloud":
            return _tr("only in the cloud")
        case "program":
            return _tr("program file")
        case "hidden":
            return _tr("hidden")
        case "hard-link":
            return _tr("has other names")
        case _:
            assert_never(mark)


def choice_word(choice: Choice) -> str:
    """What a person can choose where the disk has changed."""
    match choice:
        case "theirs":
            return _tr("Keep theirs")
        case "ours":
            return _tr("Take ours")
        case "both":
            return _tr("Keep both names")
        case _:
            assert_never(choice)


def choice_meaning(choice: Choice) -> str:
    """What a choice does, in a sentence."""
    match choice:
        case "theirs":
            return _tr("What is on disk stays as it is; this change is left out.")
        case "ours":
            return _tr("The change is made on what is there now. Undo brings that back.")
        case "both":
            return _tr("What is on disk stays, and ours goes beside it under a free name.")
        case _:
            assert_never(choice)
