"""What the rules of the review look up: how full folders are, what recent turns destroyed.

Owns the bounds of these looks. It must not judge. Thread: the turn's worker; it looks at the disk.
"""

from __future__ import annotations

import os
import posixpath
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

from app.engine.day import today
from app.store.records import Folder, TurnRecord
from sandbox.blobs import BlobStore
from sandbox.changeset import Change
from sandbox.review import BULK_LOSS, Destroyed, Surroundings, lost_content

_COUNTED = 200_000
_HEAD_BYTES = 16
_RECENT = timedelta(days=7)


def look_around(
    roots: Collection[str],
    blobs: BlobStore,
    *,
    recent: Mapping[str, Destroyed] | None = None,
    request: str = "",
) -> Surroundings:
    """What the review's rules may ask for, each looked up once. `roots`: the granted folders."""

    @cache
    def files_in(folder: str) -> int | None:
        count = 0
        for _, _, names in os.walk(folder):
            count += len(names)
            if count > _COUNTED:
                return None
        return count

    def head(change: Change) -> bytes | None:
        if change.blob is None:
            return None
        try:
            with blobs.open(change.blob) as stream:
                return stream.read(_HEAD_BYTES)
        except OSError:
            return None

    return Surroundings(
        roots=tuple(roots),
        files_in=files_in,
        recent=recent or {},
        head=head,
        request=request,
        today=today(),
    )


def look_around_turn(
    turn: TurnRecord, folders: Sequence[Folder], blobs: Path, earlier: Sequence[TurnRecord]
) -> Surroundings:
    """The same for a turn. `earlier`: turns applied since `recently`, the newest first."""
    roots = [str(Path(folder.path).expanduser().resolve()) for folder in folders]
    recent = lost_recently(earlier, roots)
    return look_around(roots, BlobStore(blobs), recent=recent, request=turn.request)


def lost_recently(earlier: Sequence[TurnRecord], roots: Collection[str]) -> dict[str, Destroyed]:
    """What turns lost in each folder, little by little, since the person was last told so.

    A turn whose review named a bulk loss was judged with everything before it: counting starts
    anew after it.
    """
    files: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for turn in earlier:
        if any(reason.code == BULK_LOSS for reason in turn.reasons):
            break
        approved = set(turn.approved)
        for change in turn.changes.changes if turn.changes is not None else ():
            if change.id in approved and lost_content(change):
                inside = {root for root in roots if change.path.startswith(f"{root}/")}
                for folder in inside | {posixpath.dirname(change.path)}:
                    files[folder] += 1
                    sizes[folder] += change.size_before or 0
    return {
        folder: Destroyed(files=count, size_bytes=sizes[folder]) for folder, count in files.items()
    }


def recently() -> datetime:
    """Since when turns are recent."""
    return datetime.now(UTC) - _RECENT
