"""The list of models: what each needs, and what can be done with it."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from app.ui.models_dialog import ModelsDialog
from models.fit import Fit
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
    assert "fits into memory" in texts(dialog)
    assert "if it reads at most 4,096 tokens" in texts(dialog)
    assert "needs 9.0 GB of memory" in texts(dialog)


def test_a_model_that_is_here_can_be_removed(dialog: ModelsDialog, qtbot: QtBot) -> None:
    dialog.show_models([model("A"), model("B", model_id="local:b", present=False)])
    removes = [item for item in dialog.findChildren(QPushButton) if item.text() == "Remove"]
    assert [item.isVisibleTo(dialog) for item in removes] == [True, False]
    with qtbot.waitSignal(dialog.remove_wanted) as told:
        removes[0].click()
    assert told.args == [model().model_id]


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
