"""A compact listing of the granted folders for the model, bounded in tokens.

Every token of it is evaluated before the first word of a reply, so like files are shown by a few
of them and only the files that matter most show their first lines. The entries that the request
names come first, then the newest; what was cut is said. Reads through the stage, so the listing is
what a program would find. Thread: a worker (it touches the disk).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import PurePosixPath

from sandbox.stage import Stage

_SCAN_ENTRIES = 5_000
_NAMES_SHARE = 0.6
_GROUP_SIZES = (30, 16, 10, 6, 4, 3, 2, 1)
_TAIL_TOKENS = 40
_PEEK_BYTES = 600
_PEEK_FILE_BYTES = 4 * 1024 * 1024
_PEEK_LINES = 3
_LONG_PEEK_LINES = 8
_LONG_PEEKS = 2
_PEEK_LINE_CHARS = 100
_PEEK_FILES = 8
_PEEKS_PER_GROUP = 2
_TEXT_SUFFIXES = frozenset(
    {
        *(".txt", ".md", ".csv", ".tsv", ".json", ".jsonl", ".log", ".ini", ".cfg", ".conf"),
        *(".toml", ".yaml", ".yml", ".xml", ".html", ".py", ".js", ".ts", ".css", ".sh", ".sql"),
        *(".eml", ".tex", ".rst", ".env", ".properties", ".vcf", ".ics", ".srt"),
    }
)
# Digits are a token each and signs mostly too, while a token holds about four letters.
_TOKEN = re.compile(r"\d|[^\W\d_]{1,4}|[^\w\s]|_|\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Item:
    path: str
    is_dir: bool
    size_bytes: int
    mtime_ns: int
    score: int

    @property
    def group(self) -> tuple[str, str]:
        """Where it is and of what kind: files alike in both stand for each other."""
        path = PurePosixPath(self.path)
        return str(path.parent), "/" if self.is_dir else path.suffix.lower()


def list_folders(stage: Stage, request: str, *, budget_tokens: int) -> str:
    """The listing of all granted folders as text of at most about `budget_tokens`.

    `request` is what the person asked; entries whose names share words with it are kept longest.
    """
    share = max(60, budget_tokens // max(1, len(stage.grants)))
    parts = [
        _list_folder(stage, str(grant.path), request, share, current=str(grant.path) == stage.cwd)
        for grant in stage.grants
    ]
    return "\n\n".join(parts)


def estimate_tokens(text: str) -> int:
    """About how many tokens a model makes of `text`; high rather than low for file names."""
    return len(_TOKEN.findall(text))


def _list_folder(stage: Stage, root: str, request: str, budget: int, *, current: bool) -> str:
    items, cut = _collect(stage, root, _words(request))
    files = sum(not item.is_dir for item in items)
    folders = len(items) - files
    more = " or more" if cut else ""
    # The current folder's name is left out: models would put it before the names of its files.
    kind = "Current folder" if current else f"Folder {root}"
    head = f"{kind}: {_count(files, 'file')}{more}"
    if folders:
        head += f", {_count(folders, 'folder')}"
    if not items:
        return head + " (it is empty)"
    budget -= estimate_tokens(head)
    lines = _lines(items, int(budget * _NAMES_SHARE))
    budget -= sum(estimate_tokens(line) + 1 for line in lines)
    return "\n".join([head, *lines, *_peeks(stage, root, items, budget)])


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


def _by_relevance(items: Iterable[_Item]) -> list[_Item]:
    return sorted(items, key=lambda item: (-item.score, -item.mtime_ns))


def _lines(items: Sequence[_Item], budget: int) -> list[str]:
    """One line an entry; like files give way to "and 12 more" until the lines fit."""
    shown = {item.path: _plain(item) for item in items}
    costs = {path: estimate_tokens(line) + 1 for path, line in shown.items()}
    if sum(costs.values()) <= budget:
        return list(shown.values())
    ranked = _by_relevance(items)
    keep: set[str] = set()
    for size in _GROUP_SIZES:
        keep = _first_of_groups(ranked, size)
        if sum(costs[path] for path in keep) <= budget - _TAIL_TOKENS:
            break
    else:
        keep = _affordable(ranked, keep, costs, budget - _TAIL_TOKENS)
    lines = [shown[item.path] for item in items if item.path in keep]
    rest = [item for item in items if item.path not in keep]
    return [*lines, f"- and {len(rest)} more not listed here: {_kinds(rest)}"]


def _first_of_groups(ranked: Iterable[_Item], size: int) -> set[str]:
    """The paths of the first `size` of each group."""
    counts: Counter[tuple[str, str]] = Counter()
    keep: set[str] = set()
    for item in ranked:
        counts[item.group] += 1
        if counts[item.group] <= size:
            keep.add(item.path)
    return keep


def _affordable(
    ranked: Iterable[_Item], among: set[str], costs: dict[str, int], budget: int
) -> set[str]:
    """Those of `among` that fit into the budget, the most relevant first."""
    keep: set[str] = set()
    for item in ranked:
        if item.path in among:
            budget -= costs[item.path]
            if budget < 0:
                break
            keep.add(item.path)
    return keep


def _peeks(stage: Stage, root: str, items: Sequence[_Item], budget: int) -> Iterator[str]:
    """First lines of text files, the most relevant first, while there is room."""
    counts: Counter[tuple[str, str]] = Counter()
    for item in _by_relevance(items):
        if counts.total() >= _PEEK_FILES or budget <= 0:
            return
        if counts[item.group] >= _PEEKS_PER_GROUP:
            continue
        most = _LONG_PEEK_LINES if counts.total() < _LONG_PEEKS else _PEEK_LINES
        lines = _peek(stage, f"{root}/{item.path}", item, most)
        text = "\n".join([f"First lines of {_shown(item.path)}{_separator(item, lines)}:", *lines])
        cost = estimate_tokens(text)
        if lines and cost <= budget:
            budget -= cost
            counts[item.group] += 1
            yield text


def _separator(item: _Item, lines: Sequence[str]) -> str:
    """A remark on a table whose columns are not separated by commas, which models assume."""
    if not lines or not item.path.lower().endswith((".csv", ".tsv", ".txt")):
        return ""
    for mark, written in ((";", '";"'), ("\t", r'"\t"')):
        if all(line.count(mark) > line.count(",") for line in lines):
            return f" (use delimiter={written})"
    return ""


def _peek(stage: Stage, path: str, item: _Item, most: int) -> list[str]:
    """The first lines of a text file, `most` of them, indented so that they stand apart."""
    suffix = PurePosixPath(item.path).suffix.lower()
    if item.is_dir or suffix not in _TEXT_SUFFIXES or not 0 < item.size_bytes <= _PEEK_FILE_BYTES:
        return []
    try:
        with stage.open_reader(path) as file:
            data = file.read(_PEEK_BYTES)
    except OSError:
        return []
    if b"\0" in data:
        return []
    text = data.decode("utf-8", "replace")
    if suffix == ".json":
        # The first lines of indented JSON are brackets; a little more of it on one line tells more.
        return [f"    {' '.join(text.split())[: 2 * _PEEK_LINE_CHARS]}"]
    lines = [line.rstrip() for line in text.splitlines()]
    if item.size_bytes > _PEEK_BYTES and len(lines) > 1:
        lines.pop()  # cut in the middle
    filled = [line for line in lines if line.strip()]
    return [f"    {line[:_PEEK_LINE_CHARS]}" for line in filled[:most]]


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
