"""The list of models: what each needs, and what can be done with it."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from app.engine.events import FetchProgressed
from app.engine.fetches import Download
from app.engine.model_status import Measured
from app.engine.router import Rate
from app.engine.shelf import Elsewhere, Sample
from app.settings import ModelSettings, OwnModelSettings
from app.store.probes import ProbeRecord
from app.store.records import Problem
from app.ui.found_models_dialog import FoundModelsDialog
from app.ui.model_card import ModelCard
from app.ui.model_settings import ModelSettingsForm
from app.ui.models_dialog import ModelsDialog, OwnChange
from models.fit import Fit
from models.imports import Found
from tests.app.ui import samples
from tests.app.ui.fake_engine import model


@pytest.fixture
def dialog(qtbot: QtBot) -> ModelsDialog:
    shown = ModelsDialog()
    shown.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, on=False)
    qtbot.addWidget(shown)
    return shown


def texts(dialog: ModelsDialog) -> str:
    return " ".join(item.text() for item in dialog.findChildren(QLabel))


def test_each_model_says_whether_it_fits_and_what_makes_it_fit(dialog: ModelsDialog) -> None:
    less = Fit(label="less context", context_tokens=4096, needed_bytes=1, free_bytes=1)
    none = Fit(label="does not fit", context_tokens=0, needed_bytes=9 * 10**9, free_bytes=10**9)
    dialog.show_models(
        [
            model("A"),
            model("B", model_id="local:b", fit=less),
            model("C", model_id="local:c", fit=none),
        ]
    )
    assert "Fits into memory: takes 1.0 GB of 10 GB free." in texts(dialog)
    assert "if it reads at most 4,096 tokens" in texts(dialog)
    assert "needs 9.0 GB of memory, 1.0 GB are free" in texts(dialog)


def pressable(dialog: ModelsDialog, text: str) -> list[QPushButton]:
    found = [item for item in dialog.findChildren(QPushButton) if item.text() == text]
    return [item for item in found if item.isVisibleTo(dialog)]


def card(dialog: ModelsDialog, model_id: str = samples.MODEL) -> ModelCard:
    return dialog._cards[model_id]


def test_a_removal_says_what_it_frees_and_asks_once(dialog: ModelsDialog, qtbot: QtBot) -> None:
    dialog.show_models([model("A"), model("B", model_id="local:b", present=False)])
    (remove,) = pressable(dialog, "Remove")
    remove.click()
    assert "This frees 1.1 GB" in texts(dialog)
    (keep,) = pressable(dialog, "Keep model")
    keep.click()
    assert not pressable(dialog, "Remove model")
    remove.click()
    (yes,) = pressable(dialog, "Remove model")
    with qtbot.waitSignal(dialog.remove_wanted) as told:
        yes.click()
    assert told.args == [model().model_id]
    dialog.show_removed("A", 1_117_320_768)
    assert "A is removed, 1.1 GB freed." in texts(dialog)


def test_a_file_of_another_program_is_not_said_to_free_anything(dialog: ModelsDialog) -> None:
    dialog.show_models([model("A", linked=True, default=False)])
    pressable(dialog, "Remove")[0].click()
    assert "it belongs to another program" in texts(dialog)
    assert "file of another program" in texts(dialog)


def test_what_is_measured_here_is_shown(dialog: ModelsDialog) -> None:
    speed = ProbeRecord(
        model_id=samples.MODEL, tokens_per_s=10.43, first_token_s=0.2, load_s=1.0, threads=1,
        machine="this", at=samples.NOW,
    )  # fmt: skip
    rates = (
        Rate(model_id=samples.MODEL, kind="files", passed=20, trials=24),
        Rate(model_id=samples.MODEL, kind="text", passed=14, trials=18),
    )
    dialog.show_models([model("A", measured=Measured(speed=speed, rates=rates))])
    assert "Writes 10.4 tokens a second here" in texts(dialog)
    assert "did 34 of 42 tasks of the lab (81%)" in texts(dialog)
    dialog.show_models([model("A")])
    assert "Not measured on this machine yet." in texts(dialog)


def test_models_are_searched_and_filtered(dialog: ModelsDialog) -> None:
    none = Fit(label="does not fit", context_tokens=0, needed_bytes=9 * 10**9, free_bytes=10**9)
    dialog.show_models(
        [
            model("Qwen small", family="qwen"),
            model("Phi", model_id="local:p", present=False, licence="MIT", fit=none),
            model("Granite", model_id="local:g", present=False),
        ]
    )

    def shown() -> list[str]:
        cards = {samples.MODEL: "Qwen", "local:p": "Phi", "local:g": "Granite"}
        return [name for key, name in cards.items() if card(dialog, key).isVisibleTo(dialog)]

    dialog.search.setText("mit")
    assert shown() == ["Phi"]
    dialog.search.setText("small QWEN")
    assert shown() == ["Qwen"]
    dialog.search.setText("nothing")
    assert shown() == []
    assert "No model is like that" in texts(dialog)
    dialog.search.clear()
    for kind, names in (
        ("here", ["Qwen"]), ("fits", ["Qwen", "Granite"]), ("absent", ["Phi", "Granite"]),
        ("all", ["Qwen", "Phi", "Granite"]),
    ):  # fmt: skip
        dialog.kinds.setCurrentIndex(dialog.kinds.findData(kind))
        assert shown() == names


@pytest.mark.parametrize(
    ("download", "words", "buttons"),
    [
        (Download(state="waiting", done_bytes=0, ahead=2), "Waits for 2 downloads", {"Pause"}),
        (Download(state="waiting", done_bytes=0), "online", {"Pause"}),
        (Download(state="downloading", done_bytes=5), "Starting", {"Pause"}),
        (Download(state="paused", done_bytes=10**8), "Paused, 100 MB of 1.1 GB here", {"Go on"}),
        (
            Download(state="failed", done_bytes=0, problem="No.", hint="Try later."),
            "No. Try later.",
            {"Try again"},
        ),
    ],
)
def test_a_download_shows_how_it_stands_and_what_can_be_done(
    dialog: ModelsDialog, download: Download, words: str, buttons: set[str]
) -> None:
    dialog.show_models([model("A", present=False, download=download)])
    assert words in texts(dialog)
    offered = {text for text in ("Pause", "Go on", "Try again") if pressable(dialog, text)}
    assert offered == buttons
    assert pressable(dialog, "Cancel download")
    assert not pressable(dialog, "Download")


def test_a_download_is_paused_and_taken_up_again(dialog: ModelsDialog, qtbot: QtBot) -> None:
    dialog.show_models([model("A", present=False)])
    running = FetchProgressed(
        model_id=samples.MODEL, done_bytes=10**8, total_bytes=10**9, bytes_per_s=10.0**7,
        seconds_left=90.0, source="hub",
    )  # fmt: skip
    dialog.show_progress(running)
    assert "100 MB of 1.0 GB, 10 MB per second, 1 min 30 s left" in texts(dialog)
    with qtbot.waitSignal(dialog.pause_wanted) as told:
        pressable(dialog, "Pause")[0].click()
    assert told.args == [samples.MODEL]
    paused = Download(state="paused", done_bytes=10**8)
    dialog.show_models([model("A", present=False, download=paused)])
    with qtbot.waitSignal(dialog.fetch_wanted):
        pressable(dialog, "Go on")[0].click()
    dialog.show_models([model("A")])
    assert not pressable(dialog, "Cancel download")


def test_a_model_that_was_tried_shows_what_it_said(dialog: ModelsDialog, qtbot: QtBot) -> None:
    dialog.show_models([model("A")])
    with qtbot.waitSignal(dialog.sample_wanted):
        pressable(dialog, "Test")[0].click()
    assert "It says hello" in texts(dialog)
    good = Sample(hello="Hello.", program="print(1)", problem="", seconds=3.0)
    dialog.show_sample(samples.MODEL, good)
    assert "It said: Hello." in texts(dialog)
    assert "Its program is valid." in texts(dialog)
    bad = Sample(hello="", program="", problem="The reply holds no program.", seconds=3.0)
    dialog.show_sample(samples.MODEL, bad)
    assert "Its program cannot run: The reply holds no program." in texts(dialog)
    dialog.show_problem(samples.MODEL, Problem(message="It crashed.", hint="Fetch it again."))
    assert "It crashed." in texts(dialog)


def test_settings_of_one_model_stand_over_those_for_all(dialog: ModelsDialog, qtbot: QtBot) -> None:
    dialog.show_common(ModelSettings(context_tokens=8192))
    dialog.show_models([model("A")])
    pressable(dialog, "Settings")[0].click()
    (form,) = dialog.findChildren(ModelSettingsForm)
    assert form.context.text() == "as for all: 8,192"
    form.context.setValue(4096)
    form.temperature.setValue(0.0)
    with qtbot.waitSignal(dialog.own_wanted) as told:
        pressable(dialog, "Save for this model")[0].click()
    own = OwnModelSettings(context_tokens=4096, temperature=0.0)
    assert told.args == [OwnChange(model_id=samples.MODEL, own=own)]
    dialog.show_models([model("A", own=own)])
    assert form.context.value() == 4096
    with qtbot.waitSignal(dialog.own_wanted) as told:
        pressable(dialog, "As for all models")[0].click()
    assert told.args == [OwnChange(model_id=samples.MODEL, own=OwnModelSettings())]


def test_models_of_other_programs_are_listed_and_used(qtbot: QtBot, tmp_path: Path) -> None:
    shown = FoundModelsDialog()
    shown.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, on=False)
    qtbot.addWidget(shown)
    shown.show_found([])
    assert any("no model files of LM Studio" in one.text() for one in shown.findChildren(QLabel))
    first = Found(owner="ollama", name="one", path=tmp_path / "one", size_bytes=10**9)
    second = Found(owner="lm-studio", name="two", path=tmp_path / "two", size_bytes=10**9)
    shown.show_found([Elsewhere(found=first), Elsewhere(found=second, here_as="two")])
    uses = [one for one in shown.findChildren(QPushButton) if one.text() == "Use"]
    with qtbot.waitSignal(shown.use_wanted) as told:
        uses[0].click()
    assert told.args == [str(tmp_path / "one")]
    assert len(uses) == 1


def test_a_model_file_can_be_dropped(dialog: ModelsDialog, qtbot: QtBot, tmp_path: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path / name)) for name in ("m.gguf", "notes.txt")])
    event = QDropEvent(
        QPointF(1, 1),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    with qtbot.waitSignal(dialog.import_wanted) as told:
        dialog.dropEvent(event)
    assert told.args == [str(tmp_path / "m.gguf")]
