"""What is unusual about all that a turn would change, as one ordered table.

Owns the rules for the one review at the end of a turn, and whether standing grants answer it.
Each rule looks at the whole change set with the turn's ledger and names what it found; the most
unusual comes first. Nothing here is denied: changes are reversible. Pure but for what
`Surroundings` looks up; any thread.
"""

from __future__ import annotations

import posixpath
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from sandbox.changeset import Change, ChangeSet
from sandbox.grant_budgets import ChangeWord, word_of
from sandbox.grants import NO_GRANTS, Grants
from sandbox.labels import PRIVATE, UNTRUSTED
from sandbox.origins import Origin
from sandbox.ports import Reason, Verdict
from sandbox.sensitive import holds_credentials, is_program, starts_programs
from sandbox.stage_paths import is_within
from sandbox.turn_ledger import Steered, TurnLedger

FOLDERS_BY_GRANT = 5
"""Deleted folders that a standing grant covers; more are asked about, whatever it says."""
_MANY_FILES = 50
_MANY_BYTES = 1_000_000_000
_MANY_SHARE = 0.5
_FEW = 10
_SHRUNK = 0.1
BULK_LOSS = "bulk-loss"
_EXECUTABLE = 0o111
_ARCHIVES = (".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z")
_HIDING = frozenset("\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u200b\u200e\u200f")
_SHOWN_ENDINGS = frozenset(
    [".pdf", ".jpg", ".jpeg", ".png", ".gif", ".txt", ".doc", ".docx", ".xls", ".xlsx", ".mp4"]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Destroyed:
    """Content that was lost in earlier turns, in one folder: files and bytes."""

    files: int = 0
    size_bytes: int = 0


def _unknown_count(_folder: str) -> int | None:
    return None


def _no_content(_change: Change) -> bytes | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What rules look up.

    `roots`: the granted folders; `files_in`: how many files are below a folder on the disk, None:
    unknown; `recent`: what recent turns destroyed, by granted folder; `head`: the first bytes of a
    file as it will be; `request`: what the person asked for, in their words; `today`.
    """

    roots: Sequence[str] = ()
    files_in: Callable[[str], int | None] = _unknown_count
    recent: Mapping[str, Destroyed] = field(default_factory=dict[str, Destroyed])
    head: Callable[[Change], bytes | None] = _no_content
    request: str = ""
    today: date = date.min


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """The whole of a turn's changes with what is known of them."""

    ledger: TurnLedger
    changes: Sequence[Change]
    around: Surroundings = field(default_factory=Surroundings)

    def root(self, path: str) -> str:
        """The granted folder that a path is in."""
        return max((r for r in self.around.roots if is_within(path, r)), key=len, default="")

    def origins(self, change: Change) -> tuple[Origin, ...]:
        """Where what is written into a file comes from."""
        file = self.ledger.file(change.final_path) or self.ledger.file(change.path)
        return () if file is None else tuple(file.origins)


Test = Callable[[Review], list[Reason]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRule:
    """One row of the table."""

    code: str
    test: Test


# Files that do more than hold data


def _starts(review: Review) -> list[Reason]:
    found: list[Reason] = []
    for change in review.changes:
        if change.kind in ("delete", "rmdir", "mkdir"):
            continue
        is_new = change.kind in ("create", "move") and not change.overwrites
        how = starts_programs(change.final_path, is_new=is_new) or _folder_starts(change)
        if how is not None:
            found.append(_of(change, "starts-programs", how=how))
    return _shortened(found)


def _folder_starts(change: Change) -> str | None:
    """Whether a folder is moved to where what is in it starts programs."""
    if change.kind != "move" or change.base is None or change.base.kind != "folder":
        return None
    for inside in ("x", "authorized_keys", "hooks/x", "autostart/x"):
        how = starts_programs(f"{change.final_path}/{inside}")
        if how is not None and starts_programs(f"{change.path}/{inside}") is None:
            return how
    return None


def _credentials(review: Review) -> list[Reason]:
    found: list[Reason] = []
    for change in review.changes:
        if change.kind in ("mkdir", "rmdir"):
            continue
        if holds_credentials(change.path) or holds_credentials(change.final_path):
            found.append(_of(change, "credentials"))
            continue
        for origin in review.origins(change):
            if origin.kind == "file" and holds_credentials(origin.what):
                found.append(_of(change, "credentials-copied", source=origin.what))
                break
    return _shortened(found)


def _programs(review: Review) -> list[Reason]:
    """Programs from strangers, programs in disguise, and what is written to be started."""
    found: list[Reason] = []
    for change in review.changes:
        if change.kind in ("delete", "rmdir", "mkdir"):
            continue
        name = posixpath.basename(change.final_path)
        starts = is_program(name) or bool((change.mode or 0) & _EXECUTABLE)
        if (is_program(name) and _disguised(name)) or _HIDING & set(name):
            found.append(_of(change, "disguised-program"))
        elif change.has_new_content and (starts or _is_program_content(review, change)):
            strangers = [one for one in review.origins(change) if one.label == UNTRUSTED]
            if strangers:
                found.append(_of(change, "untrusted-program", source=strangers[0].what))
            elif (change.mode or 0) & _EXECUTABLE:
                found.append(_of(change, "written-to-run"))
    return _shortened(found)


def _disguised(name: str) -> bool:
    stem = posixpath.splitext(name)[0]
    return posixpath.splitext(stem.casefold().rstrip())[1] in _SHOWN_ENDINGS


def _is_program_content(review: Review, change: Change) -> bool:
    head = review.around.head(change)
    return head is not None and head.startswith((b"#!", b"MZ", b"\x7fELF", b"\xcf\xfa\xed\xfe"))


# Data from elsewhere that decides


def _steered(review: Review) -> list[Reason]:
    by_path: defaultdict[str, list[Steered]] = defaultdict(list)
    for one in review.ledger.steered.values():
        by_path[one.path].append(one)
    groups: dict[tuple[str, str, str, bool], list[Steered]] = {}
    for change in review.changes:
        for one in by_path.get(change.path, ()):
            if not _fits(one, change) or _asked_for(one, review.around.request):
                continue
            origin = one.origins[0]
            kind = change.kind if change.kind != "rmdir" else "delete"
            groups.setdefault((kind, origin.kind, origin.what, one.held), []).append(one)
    found: list[Reason] = []
    for (kind, origin_kind, what, held), items in groups.items():
        first = items[0]
        data: dict[str, str | int] = {
            "source": what,
            "source_kind": origin_kind,
            "count": len(items),
            "path": first.path,
            "held": int(held),
        }
        if first.line is not None:
            data["line"] = first.line
        if first.origins[0].line is not None:
            data["source_line"] = first.origins[0].line
        untrusted = first.origins[0].label == UNTRUSTED
        code = f"{'untrusted' if untrusted else 'file'}-steers-{_verb(kind)}"
        found.append(Reason(code=code, data=data))
    return sorted(found, key=lambda one: (one.code.startswith("file"), -int(one.data["count"])))


def _fits(one: Steered, change: Change) -> bool:
    if one.kind == "overwrite":
        return change.kind == "modify" or change.modified
    return change.kind in ("delete", "rmdir", "move")


def _asked_for(one: Steered, request: str) -> bool:
    """Whether the person named the file that decides: then it is what they want."""
    if any(origin.label != PRIVATE for origin in one.origins):
        return False
    return any(posixpath.basename(origin.what) in request for origin in one.origins)


def _verb(kind: str) -> str:
    return {"modify": "overwrite"}.get(kind, kind)


# How much is lost


def _bulk(review: Review) -> list[Reason]:
    lost: defaultdict[str, list[Change]] = defaultdict(list)
    how: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for change in review.changes:
        way = destroys(review, change)
        if way is None:
            continue
        for folder in {review.root(change.path), posixpath.dirname(change.path)} - {""}:
            lost[folder].append(change)
            how[folder][way] += 1
    found: list[Reason] = []
    for folder in sorted(lost, key=lambda one: (-len(lost[one]), one)):
        reason = _over_budget(review, folder, lost[folder], how[folder])
        if reason is not None:
            found.append(reason)
    return found[:1]


def _over_budget(
    review: Review, folder: str, lost: Sequence[Change], how: Mapping[str, int]
) -> Reason | None:
    recent = review.around.recent.get(folder, Destroyed())
    count = len(lost) + recent.files
    size_bytes = sum(one.size_before or 0 for one in lost) + recent.size_bytes
    there = review.around.files_in(folder)
    before = None if there is None else there + recent.files
    is_most = before is not None and count > _MANY_SHARE * before and count >= _FEW
    if count < _MANY_FILES and size_bytes < _MANY_BYTES and not is_most:
        return None
    data: dict[str, str | int] = {
        "count": len(lost),
        "bytes": size_bytes,
        "folder": folder,
        "recent": recent.files,
    }
    if before is not None:
        data["of"] = before
    return Reason(code=BULK_LOSS, data={**data, **how})


def destroys(review: Review, change: Change) -> str | None:
    """How a change loses content of a file: "deleted", "replaced", "emptied", "moved-out"; None."""
    if change.kind == "delete":
        return "deleted"
    if change.overwrites:
        return "replaced"
    if change.kind == "modify" or change.modified:
        before = change.size_before or 0
        if _emptied(change):
            return "emptied"
        file = review.ledger.file(change.path)
        appended = change.source == change.path and change.prefix_bytes >= before
        if before and not appended and file is not None and file.blind:
            return "replaced"
    if change.kind == "move" and _leaves(review, change):
        return "moved-out"
    return None


def lost_content(change: Change) -> bool:
    """Whether a change that was applied lost content of a file, as far as it says so itself."""
    return change.kind == "delete" or change.overwrites or _emptied(change)


def _emptied(change: Change) -> bool:
    before, after = change.size_before or 0, change.size_after or 0
    return change.has_new_content and before > 0 and after < before * _SHRUNK


def _leaves(review: Review, change: Change) -> bool:
    """Whether a file goes out of its granted folder, or where it is not seen."""
    if review.root(change.path) != review.root(change.final_path):
        return True
    parts = change.final_path[len(review.root(change.path)) :].split("/")
    return any(part.startswith(".") for part in parts if part)


def _folders(review: Review) -> list[Reason]:
    gone = [one for one in review.changes if one.kind == "rmdir"]
    if len(gone) <= FOLDERS_BY_GRANT:
        return []
    return [_of(gone[0], "many-folders", count=len(gone))]


def _copies(review: Review) -> list[Reason]:
    """Originals that are deleted after a copy that nobody has looked at since."""
    created = [one for one in review.changes if one.kind == "create"]
    found: list[Reason] = []
    for change in review.changes:
        if change.kind != "delete":
            continue
        copy = next((one for one in created if _unverified_copy(review, change, one)), None)
        if copy is not None:
            found.append(_of(change, "copy-unverified", copy=copy.final_path))
    return _shortened(found)


def _unverified_copy(review: Review, gone: Change, copy: Change) -> bool:
    original, made = review.ledger.file(gone.path), review.ledger.file(copy.final_path)
    if original is None or made is None or not (original.read_at & made.written_from):
        return False
    if copy.source == gone.path or made.read > made.wrote:
        return False
    stem = posixpath.splitext(posixpath.basename(gone.path))[0]
    name = posixpath.basename(copy.final_path)
    if name.casefold().endswith(_ARCHIVES):
        return True
    same = gone.base is not None and copy.blob is not None and gone.base.sha256 == copy.blob
    return _is_named_after(name, stem) and not same


def _is_named_after(name: str, stem: str) -> bool:
    return name.startswith(stem) and not name[len(stem) : len(stem) + 1].isalnum()


def _of(change: Change, code: str, **data: str | int) -> Reason:
    line = next((one.line for one in change.evidence if one.line is not None), None)
    data = {"path": change.final_path, "change": change.id} | data
    return Reason(code=code, data=data if line is None else data | {"line": line})


def _shortened(found: Sequence[Reason]) -> list[Reason]:
    """One reason of each code, with how many changes it is true of; each kind of it apart."""
    groups: dict[tuple[str, str], list[Reason]] = {}
    for one in found:
        groups.setdefault((one.code, str(one.data.get("how", ""))), []).append(one)
    return [
        Reason(code=items[0].code, data={**items[0].data, "count": len(items)})
        for items in groups.values()
    ]


REVIEW_RULES: tuple[ReviewRule, ...] = (
    ReviewRule(code="untrusted-steers", test=_steered),
    ReviewRule(code="starts-programs", test=_starts),
    ReviewRule(code="programs", test=_programs),
    ReviewRule(code="credentials", test=_credentials),
    ReviewRule(code="bulk-loss", test=_bulk),
    ReviewRule(code="copy-unverified", test=_copies),
    ReviewRule(code="many-folders", test=_folders),
)
"""The most unusual first."""


def review_reasons(
    ledger: TurnLedger,
    changes: ChangeSet,
    around: Surroundings | None = None,
    rules: tuple[ReviewRule, ...] | None = None,
) -> tuple[Reason, ...]:
    """What is unusual about the changes of a turn, the most unusual first; none for most turns."""
    review = Review(ledger=ledger, changes=changes.changes, around=around or Surroundings())
    rules = REVIEW_RULES if rules is None else rules
    return tuple(reason for rule in rules for reason in rule.test(review))


def judge_changes(
    changes: ChangeSet,
    reasons: Iterable[Reason] = (),
    grants: Grants = NO_GRANTS,
    around: Surroundings | None = None,
) -> Verdict:
    """Whether standing grants answer the review: allow, or ask with the reasons."""
    around = around or Surroundings()
    reasons = tuple(reasons)
    if reasons:
        return Verdict(outcome="ask", reason=reasons[0].code, reasons=reasons)
    kinds: defaultdict[ChangeWord, list[Change]] = defaultdict(list)
    for change in changes.changes:
        kinds[word_of(change)].append(change)
        if change.overwrites or (change.kind != "create" and _emptied(change)):
            kinds["delete"].append(change)
    if kinds and all(_covered(kind, items, grants, around) for kind, items in kinds.items()):
        return Verdict(outcome="allow", reason="granted")
    return Verdict(outcome="ask", reason="changes")


def _covered(
    kind: ChangeWord, items: Sequence[Change], grants: Grants, around: Surroundings
) -> bool:
    roots = {max((r for r in around.roots if is_within(c.path, r)), default="") for c in items}
    there = [around.files_in(root) for root in roots if root]
    files = None if None in there else sum(one or 0 for one in there)
    return any(
        grant.kind == kind and grant.covers(items, files_in=files, today=around.today)
        for grant in grants.changes
    )
