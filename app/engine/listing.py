"""A compact listing of the granted folders for the model, bounded in tokens.

The entries that the request names come first, then the newest; what was cut is said. Reads through
the stage, so the listing is what a program would find. Thread: a worker (it touches the disk).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import PurePosixPath

from sandbox.stage import Stage

_CHARS_PER_TOKEN = 3
_SCAN_ENTRIES = 5_000
_PEEK_BYTES = 400
_PEEK_FILE_BYTES = 256 * 1024
_PEEK_LINES = 3
_PEEK_LINE_CHARS = 90
_PEEK_FILES = 40
_TEXT_SUFFIXES = frozenset(
    {
        *(".txt", ".md", ".csv", ".tsv", ".json", ".jsonl", ".log", ".ini", ".cfg", ".conf"),
        *(".toml", ".yaml", ".yml", ".xml", ".html", ".py", ".js", ".ts", ".css", ".sh", ".sql"),
        *(".eml", ".tex", ".rst", ".env", ".properties"),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Item:
    path: str
    is_dir: bool
    size_bytes: int
    mtime_ns: int
    score: int


def list_folders(stage: Stage, request: str, *, budget_tokens: int) -> str:
    """The listing of all granted folders as text of at most about `budget_tokens`.

    `request` is what the person asked; entries whose names share words with it are kept longest.
    """
    share = max(200, budget_tokens * _CHARS_PER_TOKEN // max(1, len(stage.grants)))
    parts = [
        _list_folder(stage, str(grant.path), request, share, current=str(grant.path) == stage.cwd)
        for grant in stage.grants
    ]
    return "\n\n".join(parts)


def _list_folder(stage: Stage, root: str, request: str, budget_chars: int, *, current: bool) -> str:
    items, cut = _collect(stage, root, _words(request))
    files = sum(not item.is_dir for item in items)
    folders = len(items) - files
    more = " or more" if cut else ""
    name = PurePosixPath(root).name or root
    kind = "Current folder" if current else f"Folder {root}"
    head = f"{kind}: {name}, {_count(files, 'file')}{more}"
    if folders:
        head += f", {_count(folders, 'folder')}"
    if not items:
        return head + " (it is empty)"
    lines = _lines(stage, root, items, budget_chars - len(head))
    return "\n".join([head, *lines])


def _collect(stage: Stage, root: str, words: frozenset[str]) -> tuple[list[_Item], bool]:
    items: list[_Item] = []
    entries = (entry for entry in stage.scan(root, max_depth=None) if entry.path)
    for entry in islice(entries, _SCAN_ENTRIES):
        try:
            stat = stage.stat(f"{root}/{entry.path}")
            size, mtime = stat.size_bytes, stat.mtime_ns
        except OSError:
            size, mtime = 0, 0
        items.append(
            _Item(
                path=entry.path,
                is_dir=entry.is_dir,
                size_bytes=size,
                mtime_ns=mtime,
                score=len(words & _words(entry.path)),
            )
        )
    return items, next(entries, None) is not None


def _lines(stage: Stage, root: str, items: Sequence[_Item], budget_chars: int) -> list[str]:
    shown = {item.path: _plain(item) for item in items}
    total = sum(len(line) + 1 for line in shown.values())
    if total > budget_chars:
        return _cut_lines(items, shown, budget_chars)
    return _with_peeks(stage, root, items, shown, budget_chars - total)


def _cut_lines(items: Sequence[_Item], shown: dict[str, str], budget_chars: int) -> list[str]:
    """The most relevant entries in listing order, and what the rest consists of."""
    tail = 160
    left = budget_chars - tail
    keep: set[str] = set()
    for item in sorted(items, key=lambda item: (-item.score, -item.mtime_ns)):
        left -= len(shown[item.path]) + 1
        if left < 0:
            break
        keep.add(item.path)
    lines = [shown[item.path] for item in items if item.path in keep]
    rest = [item for item in items if item.path not in keep]
    return [*lines, f"- and {len(rest)} more not listed here: {_kinds(rest)}"]


def _with_peeks(
    stage: Stage, root: str, items: Sequence[_Item], shown: dict[str, str], left: int
) -> list[str]:
    """Add first lines of small text files, the most relevant first, while there is room."""
    peeked = 0
    for item in sorted(items, key=lambda item: (-item.score, -item.mtime_ns)):
        if left < 40 or peeked >= _PEEK_FILES:
            break
        peek = _peek(stage, f"{root}/{item.path}", item)
        if peek and len(peek) + 8 <= left:
            shown[item.path] += f"  text: {peek}"
            left -= len(peek) + 8
            peeked += 1
    return [shown[item.path] for item in items]


def _peek(stage: Stage, path: str, item: _Item) -> str:
    suffix = PurePosixPath(item.path).suffix.lower()
    if item.is_dir or suffix not in _TEXT_SUFFIXES or not 0 < item.size_bytes <= _PEEK_FILE_BYTES:
        return ""
    try:
        with stage.open_reader(path) as file:
            data = file.read(_PEEK_BYTES)
    except OSError:
        return ""
    if b"\0" in data:
        return ""
    lines = data.decode("utf-8", "replace").splitlines()
    if item.size_bytes > _PEEK_BYTES and len(lines) > 1:
        lines.pop()  # cut in the middle
    return " | ".join(line.strip()[:_PEEK_LINE_CHARS] for line in lines[:_PEEK_LINES]).strip()


def _plain(item: _Item) -> str:
    if item.is_dir:
        return f"- {_shown(item.path)}/"
    return f"- {_shown(item.path)}  {size_text(item.size_bytes)}"


def _kinds(items: Iterable[_Item]) -> str:
    kinds = Counter(
        "folders" if item.is_dir else (PurePosixPath(item.path).suffix.lower() or "no suffix")
        for item in items
    )
    return ", ".join(f"{count} {kind}" for kind, count in kinds.most_common(8))


def _shown(path: str) -> str:
    """A path on one line; names with line breaks are quoted as Python would."""
    return path if path.isprintable() else repr(path)


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in re.findall(r"\w+", text.lower()) if len(word) > 2)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def size_text(size_bytes: int) -> str:
    """A size as people write it: ``640 B``, ``12 kB``, ``1.2 MB`` (powers of 1000)."""
    if size_bytes < 1000:
        return f"{size_bytes} B"
    size = float(size_bytes)
    for unit in ("kB", "MB", "GB", "TB"):
        size /= 1000
        if size < 1000 or unit == "TB":
            return f"{size:.0f} {unit}" if size >= 10 or unit == "kB" else f"{size:.1f} {unit}"
    raise AssertionError("unreachable")
