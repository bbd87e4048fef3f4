"""Text edits on a program's source and the exact way back from the edited text to the original.

Owns byte-based edits and position maps. It must not know what an edit means. Pure; any thread.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """Replaces the bytes ``[start, end)`` of a source with `text`; inserts when both are equal.

    `rank` orders insertions at one offset, smallest first: closing text (negative) before
    opening text (zero and up), and both before a replacement that starts there.
    """

    start: int
    end: int
    text: str
    rank: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """A run of the new text: copied from the old text at `old_start`, or standing for a range."""

    new_start: int
    old_start: int
    old_end: int
    copied: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionMap:
    """Maps byte offsets of an edited text to the text it was made from."""

    pieces: tuple[_Piece, ...]
    starts: tuple[int, ...] = field(repr=False)

    def start(self, offset: int) -> int:
        """The original offset of a span that starts at `offset` of the edited text."""
        return self._old(offset, at_end=False)

    def end(self, offset: int) -> int:
        """The original offset of a span that ends (exclusive) at `offset` of the edited text."""
        return self._old(offset, at_end=True)

    def _old(self, offset: int, *, at_end: bool) -> int:
        index = bisect_right(self.starts, offset - at_end) - 1
        piece = self.pieces[max(index, 0)]
        if not piece.copied:
            return piece.old_end if at_end else piece.old_start
        return min(piece.old_start + max(offset - piece.new_start, 0), piece.old_end)


class OverlappingEditsError(ValueError):
    """Two edits want to change the same bytes: our bug, or source that two rules both match."""


def apply_edits(source: bytes, edits: Iterable[Edit]) -> tuple[bytes, PositionMap]:
    """Apply `edits` to UTF-8 `source`; returns the new text and the map back.

    Raises `OverlappingEditsError` when two replacements overlap.
    """
    ordered = sorted(edits, key=lambda e: (e.start, e.end > e.start, e.rank))
    out: list[bytes] = []
    pieces: list[_Piece] = []
    new_at = old_at = 0
    for edit in ordered:
        if edit.start < old_at:
            raise OverlappingEditsError(f"edits overlap at byte {edit.start}")
        if edit.start > old_at:
            pieces.append(_copied(new_at, old_at, edit.start))
            out.append(source[old_at : edit.start])
            new_at += edit.start - old_at
        text = edit.text.encode()
        if text:
            pieces.append(
                _Piece(new_start=new_at, old_start=edit.start, old_end=edit.end, copied=False)
            )
            out.append(text)
            new_at += len(text)
        old_at = edit.end
    pieces.append(_copied(new_at, old_at, len(source)))
    out.append(source[old_at:])
    return b"".join(out), PositionMap(
        pieces=tuple(pieces), starts=tuple(p.new_start for p in pieces)
    )


def _copied(new_start: int, old_start: int, old_end: int) -> _Piece:
    return _Piece(new_start=new_start, old_start=old_start, old_end=old_end, copied=True)
