"""The difference between stage and disk: what a turn would do, as stable data.

Owns the data model, its JSON, its counts, and which changes need which others. It must not touch
the disk: the stage computes it, `commit.py` applies it. Thread: any.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

ChangeKind = Literal["create", "modify", "delete", "move", "mkdir", "rmdir", "mode"]
JSON_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """What the stage saw on the disk, to be verified before commit.

    `kind`: of the entry; sizes in bytes, times in nanoseconds since the epoch, `mode` as
    `st_mode`; `sha256`: of the content when it was read, else None; `links`: how many names the
    file has on the disk; `placeholder`: its content is in the cloud only.
    """

    kind: Literal["file", "folder", "symlink"]
    size_bytes: int
    mtime_ns: int
    mode: int
    inode: int
    device: int
    sha256: str | None = None
    links: int = 1
    placeholder: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What made a change: which program, line and call."""

    program_id: str
    line: int | None
    call: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """`size_bytes` of new content: `of` the source or the blob from `at` on, or zeros."""

    of: Literal["source", "blob", "zeros"]
    at: int
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One item of the change set.

    `id`: stable within the set; `path`: where it is on the disk now (for create and mkdir: where
    it will be); `target`: where it is afterwards, if elsewhere (a move, or a change inside a folder
    that moves); `blob`: sha256 of staged new content, or None when there is none; `source`,
    `prefix_bytes`: the new content begins with that many bytes of this file on the disk as it is
    now, and the blob follows (a copy has no blob, an append has both); `source_base`: its state;
    `pieces`: of a file that was written to in part, all of its content instead, in order;
    `link`: what is created is a symbolic link with this text;
    `modified`: a move that also changes content; `overwrites`: an existing file is replaced at the
    destination, `replaces`: where that one is on the disk now; `with_contents`: a folder is removed
    with what was put into it since the stage looked; `depends_on`: ids of changes that
    must be applied too; `base`: state of `path` that commit verifies (None: nothing may be there);
    `target_base`: the same for `replaces`; `mode`: permission bits to set, or None.
    """

    id: str
    kind: ChangeKind
    path: str
    target: str | None = None
    size_before: int | None = None
    size_after: int | None = None
    blob: str | None = None
    source: str | None = None
    source_base: Base | None = None
    prefix_bytes: int = 0
    pieces: tuple[Piece, ...] = ()
    modified: bool = False
    overwrites: bool = False
    replaces: str | None = None
    with_contents: bool = False
    mode: int | None = None
    mtime_ns: int | None = None
    base: Base | None = None
    target_base: Base | None = None
    depends_on: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    link: str | None = None

    @property
    def final_path(self) -> str:
        """Where the entry is once the change is applied; for deletes, where it was."""
        return self.target or self.path

    @property
    def has_new_content(self) -> bool:
        """Whether bytes are written: a file is created or its content replaced."""
        return self.kind in ("create", "modify") or self.modified


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeSet:
    """All changes of a turn, in an order in which they can be applied."""

    changes: tuple[Change, ...] = field(default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A change set in numbers; the words are the window's.

    `created`, `modified`, `deleted`, `moved`: files (and links); `new_folders`, `removed_folders`,
    `moved_folders`; `overwritten`: files that a move replaces; `metadata`: only modes or times;
    `bytes_written`: size of new content; `bytes_removed`: size of what is deleted or overwritten.
    """

    created: int = 0
    modified: int = 0
    deleted: int = 0
    moved: int = 0
    overwritten: int = 0
    new_folders: int = 0
    removed_folders: int = 0
    moved_folders: int = 0
    metadata: int = 0
    bytes_written: int = 0
    bytes_removed: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether nothing would change."""
        return not any(getattr(self, item.name) for item in fields(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class SentencePart:
    """One part of the one-line summary: what, how many, and up to three paths as examples."""

    kind: str
    count: int
    examples: tuple[str, ...]


_CHANGE_FIELDS = tuple(item.name for item in fields(Change))
_BASE_FIELDS = tuple(item.name for item in fields(Base))
_BASES = ("base", "target_base", "source_base")


def summary(change_set: ChangeSet) -> Summary:
    """The counts of a change set."""
    counts: Counter[str] = Counter(_noun(change) for change in change_set.changes)
    for change in change_set.changes:
        counts["overwritten"] += change.overwrites
        if change.has_new_content:
            counts["bytes_written"] += change.size_after or 0
        if change.kind == "delete":
            counts["bytes_removed"] += change.size_before or 0
        elif change.target_base is not None:
            counts["bytes_removed"] += change.target_base.size_bytes
    return Summary(**counts)


def sentence_parts(change_set: ChangeSet) -> tuple[SentencePart, ...]:
    """The parts of a one-line summary, in the order in which people read it, empty ones left out.

    `kind` is a field name of `Summary`: "moved", "new_folders", "created", ...
    """
    paths: defaultdict[str, list[str]] = defaultdict(list)
    for change in change_set.changes:
        paths[_noun(change)].append(change.final_path)
    order = ("moved", "moved_folders", "new_folders", "created", "modified", "deleted")
    return tuple(
        SentencePart(kind=kind, count=len(paths[kind]), examples=tuple(paths[kind][:3]))
        for kind in (*order, "removed_folders", "metadata")
        if paths[kind]
    )


def with_applied(change_set: ChangeSet, applied: Iterable[Change]) -> ChangeSet:
    """The set with what was applied as it was applied: a choice may have given it a new name."""
    by_id = {change.id: change for change in applied}
    return ChangeSet(changes=tuple(by_id.get(c.id, c) for c in change_set.changes))


def select(change_set: ChangeSet, ids: Iterable[str]) -> ChangeSet:
    """The changes of `ids` whose dependencies are all there too: what is left after unchecking.

    A change that needs one that is not wanted is left out, so the rest always fits together.
    """
    wanted = set(ids)
    unwanted = {change.id for change in change_set.changes} - wanted
    left_out = unwanted | _closure(_needed_by(change_set.changes), unwanted)
    return ChangeSet(changes=tuple(c for c in change_set.changes if c.id not in left_out))


def dependents(change_set: ChangeSet, change_id: str) -> frozenset[str]:
    """The other changes that fall away when this one is unchecked."""
    return frozenset(_closure(_needed_by(change_set.changes), {change_id}) - {change_id})


def requirements(change_set: ChangeSet, change_id: str) -> frozenset[str]:
    """The other changes that have to come back when this one is checked again."""
    needs = {change.id: change.depends_on for change in change_set.changes}
    return frozenset(_closure(needs, {change_id}) - {change_id})


def in_order(changes: Sequence[Change]) -> tuple[Change, ...]:
    """`changes` with every dependency first, else as they come; circles are cut at their first."""
    place = {change.id: index for index, change in enumerate(changes)}
    waits = [{place[need] for need in c.depends_on if need in place} for c in changes]
    followers = _followers(waits)
    ready = [index for index, needs in enumerate(waits) if not needs]
    heapq.heapify(ready)
    done: set[int] = set()
    ordered: list[Change] = []
    next_in_circle = 0
    while len(ordered) < len(changes):
        if not ready:
            while next_in_circle in done:
                next_in_circle += 1
            ready.append(next_in_circle)
        index = heapq.heappop(ready)
        if index in done:
            continue
        done.add(index)
        ordered.append(changes[index])
        for follower in followers[index]:
            waits[follower].discard(index)
            if not waits[follower]:
                heapq.heappush(ready, follower)
    return tuple(ordered)


def to_json(change_set: ChangeSet, *, brief: bool = False) -> dict[str, Any]:
    """A plain dict for `json.dumps`: {"version": 1, "changes": [...]}, field names as in `Change`.

    Names that are not valid Unicode keep their surrogates, which `json` escapes as ASCII. `brief`:
    without what has its default value, for what only `from_json` reads.
    """
    items = [change_to_json(change) for change in change_set.changes]
    if brief:
        items = [{k: v for k, v in item.items() if not _is_nothing(v)} for item in items]
    return {"version": JSON_VERSION, "changes": items}


def _is_nothing(value: object) -> bool:
    """None, False or an empty list: what such a field has by itself. A zero says something."""
    return value is None or value is False or value == []


def from_json(data: dict[str, Any]) -> ChangeSet:
    """The inverse of `to_json`. ValueError for another version, TypeError for unknown fields."""
    if data["version"] != JSON_VERSION:
        raise ValueError(f"change set of version {data['version']}, expected {JSON_VERSION}")
    return ChangeSet(changes=tuple(change_from_json(item) for item in data["changes"]))


def change_to_json(change: Change) -> dict[str, Any]:
    """One change as a plain dict."""
    data = {name: getattr(change, name) for name in _CHANGE_FIELDS}
    for name in _BASES:
        data[name] = base_to_json(data[name]) if data[name] is not None else None
    data["depends_on"] = list(change.depends_on)
    data["evidence"] = [asdict(item) for item in change.evidence]
    data["pieces"] = [asdict(item) for item in change.pieces]
    return data


def change_from_json(data: dict[str, Any]) -> Change:
    """The inverse of `change_to_json`."""
    values = dict(data)
    for name in _BASES:
        if values.get(name) is not None:
            values[name] = Base(**values[name])
    values["pieces"] = tuple(Piece(**item) for item in values.get("pieces", ()))
    values["depends_on"] = tuple(values.get("depends_on", ()))
    values["evidence"] = tuple(Evidence(**item) for item in values.get("evidence", ()))
    return Change(**values)


def base_to_json(base: Base) -> dict[str, Any]:
    """A base as a plain dict; many thousands of them are written, so not by `asdict`."""
    return {name: getattr(base, name) for name in _BASE_FIELDS}


def _noun(change: Change) -> str:
    match change.kind:
        case "create":
            return "created"
        case "modify":
            return "modified"
        case "delete":
            return "deleted"
        case "move":
            is_folder = change.base is not None and change.base.kind == "folder"
            return "moved_folders" if is_folder else "moved"
        case "mkdir":
            return "new_folders"
        case "rmdir":
            return "removed_folders"
        case "mode":
            return "metadata"


def _needed_by(changes: Sequence[Change]) -> dict[str, list[str]]:
    needed_by: defaultdict[str, list[str]] = defaultdict(list)
    for change in changes:
        for need in change.depends_on:
            needed_by[need].append(change.id)
    return needed_by


def _closure(edges: dict[str, Any], start: set[str]) -> set[str]:
    """All that can be reached from `start`, itself included."""
    reached = set(start)
    pending = list(start)
    while pending:
        for after in edges.get(pending.pop(), ()):
            if after not in reached:
                reached.add(after)
                pending.append(after)
    return reached


def _followers(waits: list[set[int]]) -> list[list[int]]:
    followers: list[list[int]] = [[] for _ in waits]
    for index, needs in enumerate(waits):
        for need in needs:
            followers[need].append(index)
    return followers
