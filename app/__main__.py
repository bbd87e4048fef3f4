"""The way in: `drydock` opens the window, `drydock COMMAND` runs the command line.

Order of starting: home, log, then either the command line, or Qt, the window, and last, on the
engine's thread, everything that is slow to import.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from app.errors import AppError

if TYPE_CHECKING:
    from app.engine.engine import Engine
    from app.engine.mailbox import Mailbox


def main() -> int:
    """Run Drydock with this process's arguments; returns the exit code."""
    arguments = sys.argv[1:]
    if arguments == ["--version"]:
        from importlib.metadata import version

        print(f"drydock {version('drydock')}")  # noqa: T201  # the command line's answer
        return 0
    if arguments:
        from app.cli import run

        return run(arguments)
    return _open_window()


def _open_window() -> int:
    from app.log import start_log
    from app.paths import open_home
    from app.qt_check import missing_qt_hint

    try:
        paths = open_home()
    except AppError as error:
        return _fail(error.message, error.hint, 1)
    start_log(paths.logs)
    hint = missing_qt_hint()
    if hint:
        return _fail("The window cannot be opened: Qt does not load.", hint, 1)
    if _has_no_screen():
        return _fail(
            "The window cannot be opened: there is no screen (DISPLAY and WAYLAND_DISPLAY are "
            "not set).",
            'Without a screen: drydock run "TASK" --folder F, or drydock run --demo',
            1,
        )
    from app.ui.start import run_window

    def make_engine(mailbox: Mailbox) -> Engine:
        from app.engine.engine import Engine

        return Engine(paths, mailbox)

    return run_window(paths.home, make_engine)


def _has_no_screen() -> bool:
    if sys.platform != "linux" or os.environ.get("QT_QPA_PLATFORM"):
        return False
    return not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _fail(message: str, hint: str, code: int) -> int:
    from app.cli import say

    say(f"drydock: {message}")
    say(hint)
    return code


if __name__ == "__main__":
    sys.exit(main())
