"""A session of the interpreter that checks types and never runs what it is given.

Owns the session and the way it is kept from running anything: the first line of what it checks is a
certain type error, so that the interpreter always stops at the check, and keeps nothing of it. The
session has no files, no tools and a short time limit all the same. Thread: any, one at a time.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable

from pydantic_monty import Monty, MontyError, MontySession, MontyTypingError

from sandbox.host_modules import external_modules

_ANY = "\nfrom typing import Any\ndef __dd_any() -> Any: ...\n"
_STOP = '__dd_never: int = ""'
_SECONDS = 2.0
_MEMORY_BYTES = 64 * 1024 * 1024


class TypeChecker:
    """Checks one text after another, with one set of stubs at a time."""

    def __init__(self, monty: Monty) -> None:
        self._monty = monty
        self._session: MontySession | None = None
        self._stubs = ""
        self._lock = threading.Lock()

    def report(self, text: str, stubs: str, helpers: Iterable[str]) -> str:
        """What is wrong with `text`, a line for each finding; empty when it cannot be told.

        `stubs`: declarations that it may use; `helpers`: names in it that stand for anything. Lines
        and columns are those of `text`.
        """
        anything = "".join(f"; {name} = __dd_any()" for name in sorted(helpers))
        with self._lock:
            try:
                session = self._started(stubs)
                session.feed_run(f"{_STOP}{anything}\n{text}")
            except MontyTypingError as error:
                return _shifted(error.display())
            except (MontyError, OSError, RuntimeError):
                self._end()
        return ""

    def close(self) -> None:
        """End the session; the next report starts another."""
        with self._lock:
            self._end()

    def _started(self, stubs: str) -> MontySession:
        if self._session is not None and self._stubs == stubs:
            return self._session
        self._end()
        session = self._monty.checkout(
            script_name="program.py",
            limits={"max_feed_duration_secs": _SECONDS, "max_memory": _MEMORY_BYTES},
            type_check=True,
            type_check_stubs=stubs + _ANY,
            type_check_format="concise",
            external_modules=external_modules(),
        )
        session.__enter__()
        self._session, self._stubs = session, stubs
        return session

    def _end(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            with contextlib.suppress(MontyError, OSError, RuntimeError):
                session.__exit__(None, None, None)


def _shifted(report: str) -> str:
    """The report without the first line of what was checked, and lines counted without it."""
    lines: list[str] = []
    for line in report.splitlines():
        name, _, rest = line.partition(":")
        number, _, rest = rest.partition(":")
        if number.isdigit() and int(number) > 1:
            lines.append(f"{name}:{int(number) - 1}:{rest}")
    return "\n".join(lines)
