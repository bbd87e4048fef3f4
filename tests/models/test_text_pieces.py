"""Bytes in, whole characters out."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from models.text_pieces import TextPieces


def test_a_character_cut_in_half_is_held_back_until_it_is_whole():
    pieces = TextPieces(())
    raw = "ü".encode()
    assert pieces.push(raw[:1]) == ""
    assert pieces.push(raw[1:]) == "ü"


def test_half_a_character_at_the_end_is_shown_as_a_replacement():
    pieces = TextPieces(())
    assert pieces.push("你".encode()[:2]) == ""
    assert pieces.flush() == "\ufffd"


def test_a_stop_string_spread_over_pieces_ends_the_text_before_it():
    pieces = TextPieces(("END",))
    assert pieces.push(b"all E") == "all "
    assert pieces.push(b"N") == ""
    assert not pieces.stopped
    assert pieces.push(b"D and more") == ""
    assert pieces.stopped
    assert pieces.flush() == ""


def test_what_only_began_like_a_stop_string_is_shown():
    pieces = TextPieces(("END",))
    assert pieces.push(b"EN") == ""
    assert pieces.push(b"TER") == "ENTER"


def test_the_first_of_several_stop_strings_counts():
    pieces = TextPieces(("bb", "a"))
    assert pieces.push(b"x a bb") == "x "


@given(st.text(), st.lists(st.integers(min_value=1, max_value=5)))
def test_any_text_in_any_pieces_comes_out_as_it_is(text, sizes):
    pieces, raw, shown = TextPieces(()), text.encode("utf-8", "replace"), ""
    for size in [*sizes, len(raw) or 1]:
        shown += pieces.push(raw[:size])
        raw = raw[size:]
    assert shown + pieces.flush() == text.encode("utf-8", "replace").decode()
