"""Where requests go, in the window: the line above the chat, the marks, the dialogs."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton
from pytestqt.qtbot import QtBot

from app.engine.events import ThinkingDelta
from app.engine.remotes import TestResult
from app.settings import Settings
from app.ui.costs_dialog import CostsDialog, csv_text
from app.ui.outgoing_dialog import OutgoingDialog
from app.ui.remote_dialog import RemoteDialog
from tests.app.ui import samples
from tests.app.ui.conftest import OpenWindow, Stage
from tests.app.ui.fake_engine import FakeEngine
from tests.app.ui.fake_places import CLAUDE, choices, outgoing, total


def remote_chat(engine: FakeEngine) -> None:
    """A chat with a model at Anthropic that has cost something."""
    engine.stored = [replace(samples.chat(), model_id=CLAUDE)]
    engine.turns = {"c1": [samples.turn("done")]}
    engine.places.offered = choices()
    engine.places.spent = total(7)


def texts(widget: object) -> str:
    """All that a widget's labels say."""
    return "\n".join(one.text() for one in widget.findChildren(QLabel))  # type: ignore[attr-defined]


def opened(open_window: OpenWindow, qtbot: QtBot) -> Stage:
    stage = open_window(prepare=remote_chat)
    stage.window._session.open_chat("c1")
    qtbot.waitUntil(lambda: stage.window._session.chat is not None)
    return stage


def test_the_line_above_the_chat_says_where_requests_go_and_what_it_cost(
    open_window: OpenWindow, qtbot: QtBot
) -> None:
    header = opened(open_window, qtbot).window.header
    qtbot.waitUntil(lambda: header._place.text() == "to Anthropic")
    qtbot.waitUntil(lambda: header._cost.text() == "0.07 USD")
    assert "api.anthropic.com" in header._place.toolTip()


def test_a_mark_keeps_the_chat_here_and_says_so(open_window: OpenWindow, qtbot: QtBot) -> None:
    stage = opened(open_window, qtbot)
    header = stage.window.header
    stage.window.places.toggle_local_only()
    qtbot.waitUntil(lambda: header._place.text() == "local only")
    assert stage.asked("mark_chat") == [("c1", True)]
    stage.window.places.toggle_local_only()
    qtbot.waitUntil(lambda: header._place.text() == "to Anthropic")
    stage.window.places.mark_folder("/home/ada/Downloads", True)
    qtbot.waitUntil(lambda: header._place.text() == "local only")
    assert "Downloads" in header._place.toolTip()


def test_remote_models_are_offered_with_their_place(open_window: OpenWindow, qtbot: QtBot) -> None:
    composer = opened(open_window, qtbot).window.composer
    qtbot.waitUntil(lambda: composer._model.findText("Claude Sonnet 4.6, at Anthropic") >= 0)
    assert composer.model_id() == CLAUDE


def test_the_preview_is_of_what_is_written(open_window: OpenWindow, qtbot: QtBot) -> None:
    stage = opened(open_window, qtbot)
    stage.window.composer.set_text("Sort them")
    stage.window.places.show_outgoing()
    qtbot.waitUntil(lambda: stage.window.places.outgoing is not None)
    assert stage.asked("preview") == [("c1", "Sort them", CLAUDE)]


def test_a_preview_says_where_how_much_and_what(qtbot: QtBot) -> None:
    dialog = OutgoingDialog(outgoing())
    qtbot.addWidget(dialog)
    said = texts(dialog)
    assert "to Anthropic (api.anthropic.com)" in said
    assert "0.0045 USD, and 0.13 USD at most" in said
    assert "1.69 USD of 2.00 USD left for today" in said
    held = OutgoingDialog(outgoing(held="chat", least_money=None))
    qtbot.addWidget(held)
    assert "It would not be sent" in texts(held)
    assert "unknown" in texts(held)


