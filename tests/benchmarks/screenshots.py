"""Pictures of the window in its states, light and dark, in two sizes.

    python -m tests.benchmarks.screenshots FOLDER [SCENE ...]

Uses records, not a model; needs no screen (QT_QPA_PLATFORM=offscreen is set when none is given).
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QEventLoop, QPoint, QTimer
from PySide6.QtWidgets import QApplication, QWidget

from app.bridge import Bridge
from app.engine.events import CallsProgress, FetchProgressed, ReplyDelta
from app.engine.previews import Preview
from app.engine.remotes import TestResult
from app.paths import ASSETS
from app.settings import RemoteSettings, ServerSettings, Settings
from app.store.records import Folder, Problem
from app.ui.main_window import MainWindow
from app.ui.session import Session
from app.ui.theme import Theme
from app.ui.window_state import WindowState
from sandbox.asked_table import table_of
from sandbox.question import Question
from sandbox.thumbnails import thumbnail_of
from tests.app.ui import fake_places, samples
from tests.app.ui.fake_engine import FakeEngine, model

SIZES = {"wide": (1280, 800), "small": (900, 600)}


def wait(duration_ms: int = 120) -> None:
    """Let Qt lay out and paint."""
    loop = QEventLoop()
    QTimer.singleShot(duration_ms, loop.quit)
    loop.exec()


class Studio:
    """A window over a fake engine, and the folder for its pictures."""

    def __init__(self, app: QApplication, folder: Path, theme: str, size: str) -> None:
        self.engine: FakeEngine | None = None
        self._folder, self._suffix = folder, f"{theme}-{size}"
        self._home = Path(tempfile.mkdtemp())
        self.theme = Theme(app, cast("Any", theme))
        self.bridge = Bridge(self._make)
        self.session = Session(self.bridge)
        self.window = MainWindow(self.session, WindowState(self._home), self.theme)
        self.window.resize(*SIZES[size])
        self.window.show()
        self.bridge.start()
        self.window.load()
        wait(300)

    def _make(self, mailbox: Any) -> Any:
        self.engine = FakeEngine(mailbox, current=Settings(theme=cast("Any", self.theme.choice)))
        return self.engine

    def fill(self, turns: list[Any], *, chats: bool = True) -> None:
        """Open a chat with these turns."""
        assert self.engine is not None
        self.engine.stored = samples.chats() if chats else []
        self.engine.turns = {"c1": turns}
        self.session.refresh_chats()
        self.session.open_chat("c1")
        wait()

    def shoot(self, name: str, widget: QWidget | None = None) -> None:
        """Save a picture."""
        wait()
        target = self._folder / f"{name}-{self._suffix}.png"
        (widget or self.window).grab().save(str(target))

    def close(self) -> None:
        """End the window and its engine."""
        self.window.close()
        self.bridge.close()
        self.window.deleteLater()
        wait(50)


def empty(studio: Studio) -> None:
    """Nothing there yet: no chat, no folder, no model; then a model on its way."""
    assert studio.engine is not None
    studio.engine.catalog = [
        model(present=False),
        model("Qwen2.5-Coder 7B", model_id="local:b", size_bytes=4_683_000_000, default=False,
              present=False),
        model("SmolLM2 135M", model_id="local:c", size_bytes=98_362_432, default=False,
              present=False),
    ]  # fmt: skip
    studio.session.refresh_models()
    studio.shoot("empty")
    progress = FetchProgressed(
        model_id=samples.MODEL, done_bytes=412_000_000, total_bytes=1_117_320_768,
        bytes_per_s=9_400_000.0, seconds_left=75.0, source="hub",
    )  # fmt: skip
    studio.engine.post(progress)
    studio.shoot("fetching")
    studio.window.dialogs.show_models()
    wait()
    studio.engine.post(progress)
    wait()
    studio.shoot("models", studio.window.dialogs.models)
    studio.window.dialogs.show_settings()
    settings = studio.window.dialogs.settings
    assert settings is not None
    for number in range(settings.pages.count()):
        settings.pages.setCurrentIndex(number)
        name = settings.pages.tabText(number).split()[0].lower()
        studio.shoot(f"settings-{name}", settings)


def turns(studio: Studio) -> None:
    """Writing, running, waiting, done, failed."""
    assert studio.engine is not None
    done = samples.turn("done", "t0")
    studio.fill([done, samples.turn("writing", "t1")])
    prose = "I will look at each file and move it.\n"
    reply = f"{prose}```python\n" + samples.SOURCE[:330]
    studio.engine.post(ReplyDelta(chat_id="c1", turn_id="t1", text=reply))
    studio.shoot("writing")
    running = samples.turn("running", "t1")
    studio.fill([done, running])
    studio.engine.post(
        CallsProgress(chat_id="c1", turn_id="t1", program_id="t1-p1",
                      calls=samples.program().calls)
    )  # fmt: skip
    studio.shoot("running")
    studio.fill([samples.turn("waiting", "t1")])
    studio.shoot("waiting")
    studio.window.panel.setCurrentIndex(1)
    studio.shoot("changes")
    studio.window.panel.setCurrentIndex(0)
    studio.fill([done])
    studio.shoot("done")
    studio.fill([samples.turn("undone", "t1")])
    studio.shoot("undone")
    studio.fill([samples.turn("waiting", "t1", conflicts=samples.conflicts()[:2])])
    studio.shoot("waiting-conflicts")
    studio.fill([done, samples.turn("failed", "t1")])
    studio.shoot("failed")
    studio.fill([samples.turn("interrupted", "t1")])
    studio.shoot("interrupted")
    studio.window._show_palette()
    studio.shoot("palette", studio.window.dialogs.palette)


def review(studio: Studio) -> None:
    """The review with something unusual and an item taken out."""
    studio.fill([samples.turn("waiting", "t1", changes=samples.changes(41, deletes=2))])
    studio.window.dialogs.show_review(studio.window.transcript.model.shown()[0])
    dialog = studio.window.dialogs.review
    assert dialog is not None
    room = studio.window.size()
    dialog.resize(min(1040, room.width() - 40), min(680, room.height() - 40))
    wait()
    for group in range(dialog.model.rowCount()):
        top = dialog.model.index(group, 0)
        if "Changed" in str(top.data()):
            dialog.tree.setCurrentIndex(dialog.model.index(0, 0, top))
    studio.shoot("review", dialog)
    dialog.show_conflicts(samples.conflicts())
    studio.shoot("review-conflicts", dialog)
    dialog.close()
    studio.fill([samples.turn("waiting", "t1", changes=samples.marked_changes())])
    studio.window.dialogs.show_review(studio.window.transcript.model.shown()[0])
    dialog = studio.window.dialogs.review
    assert dialog is not None
    dialog.resize(min(1040, room.width() - 40), min(680, room.height() - 40))
    wait()
    small = thumbnail_of(picture(), 640)
    dialog.preview.show_preview("icon.png", Preview(kind="image", after=small))
    studio.shoot("review-marks", dialog)
    dialog.preview.show_preview("icon.png", Preview(kind="image", before=small, after=small))
    refused = Problem(
        message="Nothing was changed: Device or resource busy (/home/ann/Downloads/notes.md).",
        hint="Close the programs that use it, then try again.",
        can_keep=True,
    )
    waiting = samples.turn("waiting", "t1", changes=samples.marked_changes())
    dialog.decide_again(replace(waiting, problem=refused))
    studio.shoot("review-fault", dialog)


def remote(studio: Studio) -> None:
    """Remote models: the line above the chat, the settings, the preview, the costs."""
    assert studio.engine is not None
    studio.engine.places.offered = fake_places.choices()
    studio.engine.places.spent = fake_places.total(7)
    studio.engine.places.keys = {"anthropic"}
    chosen = Settings(
        theme=cast("Any", studio.theme.choice),
        remote=RemoteSettings(
            models=(fake_places.CLAUDE, fake_places.HERE),
            servers=(ServerSettings(name="ollama", address="http://127.0.0.1:11434/v1"),),
        ),
    )
    studio.session.change_settings(chosen)
    wait(200)
    thought = "The listing has 41 files of three kinds. One program can move them all."
    done = samples.turn("done", "t0", model_id=fake_places.CLAUDE, thinking=thought)
    studio.fill([done], chats=True)
    studio.engine.stored[0] = replace(studio.engine.stored[0], model_id=fake_places.CLAUDE)
    studio.session.open_chat("c1")
    wait(200)
    studio.shoot("remote-chat")
    studio.window.places.show_remote()
    dialog = studio.window.places.remote
    assert dialog is not None
    wait(200)
    wrong = TestResult(
        ok=False, code="bad_key", message="Anthropic does not take the key (401).",
        hint="Set a valid key in the settings (console.anthropic.com).",
    )  # fmt: skip
    dialog.show_test(fake_places.CLAUDE, wrong)
    dialog.show_test(
        fake_places.HERE, TestResult(ok=True, message="ollama (127.0.0.1) answers: ok")
    )
    studio.shoot("remote-settings", dialog)
    studio.window.composer.set_text("Sort them")
    studio.window.places.show_outgoing()
    wait(200)
    studio.shoot("remote-preview", studio.window.places.outgoing)
    studio.window.places.show_costs()
    wait(500)
    studio.shoot("costs", studio.window.places.costs)


def picture() -> bytes:
    """A picture of the demo folder."""
    return (ASSETS / "demo" / "files" / "IMG_20240312_174530.jpg").read_bytes()


def panel(studio: Studio) -> None:
    """A table that a program asks to be edited, and the files with a selection asked for."""
    rows = [{"name": f"Ann {n}", "amount": n * 1.5, "paid": n % 2 == 0} for n in range(9)]
    asked: dict[str, Any] = {
        "kind": "person", "program_id": "p1", "ordinal": 1, "digest": "00", "line": 2,
        "effects": (),
    }  # fmt: skip
    table = Question(**asked, call="ui_table", exact=table_of(rows, "Check the amounts").text())
    studio.fill([samples.turn("asking", "t1", question=table)])
    studio.shoot("panel-table")
    with tempfile.TemporaryDirectory() as name:
        for number in range(6):
            (Path(name) / f"photo {number}.jpg").write_text("x", encoding="utf-8")
        files = Question(**asked, call="ui_selection", exact="Select files.")
        work = studio.window.panel.work
        work.show_turn(samples.turn("asking", "t2", question=files), (Folder(path=name),))
        wait(400)
        work.files.tree.setCurrentIndex(work.files.tree.indexAt(QPoint(20, 20)))
        studio.shoot("panel-files")


def main() -> None:
    """Take all pictures."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    app = QApplication.instance() or QApplication(["screenshots"])
    assert isinstance(app, QApplication)
    scenes: tuple[Callable[[Studio], None], ...] = (empty, turns, review, remote, panel)
    if len(sys.argv) > 2:
        scenes = tuple(scene for scene in scenes if scene.__name__ in sys.argv[2:])
    for theme in ("light", "dark"):
        for size in SIZES:
            for scene in scenes:
                studio = Studio(app, folder, theme, size)
                scene(studio)
                studio.close()


if __name__ == "__main__":
    main()
