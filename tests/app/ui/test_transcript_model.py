"""The split of a reply at its fences, and the paging of turns."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.ui.transcript_model import PAGE_TURNS, FenceSplitter, TranscriptModel
from tests.app.ui import samples


def split(pieces: list[str]) -> dict[str, str]:
    """What was shown as prose and as code."""
    shown = {"prose": "", "code": ""}
    splitter = FenceSplitter()
    for piece in pieces:
        for segment in splitter.feed(piece):
            shown[segment.kind] += segment.text
    return shown


def test_a_fenced_program_is_told_from_the_prose_around_it() -> None:
    reply = "I sort them.\n```python\nx = 1\n```\nDone.\n"
    assert split([reply]) == {"prose": "I sort them.\nDone.\n", "code": "x = 1\n"}


@given(
    st.lists(st.sampled_from(["```python", "```", "x = '`'", "", "text", "  ``", "`a`"])),
    st.lists(st.integers(min_value=1, max_value=7), min_size=1),
)
def test_where_the_pieces_are_cut_does_not_matter(lines: list[str], cuts: list[int]) -> None:
    reply = "\n".join(lines) + "\n"
    pieces: list[str] = []
    rest = reply
    turn = 0
    while rest:
        pieces.append(rest[: cuts[turn % len(cuts)]])
        rest = rest[len(pieces[-1]) :]
        turn += 1
    assert split(pieces) == split([reply])


def test_only_the_newest_page_is_shown_until_more_is_wanted() -> None:
    turns = [samples.turn(turn_id=f"t{number}") for number in range(PAGE_TURNS + 5)]
    model = TranscriptModel(turns)
    assert [turn.turn_id for turn in model.shown()] == [f"t{n}" for n in range(5, PAGE_TURNS + 5)]
    assert [turn.turn_id for turn in model.show_earlier()] == [f"t{n}" for n in range(5)]
    assert model.earlier == 0


def test_a_new_turn_is_shown_and_a_known_one_replaced() -> None:
    model = TranscriptModel([samples.turn("done", "t1")])
    assert model.put(samples.turn("writing", "t2"))
    assert not model.put(samples.turn("failed", "t2"))
    assert [turn.status for turn in model.shown()] == ["done", "failed"]
    assert model.live is None
