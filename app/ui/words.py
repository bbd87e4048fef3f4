"""The window's words: sizes, times, states and the sentences about changes.

Owns every phrase that is made from data. It must not make widgets and must not decide anything.
Texts go through Qt's translation with this file's name as their context. Thread: UI.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from pathlib import Path, PurePath
from typing import assert_never

from PySide6.QtCore import QCoreApplication

from app.store.records import CallGroup, Folder, ProgramRecord, TurnRecord, TurnStatus
from app.store.trials import Mode
from sandbox.changeset import Change, ChangeKind
from sandbox.effects import EffectKind


def _tr(text: str) -> str:
    return QCoreApplication.translate("words", text)


def mode(way: Mode) -> str:
    """How a model worked in a measurement."""
    match way:
        case "code":
            return _tr("code")
        case "tools":
            return _tr("tool calls")
        case "naive":
            return _tr("plain code")


def count(number: int, one: str, many: str) -> str:
    """``1 file``, ``41 files``, ``10,000 files``."""
    return f"{number:,} {_tr(one) if number == 1 else _tr(many)}"


def visible(text: str) -> str:
    """`text` on one line with nothing hidden: control and direction marks become escapes."""
    if text.isprintable() and text.isascii():
        return text
    return "".join(
        f"\\u{ord(char):04x}" if unicodedata.category(char) in {"Cc", "Cf", "Zl", "Zp"} else char
        for char in text
    )


def size(size_bytes: int | None) -> str:
    """``812 B``, ``12 kB``, ``1.1 GB``; unknown is ``unknown``. Decimal units."""
    if size_bytes is None:
        return _tr("unknown")
    if size_bytes < 1000:
        return f"{size_bytes} B"
    value = float(size_bytes)
    for unit in ("kB", "MB", "GB"):
        value /= 1000
        if value < 999.5 or unit == "GB":
            return f"{value:.1f} {unit}" if value < 9.95 else f"{value:,.0f} {unit}"
    raise AssertionError("unreachable: the last unit always returns")


def seconds(value_s: float) -> str:
    """``0.1 s``, ``12 s``, ``2 min 5 s``."""
    if value_s < 9.95:
        return f"{value_s:.1f} s"
    minutes, rest = divmod(round(value_s), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def ago(when: datetime, now: datetime) -> str:
    """``just now``, ``2 min ago``, ``3 h ago``, else the date."""
    passed_s = (now - when).total_seconds()
    if passed_s < 60:
        return _tr("just now")
    if passed_s < 3600:
        return _tr("{0} min ago").format(int(passed_s // 60))
    if passed_s < 24 * 3600:
        return _tr("{0} h ago").format(int(passed_s // 3600))
    return f"{when.astimezone():%Y-%m-%d}"


def exact(when: datetime) -> str:
    """The local date and time to the second."""
    return f"{when.astimezone():%Y-%m-%d %H:%M:%S}"


def day(when: datetime, today: date) -> str:
    """The heading a chat stands under: today, yesterday, a week, or its month."""
    that = when.astimezone().date()
    passed = (today - that).days
    if passed <= 0:
        return _tr("Today")
    if passed == 1:
        return _tr("Yesterday")
    if passed < 7:
        return _tr("Last seven days")
    return f"{that:%B %Y}"


def status(value: TurnStatus) -> str:
    """A turn's state in words."""
    match value:
        case "writing" | "checking" | "running" | "done" | "failed" | "stopped" | "undone":
            return _tr(value)
        case "waiting":
            return _tr("waiting for you")
        case "asking":
            return _tr("asks you")
        case "committing":
            return _tr("applying changes")
        case "rejected":
            return _tr("rejected, nothing changed")
        case "interrupted":
            return _tr("interrupted")
        case _:
            assert_never(value)


def home_path(path: str) -> str:
    """`path` with the home folder as ``~``."""
    home = str(Path.home())
    if path == home or path.startswith((home + "/", home + "\\")):
        path = "~" + path[len(home) :]
    return visible(path)


def short_path(path: str, folders: Sequence[Folder]) -> str:
    """`path` from its granted folder's name on: ``Downloads/a.pdf``; else as it is.

    With only one folder its name is left out too, for it would stand in every line.
    """
    for folder in folders:
        root = folder.path.rstrip("/\\")
        if len(folders) == 1 and path.startswith((root + "/", root + "\\")):
            return visible(path[len(root) + 1 :])
        if path == root or path.startswith((root + "/", root + "\\")):
            return visible(PurePath(root).name + path[len(root) :])
    return home_path(path)


