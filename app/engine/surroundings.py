"""What the rules of the review look up: how full folders are, what recent turns destroyed.

Owns the bounds of these looks. It must not judge. Thread: the turn's worker; it looks at the disk.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from datetime import date, datetime
from functools import cache

from sandbox.blobs import BlobStore
from sandbox.changeset import Change
from sandbox.review import Destroyed, Surroundings

_COUNTED = 200_000
_HEAD_BYTES = 16


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


def today() -> date:
    """The day it is here."""
    return datetime.now().astimezone().date()
