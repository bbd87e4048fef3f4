"""Reading a program: certain repairs, clear refusals, positions that point at the original."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.edits import Edit, apply_edits
from sandbox.errors import ProgramFaultError
from sandbox.program import Program, prepare

REPAIRS: dict[str, tuple[str, str]] = {
    "a fence": ("```python\nx = 1\n```\n", "x = 1"),
    "a closing fence": ("x = 1\n```", "x = 1"),
    "common indentation": ("    x = 1\n    if x:\n        x = 2\n", "if x:\n    x = 2"),
    "tabs and spaces": ("if 1:\n    x = 1\n\ty = 2\n", "    y = 2"),
    "typographic quotes": ("x = \u201chello\u201d\n", 'x = "hello"'),
    "typographic single quotes": ("x = \u2018it\u2019\n", 'x = "it"'),
    "a non-breaking space": ("x\u00a0= 1\n", "x = 1"),
    "line ends of Windows": ("x = 1\r\ny = 2\r\n", "x = 1\ny = 2"),
}


@pytest.mark.parametrize("name", REPAIRS)
def test_a_certain_repair_is_made(name: str) -> None:
    source, expected = REPAIRS[name]
    program = prepare(source)
    assert expected in program.repaired
    ast.parse(program.repaired)
    assert program.source == source


def test_a_text_inside_an_ordinary_string_is_never_repaired() -> None:
    source = 'x = "\u201cquoted\u201d a\u00a0b"\ny = \u201cz\u201d\nprint(x, y)\n'
    assert "\u201cquoted\u201d a\u00a0b" in prepare(source).repaired


REFUSED: dict[str, tuple[str, int, str]] = {
    "a cut off call": ("x = 1\nprint(x,\n", 2, "cut off"),
    "a cut off block": ("x = 1\nfor i in range(3):\n", 2, "cut off"),
    "a cut off text": ("x = 1\ny = 'abc\n", 2, "cut off"),
    "a missing colon": ("if True\n    x = 1\n", 1, "corrected"),
    "a null byte": ("x = '\0'\n", 1, ""),
    "return outside": ("x = 1\nreturn x\n", 2, ""),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_refused_at_its_line(name: str) -> None:
    source, line, hint = REFUSED[name]
    with pytest.raises(ProgramFaultError) as caught:
        prepare(source)
    fault = caught.value.fault
    assert fault.type == "SyntaxError"
    assert fault.line in (line, None)
    assert hint in fault.hint


def test_an_empty_program_is_a_program() -> None:
    assert prepare("").repaired.strip() == ""
    assert prepare("# nothing\n").notes == ()


def test_a_span_leads_back_to_the_original_text() -> None:
    source = (
        "```py\n# \u00e4\nwith open('x', encoding='utf-8') as f:\n"
        "    print(os.listdir('\u00fc'))\n```"
    )
    program = prepare(source)
    repaired = program.repaired.encode()
    start = repaired.index(b"os.listdir")
    end = repaired.index("\u00fc')".encode()) + 4
    span = program.original_span(start, end)
    assert source.encode()[span.start : span.end].decode() == "os.listdir('\u00fc')"
    assert span.line == 4
    opened = repaired.index(b"__dd_open(")
    span = program.original_span(opened, repaired.index(b") as f") + 1)
    assert source.encode()[span.start : span.end].decode() == "open('x', encoding='utf-8')"


def test_a_line_of_the_bridged_text_leads_to_the_original_line() -> None:
    program = prepare("x = 1\nprint(os.sep, json.dumps(x))\n")
    lines = program.repaired.splitlines()
    assert program.original_line(lines.index("x = 1") + 1) == 1
    assert program.original_line(len(lines)) == 2


@given(st.text(max_size=300))
def test_any_text_gives_a_program_or_a_fault(source: str) -> None:
    program: Program | None = None
    message = "fine"
    try:
        program = prepare(source)
    except ProgramFaultError as error:
        message = error.fault.message
    assert message
    if program is not None:
        ast.parse(program.repaired)


@st.composite
def _edited(draw: st.DrawFn) -> tuple[bytes, list[Edit]]:
    source = draw(st.binary(min_size=1, max_size=40).map(lambda b: b.replace(b"\xff", b"x")))
    cuts = sorted(draw(st.sets(st.integers(0, len(source)), max_size=8)))
    edits: list[Edit] = []
    for start, end in zip(cuts[::2], cuts[1::2], strict=False):
        edits.append(Edit(start=start, end=end, text=draw(st.text("ab", max_size=5))))
    return source, edits


@given(_edited())
def test_every_kept_byte_leads_back_to_itself(case: tuple[bytes, list[Edit]]) -> None:
    source, edits = case
    text, position_map = apply_edits(source, edits)
    kept = [i for i in range(len(source)) if not any(e.start <= i < e.end for e in edits)]
    found = {
        position_map.start(new): new
        for new in range(len(text))
        if position_map.end(new + 1) - position_map.start(new) == 1
        and position_map.start(new) in kept
    }
    for old in kept:
        assert text[found[old]] == source[old]


def test_a_last_line_that_prints_and_is_not_python_is_left_out() -> None:
    program = prepare('x = 1\nprint(f"{len(list(x)} things}")\n')
    assert "print" not in program.repaired
    assert program.notes[0] == "left out a last print that is not valid Python"


@pytest.mark.parametrize(
    "source", ["x = 1\nprint(x", "x = (1\nprint(f'{x')", "for x in y:\n    print(f'{x')"]
)
def test_a_program_that_was_cut_off_or_is_broken_elsewhere_is_refused(source: str) -> None:
    with pytest.raises(ProgramFaultError):
        prepare(source)
