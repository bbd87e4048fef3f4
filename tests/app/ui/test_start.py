"""Starting and ending the app in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import signal, sys, threading
from pathlib import Path
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from app.ui.main_window import MainWindow
from app.ui.start import run_window

HEAVY = {"pydantic_ai", "llama_cpp", "pydantic_monty", "sqlite_utils", "httpx", "qtawesome"}
engines = []

def make(mailbox):
    print("heavy before the engine:", sorted(HEAVY & set(sys.modules)))
    from tests.app.ui.fake_engine import FakeEngine
    engines.append(FakeEngine(mailbox))
    return engines[0]

def end():
    window = next(w for w in QApplication.topLevelWidgets() if isinstance(w, MainWindow))
    if window._session.models:
        END
    else:
        QTimer.singleShot(10, end)

QTimer.singleShot(0, end)
code = run_window(Path(sys.argv[1]), make)
print("closed:", engines[0].closed, "threads:", threading.active_count())
sys.exit(code)
"""


def run(home: Path, end: str) -> subprocess.CompletedProcess[str]:
    """Run the app until `end` ends it."""
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "DRYDOCK_HOME": str(home)}
    return subprocess.run(
        [sys.executable, "-c", SCRIPT.replace("END", end), str(home)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=environment,
        cwd=Path(__file__).resolve().parents[3],
    )


def test_the_window_comes_before_anything_heavy_and_ends_in_order(drydock_home: Path) -> None:
    done = run(drydock_home, "window.close()")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] in ("heavy before the engine: []", "heavy before the engine: ['qtawesome']")
    assert lines[1] == "closed: True threads: 1"
    assert (drydock_home / "window.ini").is_file()


def test_an_interrupt_closes_the_window_in_order(drydock_home: Path) -> None:
    done = run(drydock_home, "signal.raise_signal(signal.SIGINT)")
    assert done.returncode == 0, done.stderr
    assert "closed: True threads: 1" in done.stdout
