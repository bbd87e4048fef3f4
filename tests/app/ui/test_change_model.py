"""Which changes are chosen, and that the choice can be applied."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester

from app.ui.change_model import ChangeModel, closure
from sandbox.changeset import Change, ChangeSet
from tests.app.ui import samples

CHECK = Qt.ItemDataRole.CheckStateRole


def find(model: ChangeModel, change_id: str) -> QModelIndex:
    """The row of a change."""
    for group in range(model.rowCount()):
        top = model.index(group, 0)
        for row in range(model.rowCount(top)):
            index = model.index(row, 0, top)
            change = model.change_at(index)
            if change is not None and change.id == change_id:
                return index
    raise AssertionError(change_id)


def set_check(model: ChangeModel, index: QModelIndex, state: Qt.CheckState) -> None:
    """As the view does it."""
    assert model.setData(index, state.value, CHECK)


def test_the_model_keeps_qts_rules(qapp: object) -> None:
    model = ChangeModel(samples.changes(5, deletes=2), samples.FOLDERS)
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    set_check(model, find(model, "m1"), Qt.CheckState.Unchecked)
    del tester


def test_everything_is_chosen_at_first() -> None:
    change_set = samples.changes(5)
    model = ChangeModel(change_set, samples.FOLDERS)
    assert model.chosen() == {change.id for change in change_set.changes}


def test_without_a_change_go_all_that_need_it() -> None:
    model = ChangeModel(samples.changes(6), samples.FOLDERS)
    along: list[int] = []
    model.chosen_changed.connect(along.append)
    set_check(model, find(model, "d0"), Qt.CheckState.Unchecked)
    assert not {"d0", "m0", "m3"} & model.chosen()
    assert {"d1", "m1", "m2"} <= model.chosen()
    assert along == [2]


def test_with_a_change_comes_what_it_needs() -> None:
    model = ChangeModel(samples.changes(6), samples.FOLDERS)
    model.choose_all(False)
    set_check(model, find(model, "m4"), Qt.CheckState.Checked)
    assert model.chosen() == {"m4", "d1"}


def test_a_group_shows_all_some_or_none() -> None:
    model = ChangeModel(samples.changes(6), samples.FOLDERS)
    moved = find(model, "m1").parent()
    assert moved.data(CHECK) == Qt.CheckState.Checked
    set_check(model, find(model, "m1"), Qt.CheckState.Unchecked)
    assert moved.data(CHECK) == Qt.CheckState.PartiallyChecked
    set_check(model, moved, Qt.CheckState.Unchecked)
    assert moved.data(CHECK) == Qt.CheckState.Unchecked
    assert not {f"m{number}" for number in range(6)} & model.chosen()


def test_a_panel_without_check_boxes_changes_no_choice() -> None:
    model = ChangeModel(samples.changes(3), samples.FOLDERS, checkable=False)
    assert not model.setData(find(model, "m1"), Qt.CheckState.Unchecked.value, CHECK)
    assert find(model, "m1").data(CHECK) is None


def test_a_name_that_hides_something_is_shown_whole() -> None:
    change = Change(id="1", kind="create", path=f"{samples.ROOT}/cod\u202etxt.exe\n")
    model = ChangeModel(ChangeSet(changes=(change,)), samples.FOLDERS)
    assert model.first_change().data() == "Downloads/cod\\u202etxt.exe\\u000a"


def test_unchecking_one_of_ten_thousand_changes_takes_its_dependents_along() -> None:
    model = ChangeModel(samples.changes(10_000), samples.FOLDERS)
    set_check(model, find(model, "d0"), Qt.CheckState.Unchecked)
    assert len(model.chosen()) == model.total() - 1 - 3334


@given(st.data())
def test_the_choice_can_always_be_applied(data: st.DataObject) -> None:
    number = data.draw(st.integers(min_value=1, max_value=12))
    ids = [str(n) for n in range(number)]
    changes = tuple(
        Change(
            id=one,
            kind=data.draw(st.sampled_from(["create", "mkdir", "move"])),
            path=f"/f/{one}",
            depends_on=tuple(data.draw(st.sets(st.sampled_from(ids[:at])))) if at else (),
        )
        for at, one in enumerate(ids)
    )
    model = ChangeModel(ChangeSet(changes=changes), ())
    for _ in range(4):
        index = find(model, data.draw(st.sampled_from(ids)))
        state = data.draw(st.sampled_from([Qt.CheckState.Checked, Qt.CheckState.Unchecked]))
        set_check(model, index, state)
        chosen = model.chosen()
        assert all(set(c.depends_on) <= chosen for c in changes if c.id in chosen)


def test_a_circle_of_needs_ends() -> None:
    assert closure(["a"], {"a": ["b"], "b": ["a"]}) == {"a", "b"}
