"""Endings that a suffix is compared with get the dot that every suffix begins with."""

from __future__ import annotations

import pytest

from sandbox.program import prepare

REPAIRED = {
    "an equality": ('ok = p.suffix == "jpg"', 'p.suffix == ".jpg"'),
    "the other way round": ("ok = 'jpg' != p.suffix.lower()", "'.jpg' != p.suffix.lower()"),
    "a written collection": ('ok = p.suffix in ("jpg", ".png")', 'in (".jpg", ".png")'),
    "a named collection": ('E = ["jpg"]\nok = p.suffix.lower() in E', 'E = [".jpg"]'),
    "a named suffix": ('ext = p.suffix.lower()\nok = ext == "md"', 'ext == ".md"'),
    "splitext": ('import os\nok = os.path.splitext("a.b")[1] == "b"', '== ".b"'),
}

LEFT_ALONE = {
    "a right ending": 'ok = p.suffix == ".jpg"',
    "no ending": 'ok = p.suffix == ""',
    "a suffix without its dot": 'ok = p.suffix[1:] == "jpg"',
    "a stripped suffix": 'ok = p.suffix.lstrip(".") in ("jpg", "png")',
    "a name that is bound twice": 'ext = p.suffix\next = ext[1:]\nok = ext == "jpg"',
    "a collection with another use": (
        'E = ["jpg"]\nok = p.suffix in E\nfor e in E:\n    print(f"*.{e}")'
    ),
    "another attribute": 'ok = p.stem == "jpg"',
}

START = 'from pathlib import Path\np = Path("a.jpg")\n'


@pytest.mark.parametrize("name", REPAIRED)
def test_a_dot_is_added_where_without_it_nothing_could_match(name: str) -> None:
    source, wanted = REPAIRED[name]
    program = prepare(START + source + "\n")
    assert wanted in program.repaired
    assert any("a suffix begins with a dot" in note for note in program.notes)


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_what_could_match_is_left_alone(name: str) -> None:
    program = prepare(START + LEFT_ALONE[name] + "\n")
    assert not any("a suffix begins" in note for note in program.notes)