def rights(folder: Folder) -> str:
    """A folder's rights in words."""
    return _tr("read and write") if folder.rights == "write" else _tr("read")


_CALL_VERBS: dict[EffectKind, str] = {
    "read": "read",
    "create": "created",
    "modify": "changed",
    "delete": "deleted",
    "move": "moved",
    "request": "sent",
    "command": "ran",
    "secret": "used",
    "show": "showed",
    "ask": "asked",
    "tool": "called",
}
_CALL_NOUNS: dict[EffectKind, tuple[str, str]] = {
    "request": ("request", "requests"),
    "command": ("command", "commands"),
    "secret": ("secret", "secrets"),
    "show": ("result", "results"),
    "ask": ("question", "questions"),
    "tool": ("tool", "tools"),
}


def call_group(group: CallGroup) -> str:
    """``read 41 files, 12 kB``; ``listed 3 folders``."""
    if group.folder:
        verb = _tr("listed") if group.kind == "read" else _tr(_CALL_VERBS[group.kind])
        return f"{verb} {count(group.count, 'folder', 'folders')}"
    one, many = _CALL_NOUNS.get(group.kind, ("file", "files"))
    text = f"{_tr(_CALL_VERBS[group.kind])} {count(group.count, one, many)}"
    return f"{text}, {size(group.size_bytes)}" if group.size_bytes else text


GROUP_ORDER: tuple[ChangeKind, ...] = (
    "delete",
    "modify",
    "move",
    "create",
    "mkdir",
    "rmdir",
    "mode",
)


def group_title(kind: ChangeKind, number: int) -> str:
    """The heading of the changes of one kind, with their count."""
    match kind:
        case "create":
            return _tr("New files: {0}").format(f"{number:,}")
        case "modify":
            return _tr("Changed files: {0}").format(f"{number:,}")
        case "delete":
            return _tr("Deleted files: {0}").format(f"{number:,}")
        case "move":
            return _tr("Moved or renamed: {0}").format(f"{number:,}")
        case "mkdir":
            return _tr("New folders: {0}").format(f"{number:,}")
        case "rmdir":
            return _tr("Deleted folders: {0}").format(f"{number:,}")
        case "mode":
            return _tr("Changed permissions: {0}").format(f"{number:,}")
        case _:
            assert_never(kind)


def sentence(
    changes: Sequence[Change],
    folders: Sequence[Folder],
    programs: Sequence[ProgramRecord] = (),
) -> str:
    """What the changes do: ``Moves 41 files in Downloads into 6 new folders. Deletes nothing.``

    `programs`: of the turn; what they have sent already is told.
    """
    if not changes:
        return _tr("Changes nothing.")
    kinds = Counter(change.kind for change in changes)
    new_folders = kinds["mkdir"]
    parts: list[str] = []
    if kinds["move"]:
        parts.append(_moves(changes, folders, new_folders))
        new_folders = 0
    if kinds["create"]:
        parts.append(_tr("Creates {0}.").format(count(kinds["create"], "file", "files")))
    if kinds["modify"]:
        parts.append(_tr("Changes {0}.").format(count(kinds["modify"], "file", "files")))
    if new_folders:
        parts.append(_tr("Creates {0}.").format(count(new_folders, "folder", "folders")))
    if kinds["mode"]:
        parts.append(
            _tr("Changes the permissions of {0}.").format(count(kinds["mode"], "file", "files"))
        )
    parts.append(_deletes(kinds["delete"], kinds["rmdir"]))
    parts.append(_sent(programs))
    return " ".join(parts)


def _sent(programs: Sequence[ProgramRecord]) -> str:
    """What has left this machine: requests, and what tools were given."""
    groups = [group for program in programs for group in program.calls]
    sent = sum(group.count for group in groups if group.kind == "request")
    used = sum(group.count for group in groups if group.kind == "tool")
    read = sum(group.count for group in groups if _is_web_read(group))
    parts: list[str] = []
    if sent:
        parts.append(_tr("Has sent {0}.").format(count(sent, "request", "requests")))
    if used:
        parts.append(_tr("Has used tools {0} times.").format(used))
    if read and not sent:
        return " ".join((*parts, _tr("Has read from hosts, and sends nothing else.")))
    return " ".join(parts) or _tr("Sends nothing.")


