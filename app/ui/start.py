"""How the window starts and ends.

In order: the application and its look; the window, empty; its first paint; only then the icons and
the engine's thread, which imports what is heavy; then the chats, the models and the chat that was
open. At the end: the window is hidden, its state is saved, the engine stops in order, Qt ends.
Thread: UI, which is the process's main thread.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from app.bridge import Bridge
from app.ui.main_window import MainWindow
from app.ui.session import Session
from app.ui.theme import Theme
from app.ui.window_state import WindowState

if TYPE_CHECKING:
    from app.engine.engine import Engine
    from app.engine.mailbox import Mailbox

STOP_S = 5.0
SIGNAL_CHECK_MS = 250


def run_window(home: Path, make_engine: Callable[[Mailbox], Engine]) -> int:
    """Run the app until its window is closed; returns the process's exit code.

    `home`: the folder of Drydock's state; `make_engine`: called on the engine's thread, may import
    what is heavy.
    """
    app = application()
    bridge = Bridge(make_engine)
    window = open_window(app, home, bridge)

    def interrupted(_number: int, _frame: object) -> None:
        window.close()

    previous = signal.signal(signal.SIGINT, interrupted)
    # Python sees a signal only when it runs: this gives it the chance while Qt waits.
    check = QTimer()
    check.timeout.connect(lambda: None)
    check.start(SIGNAL_CHECK_MS)
    try:
        return app.exec()
    finally:
        check.stop()
        signal.signal(signal.SIGINT, previous)
        bridge.close(STOP_S)


def open_window(app: QApplication, home: Path, bridge: Bridge) -> MainWindow:
    """Show the window; the engine starts when it has been painted."""
    state = WindowState(home)
    theme = Theme(app, state.theme)
    session = Session(bridge)
    window = MainWindow(session, state, theme)
    session.setParent(window)

    def started() -> None:
        bridge.start()
        window.load()

    window.first_painted.connect(started)
    window.show()
    return window


def application() -> QApplication:
    """The process's one application, made on first use."""
    app = QApplication.instance()
    if not isinstance(app, QApplication):
        app = QApplication(["drydock"])
    app.setApplicationName("drydock")
    app.setApplicationDisplayName("Drydock")
    app.setDesktopFileName("drydock")
    return app
