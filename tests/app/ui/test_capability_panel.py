"""The capability tab: what it says, what can be opened from it, and how measuring shows."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.engine.events import LabEnded, LabProgressed
from app.lab.standings import Shown, Standing, standings
from app.ui.capability_panel import CapabilityPanel
from app.ui.heat_map import HeatMap, heat, ink
from app.ui.theme import DARK, LIGHT, MIN_CONTRAST, Tokens, contrast
from app.ui.trials_dialog import TrialsDialog
from tests.app.ui import samples

MODELS = {"local:qwen2.5-coder-1.5b": 1.2, "local:smollm2-135m": 0.1}


@pytest.fixture
def panel(qtbot: QtBot) -> CapabilityPanel:
    """The tab with two measured models."""
    made = CapabilityPanel()
    qtbot.addWidget(made)
    made.show_standings(standings(samples.trials(MODELS)), samples.MODEL)
    made.resize(300, 900)
    made.show()
    return made


def button(panel: CapabilityPanel, text: str) -> QPushButton:
    """The button with this text."""
    return next(one for one in panel.findChildren(QPushButton) if one.text() == text)


def texts(panel: CapabilityPanel) -> str:
    """Everything that can be read on the tab."""
    from PySide6.QtWidgets import QLabel

    return "\n".join(one.text() for one in panel.findChildren(QLabel) if one.isVisibleTo(panel))


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("rate", [0.0, 0.3, 0.6, 0.9])
def test_every_rate_can_be_read_on_its_colour(colours: Tokens, rate: float) -> None:
    ground = heat(rate, colours)
    assert contrast(ink(ground), ground) >= MIN_CONTRAST


def test_a_better_rate_has_another_colour() -> None:
    assert len({heat(rate, LIGHT) for rate in (0.1, 0.3, 0.6, 0.9)}) == 4


def test_the_tab_names_the_cheapest_model_that_is_good_enough(panel: CapabilityPanel) -> None:
    assert "qwen2.5-coder-1.5b" in texts(panel)
    assert "cheapest" in texts(panel)


def test_a_model_that_was_not_measured_is_said_to_be(panel: CapabilityPanel) -> None:
    panel.set_model("local:other-7b")
    assert "other-7b, which was not measured yet" in texts(panel)


def test_a_cell_is_opened_by_keyboard_and_by_mouse(panel: CapabilityPanel, qtbot: QtBot) -> None:
    heat_map = panel.findChild(HeatMap)
    assert heat_map is not None
    heat_map.setFocus()
    heat_map.setCurrentIndex(heat_map.model().index(1, 0))
    with qtbot.waitSignal(panel.cell_wanted) as opened:
        qtbot.keyClick(heat_map, Qt.Key.Key_Return)
    standing, capability = opened.args or (None, None)
    assert isinstance(standing, Standing)
    assert (standing.model_id, capability) == (samples.MODEL, "files")
    place = heat_map.visualRect(heat_map.model().index(0, 0)).center()
    with qtbot.waitSignal(panel.cell_wanted) as opened:
        qtbot.mouseClick(heat_map.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert (opened.args or [None, None])[1] == "all"


def test_a_cell_that_was_not_measured_says_so_and_opens_nothing(
    panel: CapabilityPanel, qtbot: QtBot
) -> None:
    half = samples.trials({samples.MODEL: 0.9}) + samples.trials({"local:x": 0.5}, kinds=1)
    panel.show_standings(standings(half), samples.MODEL)
    heat_map = panel.findChild(HeatMap)
    assert heat_map is not None
    index = heat_map.model().index(2, 1)
    assert "not measured" in index.data()
    with qtbot.assertNotEmitted(panel.cell_wanted):
        heat_map.clicked.emit(index)


def test_measuring_shows_its_progress_and_can_be_stopped(
    panel: CapabilityPanel, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(panel.measure_wanted) as wanted:
        button(panel, "Measure for 3 minutes").click()
    assert wanted.args == [samples.MODEL, True]
    panel.show_progress(
        LabProgressed(model_id=samples.MODEL, done=3, total=9, passed=2, seconds_left=60.0)
    )
    assert "3 of 9 trials, 2 passed" in texts(panel)
    with qtbot.waitSignal(panel.stop_wanted):
        button(panel, "Stop measuring").click()
    panel.show_end(LabEnded(model_id=samples.MODEL, problem="The model is not here."))
    assert "The model is not here." in texts(panel)
    assert button(panel, "Measure in full").isVisibleTo(panel)


def test_two_trials_stand_side_by_side_with_differing_programs_marked(qtbot: QtBot) -> None:
    from PySide6.QtWidgets import QLabel, QListWidget

    trials = samples.trials(MODELS, kinds=1, per_kind=2)

    def shown(number: int, source: str) -> Shown:
        turn = {"programs": [{"source": source, "printed": "x"}], "answer": "done"}
        return Shown(trial=trials[number], trajectory={"instruction": "Do it.", "turn": turn})

    dialog = TrialsDialog("Trials")
    qtbot.addWidget(dialog)
    dialog.show_trials([shown(0, "print(1)"), shown(3, "print(2)")])
    dialog.show()
    rows = dialog.findChild(QListWidget)
    assert rows is not None
    rows.selectAll()

    def words() -> list[str]:
        return [one.text() for one in dialog.findChildren(QLabel) if one.isVisible()]

    qtbot.waitUntil(lambda: words().count("Program 1 (differs)") == 2)
    assert any("all.csv" in word for word in words())
