"""The picture of a flow: the same for the eye and for a screen reader."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from app.store.records import CallGroup
from app.ui.flow_picture import FlowPicture, picture_of
from app.ui.flow_view import FlowView
from sandbox.ports import Reason
from tests.app.ui import samples

PAGE = "https://tips.example.org/cleanup"
STEERED = Reason(
    code="untrusted-steers-delete",
    data={"source": PAGE, "source_line": 2, "line": 5, "count": 3, "path": "/a"},
)
SENT = Reason(code="private-to-host", data={"source": "/h/notes.txt", "host": "x.org", "line": 3})


def _picture(*reasons: Reason, deletes: int = 3) -> FlowPicture:
    page = CallGroup(kind="read", folder=False, count=1, size_bytes=9, example=PAGE)
    turn = samples.turn(
        status="waiting",
        changes=samples.changes(2, deletes),
        programs=(samples.program(calls=(page,)),),
    )
    return picture_of(turn, reasons, lambda text: text)


def _marked(picture: FlowPicture) -> list[tuple[str, str]]:
    return [
        (picture.nodes[line.start].text, picture.nodes[line.end].text)
        for line in picture.lines
        if line.marked
    ]


def test_sources_go_through_the_program_to_what_happens() -> None:
    picture = _picture()
    assert not _marked(picture)
    assert "tips.example.org → Program" in picture.told()
    assert "Program → 3 deleted" in picture.told()


def test_what_a_rule_names_is_a_marked_way_through_its_line() -> None:
    assert _marked(_picture(STEERED)) == [("tips.example.org", "Line 5"), ("Line 5", "3 deleted")]


def test_a_host_is_where_private_data_ends() -> None:
    picture = _picture(SENT)
    assert _marked(picture) == [("notes.txt", "Line 3"), ("Line 3", "x.org")]
    assert picture.told().startswith("notes.txt → Line 3; Line 3 → x.org")


def test_the_picture_is_told_to_screen_readers_and_is_tall_enough(qtbot: QtBot) -> None:
    view = FlowView(_picture(STEERED))
    qtbot.addWidget(view)
    view.show()
    assert "Line 5 → 3 deleted" in view.accessibleDescription()
    assert view.accessibleName()
    assert view.minimumHeight() >= 4 * 28
    assert not view.grab().isNull()
