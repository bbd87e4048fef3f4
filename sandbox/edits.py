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
    has_line_end: bool = False


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

    def forward(self, offset: int, *, closing: bool = False) -> int:
        """Where the byte at an original offset is in the edited text, with what was put before it
        on its line; `closing`: where what was put at the end of the text before it ends."""
        place = 0
        for index, piece in enumerate(self.pieces):
            if piece.copied and piece.old_start <= offset <= piece.old_end:
                place = piece.new_start + offset - piece.old_start
                if offset < piece.old_end or piece.old_start == piece.old_end:
                    return place if closing else self._opened(index, offset, place)
            elif not piece.copied and piece.old_start <= offset < piece.old_end:
                return piece.new_start
        return place

    def _opened(self, index: int, offset: int, place: int) -> int:
        """`place`, before what was inserted right there on the same line."""
        while index > 0 and self.pieces[index].old_start == offset:
            before = self.pieces[index - 1]
            if before.copied or before.old_end != offset or before.has_line_end:
                break
            index, place = index - 1, before.new_start
        return place

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
                _Piece(
                    new_start=new_at,
                    old_start=edit.start,
                    old_end=edit.end,
                    copied=False,
                    has_line_end=edit.text.endswith("\n"),
                )
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


def cut_map(head: int, begin: int, size: int) -> PositionMap:
    """The map back to a text of `size` bytes of the text without its bytes from `head` to
    `begin`."""
    pieces = (_copied(0, 0, head), _copied(head, begin, size))
    pieces = pieces if head else pieces[1:]
    return PositionMap(pieces=pieces, starts=tuple(piece.new_start for piece in pieces))