def test_a_key_goes_to_the_engine_and_leaves_the_field(
    open_window: OpenWindow, qtbot: QtBot
) -> None:
    stage = opened(open_window, qtbot)
    stage.window.places.show_remote()
    dialog = stage.window.places.remote
    assert dialog is not None

    def field() -> QLineEdit | None:
        named = [one for one in dialog.findChildren(QLineEdit)
                 if one.accessibleName() == "Key for Anthropic"]  # fmt: skip
        return named[-1] if named else None

    qtbot.waitUntil(lambda: field() is not None)
    entry = field()
    assert entry is not None
    assert entry.echoMode() == QLineEdit.EchoMode.Password
    entry.setText("sk-secret")
    entry.returnPressed.emit()
    assert entry.text() == ""
    qtbot.waitUntil(lambda: stage.asked("set_key") == [("anthropic", "sk-secret")])


def test_models_and_servers_are_added_tested_and_removed(qtbot: QtBot) -> None:
    dialog = RemoteDialog(Settings())
    qtbot.addWidget(dialog)
    saved: list[Settings] = []
    tested: list[str] = []
    dialog.chosen.connect(saved.append)
    dialog.test_wanted.connect(tested.append)
    dialog._server_name.setText("ollama")
    dialog._address.setText("http://models.example.org/v1")
    dialog._add_server()
    assert "without encryption" in texts(dialog)
    assert not saved
    dialog._address.setText("http://127.0.0.1:11434/v1/")
    dialog._add_server()
    assert saved[-1].remote.servers[0].address == "http://127.0.0.1:11434/v1"
    dialog._provider.addItem("ollama", "compatible:ollama")
    dialog._name.setText("qwen3-coder")
    dialog._add_model()
    assert saved[-1].remote.models == ("compatible:ollama/qwen3-coder",)
    model_id = saved[-1].remote.models[0]
    dialog._test(model_id)
    assert tested == [model_id]
    wrong = TestResult(ok=False, message="Nothing answers at it.", hint="Start the server.")
    dialog.show_test(model_id, wrong)
    assert "Nothing answers at it." in texts(dialog)
    assert "Start the server." in texts(dialog)
    dialog._remove_model(model_id)
    assert saved[-1].remote.models == ()


def test_costs_are_shown_kept_to_and_exported(
    open_window: OpenWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    stage = opened(open_window, qtbot)
    stage.window.places.show_costs()
    dialog = stage.window.places.costs
    assert dialog is not None
    qtbot.waitUntil(lambda: "0.31 USD for 4 requests" in texts(dialog))
    assert "1.69 USD of 2.00 USD left for today" in texts(dialog)
    saved: list[Settings] = []
    dialog.chosen.connect(saved.append)
    dialog._fields["day"].setText("much")
    dialog._save_budgets()
    assert not saved
    dialog._fields["day"].setText("1,50")
    dialog._save_budgets()
    assert saved[-1].budget.day == Decimal("1.50")
    qtbot.waitUntil(lambda: dialog._export.isEnabled())
    dialog.export_to(str(tmp_path / "costs.csv"))
    lines = (tmp_path / "costs.csv").read_text("utf-8").splitlines()
    assert "0.00408,USD,genai-prices" in lines[1]
    assert lines[2].endswith(",,,")


def test_an_export_without_rows_has_its_heading() -> None:
    assert csv_text(()).startswith("time,chat,run,model")


def test_thinking_is_folded_and_can_be_opened(open_window: OpenWindow, qtbot: QtBot) -> None:
    def prepare(engine: FakeEngine) -> None:
        engine.stored = [samples.chat()]
        engine.turns = {"c1": [samples.turn("writing", "t1")]}

    stage = open_window(prepare=prepare)
    stage.window._session.open_chat("c1")
    qtbot.waitUntil(lambda: stage.window.transcript.view_of("t1") is not None)
    stage.engine.post(ThinkingDelta(chat_id="c1", turn_id="t1", text="Two of them are old."))
    view = stage.window.transcript.view_of("t1")
    assert view is not None
    qtbot.waitUntil(lambda: view._thinking.text() == "Two of them are old.")
    assert not view._thinking.is_open()
    view._thinking.findChildren(QPushButton)[0].click()
    assert view._thinking.is_open()


def test_an_overview_without_money_shows_no_chart_of_it(qtbot: QtBot) -> None:
    from app.engine.places import CostView
    from app.store.costs import Total

    dialog = CostsDialog(Settings())
    qtbot.addWidget(dialog)
    dialog.show_costs(CostView(days=(), today=Total(), month=Total(), budgets=()))
    assert not dialog._money.isVisibleTo(dialog)
    assert "Today: nothing" in texts(dialog)
