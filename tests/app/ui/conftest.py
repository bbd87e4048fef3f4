"""A window over a fake engine, and one over the real engine with a scripted model.

Every window is closed and its engine's thread ended after the test, passed or not.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.bridge import Bridge
from app.engine.mailbox import Mailbox
from app.ui.main_window import MainWindow
from app.ui.session import Session
from app.ui.theme import Theme
from app.ui.window_state import WindowState
from tests.app.ui.fake_engine import FakeEngine


@dataclass
class Stage:
    """A window with its engine. `engine` is there once `opened` has returned."""

    window: MainWindow
    bridge: Bridge
    engines: list[Any] = field(default_factory=list)
    closed: bool = False

    @property
    def engine(self) -> Any:
        """The engine behind the window."""
        return self.engines[0]

    def asked(self, method: str) -> list[object]:
        """The arguments of every call of `method`, in order."""
        return [arguments for name, arguments in self.engine.asked if name == method]

    def close(self) -> None:
        """Close the window and end the engine, as the app does; may be called twice."""
        if self.closed:
            return
        self.closed = True
        self.window.close()
        self.bridge.close()
        self.window.deleteLater()
        QApplication.sendPostedEvents(None, int(QEvent.Type.DeferredDelete.value))


@pytest.fixture(autouse=True)
def no_widgets_of_former_tests(qapp: QApplication) -> None:
    """Destroy what earlier tests left to be deleted; without an event loop it would pile up."""
    qapp.sendPostedEvents(None, int(QEvent.Type.DeferredDelete.value))


type OpenWindow = Callable[..., Stage]


@pytest.fixture
def open_window(qtbot: QtBot, drydock_home: Path) -> Iterator[OpenWindow]:
    """Opens a window: `make` makes its engine, `prepare` fills a fake one before it is asked."""
    stages: list[Stage] = []
    theme = Theme(cast("QApplication", QApplication.instance()), "light")

    def make_fake(mailbox: Mailbox) -> Any:
        return FakeEngine(mailbox)

    def opened(
        make: Callable[[Mailbox], Any] = make_fake,
        prepare: Callable[[FakeEngine], None] = lambda _engine: None,
    ) -> Stage:
        engines: list[Any] = []

        def make_engine(mailbox: Mailbox) -> Any:
            engine = make(mailbox)
            if isinstance(engine, FakeEngine):
                prepare(engine)
            engines.append(engine)
            return engine

        bridge = Bridge(make_engine)
        session = Session(bridge)
        window = MainWindow(session, WindowState(drydock_home), theme)
        session.setParent(window)
        stage = Stage(window=window, bridge=bridge, engines=engines)
        stages.append(stage)
        with qtbot.waitSignal(session.models_changed, timeout=20_000):
            window.show()
            bridge.start()
            window.load()
        return stage

    yield opened
    for stage in stages:
        stage.close()
    theme.deleteLater()
    left = [thread.name for thread in threading.enumerate() if thread.name == "engine"]
    assert not left, "an engine's thread outlived its window"