def _is_web_read(group: CallGroup) -> bool:
    return group.kind == "read" and group.example.startswith(("http://", "https://"))


def _moves(changes: Iterable[Change], folders: Sequence[Folder], new_folders: int) -> str:
    moved = [change for change in changes if change.kind == "move"]
    text = _tr("Moves {0}").format(count(len(moved), "item", "items"))
    names = [(one.path.rstrip("/\\"), visible(PurePath(one.path).name)) for one in folders]
    touched = {
        next((name for root, name in names if change.path.startswith(root)), "") for change in moved
    }
    if len(touched) == 1 and (name := touched.pop()):
        text += " " + _tr("in {0}").format(name)
    if new_folders:
        text += " " + _tr("into {0}").format(count(new_folders, "new folder", "new folders"))
    return text + "."


def _deletes(files: int, empty_folders: int) -> str:
    what: list[str] = []
    if files:
        what.append(count(files, "file", "files"))
    if empty_folders:
        what.append(count(empty_folders, "folder", "folders"))
    if not what:
        return _tr("Deletes nothing.")
    return _tr("Deletes {0}.").format((" " + _tr("and") + " ").join(what))


def undo_bounds(keep_days: int, keep_mib: int) -> str:
    """How long and in how much space undo is kept; 0: without bound."""
    days = count(keep_days, "day", "days")
    room = size(keep_mib * 1024 * 1024)
    if keep_days and keep_mib:
        return _tr("Undo is kept for {0}, in at most {1}; the oldest goes first.").format(
            days, room
        )
    if keep_days:
        return _tr("Undo is kept for {0}, however much space it takes.").format(days)
    if keep_mib:
        return _tr("Undo is kept in at most {0}; the oldest goes first.").format(room)
    return _tr("Undo is kept for ever, however much space it takes.")


def change_word(change: Change) -> str:
    """What happens to one item, as a small word."""
    match change.kind:
        case "create":
            return _tr("new")
        case "modify":
            return _tr("changed")
        case "delete" | "rmdir":
            return _tr("deleted")
        case "move":
            if change.modified:
                return _tr("moved and changed")
            same = change.target and PurePath(change.target).parent == PurePath(change.path).parent
            return _tr("renamed") if same else _tr("moved")
        case "mkdir":
            return _tr("new folder")
        case "mode":
            return _tr("permissions")
        case _:
            assert_never(change.kind)


def changes_count(number: int) -> str:
    """``1 change``, ``41 changes``."""
    return count(number, "change", "changes")


def on_disk(turn: TurnRecord) -> frozenset[str]:
    """The ids of a decided turn's changes that are on the disk now."""
    conflicts = frozenset(one.change_id for one in turn.conflicts)
    if turn.status == "undone":  # an undo leaves what it could not put back
        return conflicts & frozenset(turn.approved) if turn.committed else frozenset()
    return frozenset(turn.approved) - conflicts


def no_longer_fit(number: int) -> str:
    """That so many changes cannot be made on the disk as it is now."""
    if number == 1:
        return _tr("1 change no longer fits what is on disk.")
    return _tr("{0} no longer fit what is on disk.").format(changes_count(number))


def conflicts_title(turn: TurnRecord) -> str:
    """What the conflicts of a turn mean, by its state."""
    number = changes_count(len(turn.conflicts))
    match turn.status:
        case "waiting":
            return no_longer_fit(len(turn.conflicts)) + " " + _tr("Nothing was applied.")
        case "undone" if turn.committed:
            return _tr("{0} could not be taken back.").format(number)
        case "undone":
            return _tr("{0} could not be made again.").format(number)
        case _:
            return _tr("{0} could not be made.").format(number)


def meta(turn: TurnRecord) -> str:
    """The turn's time and tokens in one line; empty while there is nothing to say."""
    parts: list[str] = []
    if turn.seconds:
        parts.append(seconds(turn.seconds))
    tokens = turn.usage.input_tokens + turn.usage.output_tokens
    if tokens:
        parts.append(
            _tr("{0} read, {1} written").format(
                count(turn.usage.input_tokens, "token", "tokens"), f"{turn.usage.output_tokens:,}"
            )
        )
    if not turn.model_id.startswith("local:"):
        parts.append(money(turn.usage.money))
    return ", ".join(parts)


def money(amount: str | None, currency: str = "USD") -> str:
    """An amount with its currency. Unknown is ``cost unknown``."""
    return _tr("cost unknown") if amount is None else f"{amount} {currency}"
