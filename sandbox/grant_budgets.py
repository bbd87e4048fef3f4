"""Grants for changes, with their budgets: how many, how large, where, until when.

Owns the forms `KIND:COUNT[,bytes=SIZE][,share=PERCENT][,folder=PATH][,runs=N][,until=DATE]` and
whether one covers a set of changes. It must not know which compositions a grant never covers:
`review.py` does. Pure; any thread.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from sandbox.changeset import Change

ChangeWord = Literal["create", "modify", "move", "delete"]
WORDS: tuple[ChangeWord, ...] = ("create", "modify", "move", "delete")
FORMS = (
    "commit:new-files",
    "create:COUNT",
    "modify:COUNT",
    "move:COUNT",
    "delete:COUNT",
    "host:NAME[:PORT]",
    "send:NAME[:PORT]",
    "tool:NAME",
    "command:PATTERN",
)
OPTIONS = "bytes=SIZE, share=PERCENT, folder=PATH, runs=TIMES_A_DAY, until=YYYY-MM-DD"
_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?B)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeGrant:
    """Changes of one kind that need no asking. None: no bound.

    `count`, `size_bytes`, `share` (of the files in the folder, 0 to 1) bound one turn; `folder`:
    only below it; `runs`: turns a day that may use it; `until`: its last day.
    """

    kind: ChangeWord
    count: int | None = None
    size_bytes: int | None = None
    share: float | None = None
    folder: str | None = None
    runs: int | None = None
    until: date | None = None

    def covers(self, changes: Sequence[Change], *, files_in: int | None, today: date) -> bool:
        """Whether all of these changes, all of its kind, are within it."""
        if self.until is not None and today > self.until:
            return False
        if self.folder is not None and not all(_below(self.folder, one) for one in changes):
            return False
        if self.count is not None and len(changes) > self.count:
            return False
        size_bytes = sum(one.size_after or one.size_before or 0 for one in changes)
        if self.size_bytes is not None and size_bytes > self.size_bytes:
            return False
        return self.share is None or (
            files_in is not None and len(changes) <= self.share * max(files_in, 1)
        )


def word_of(change: Change) -> ChangeWord:
    """The kind of grant that a change needs. What replaces another file needs more: see there."""
    match change.kind:
        case "create" | "mkdir":
            return "create"
        case "modify" | "mode":
            return "modify"
        case "move":
            return "move"
        case "delete" | "rmdir":
            return "delete"


def change_grant(text: str) -> ChangeGrant:
    """A grant out of its text. Raises: `ValueError` with the form that is right."""
    if text == "commit:new-files" or text.startswith("commit:new-files,"):
        return _with_options(text, "create", None, text.split(",")[1:])
    head, *options = text.split(",")
    kind, _, value = head.partition(":")
    if kind not in WORDS or not value.isascii() or not value.isdigit():
        raise ValueError(f"{text} is not of the form {kind}:COUNT, e.g. {kind}:20")
    return _with_options(text, kind, int(value), options)


def _with_options(
    text: str, kind: ChangeWord, count: int | None, options: Sequence[str]
) -> ChangeGrant:
    named: dict[str, str] = {}
    for option in options:
        name, _, value = option.partition("=")
        if name.strip() not in ("bytes", "share", "folder", "runs", "until") or not value.strip():
            raise ValueError(f"{option} in {text} is none of {OPTIONS}")
        named[name.strip()] = value.strip()
    return ChangeGrant(
        kind=kind,
        count=count,
        size_bytes=_size(text, named["bytes"]) if "bytes" in named else None,
        share=_share(text, named["share"]) if "share" in named else None,
        folder=_folder(text, named["folder"]) if "folder" in named else None,
        runs=_count(text, named["runs"]) if "runs" in named else None,
        until=_day(text, named["until"]) if "until" in named else None,
    )


def _size(text: str, value: str) -> int:
    found = _SIZE.fullmatch(value)
    if found is None:
        raise ValueError(f"bytes={value} in {text} is no size, e.g. bytes=50MB")
    return int(float(found.group(1)) * _UNITS[(found.group(2) or "").upper()])


def _share(text: str, value: str) -> float:
    number = value.removesuffix("%")
    if not number.isascii() or not number.isdigit() or not 0 < int(number) <= 100:
        raise ValueError(f"share={value} in {text} is no share, e.g. share=10%")
    return int(number) / 100


def _folder(text: str, value: str) -> str:
    if not posixpath.isabs(value) and value[1:2] != ":":
        raise ValueError(
            f"folder={value} in {text} is no full path, e.g. folder=/home/me/Downloads"
        )
    return posixpath.normpath(value)


def _count(text: str, value: str) -> int:
    if not value.isascii() or not value.isdigit() or int(value) == 0:
        raise ValueError(f"runs={value} in {text} is no number, e.g. runs=5")
    return int(value)


def _day(text: str, value: str) -> date:
    try:
        return date.fromisoformat(value)
    except ValueError as error:
        raise ValueError(f"until={value} in {text} is no date, e.g. until=2030-12-31") from error


def _below(folder: str, change: Change) -> bool:
    ends = (change.path, change.final_path)
    return all(end.startswith(f"{folder.rstrip('/')}/") for end in ends)


_MEANS = {
    "host": "Programs may read from {0}. What is private, or decided by it, is still asked.",
    "send": "Programs may send to {0} what holds nothing private and nobody from outside decides.",
    "tool": "Programs may use the tool {0} with what holds nothing private.",
    "command": "Commands like {0} may run, unless they run what the turn has just written.",
    "create": "Up to {0} new files and folders are made without asking.",
    "modify": "Up to {0} files are changed without asking.",
    "move": "Up to {0} files are moved without asking, where they replace nothing.",
    "delete": "Up to {0} files are deleted without asking, and at most five folders.",
    "commit": "New files and folders are made without asking.",
}


def explained(text: str) -> str:
    """What a grant means, in a sentence with its own bounds."""
    head, *options = text.split(",")
    kind, _, value = head.partition(":")
    sentence = _MEANS[kind].format(value)
    return f"{sentence} Only with {', '.join(options)}." if options else sentence
