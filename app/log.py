"""Logging to a file under the home. Ids, never contents. Call once per process.

What a scrubber knows is taken out of every line, tracebacks included. Thread: any.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from logging.handlers import RotatingFileHandler
from pathlib import Path

_FORMAT = "%(asctime)s %(levelname)s %(name)s %(message)s"


_SCRUBBERS = 4
_scrubbers: deque[Callable[[str], str]] = deque(maxlen=_SCRUBBERS)


def scrub_log(scrub: Callable[[str], str]) -> None:
    """Have `scrub` clean every line, to the end of the process: errors are told last."""
    _scrubbers.append(scrub)


def scrubbed(text: str) -> str:
    """`text` as it may be written down."""
    for scrub in tuple(_scrubbers):
        text = scrub(text)
    return text


class _Formatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return scrubbed(super().format(record))


def start_log(folder: Path, *, debug: bool = False) -> None:
    """Send all records to ``drydock.log`` in `folder`, three files of 1 MB."""
    folder.mkdir(parents=True, exist_ok=True)
    handler = RotatingFileHandler(
        folder / "drydock.log", maxBytes=1_000_000, backupCount=2, encoding="utf-8"
    )
    handler.setFormatter(_Formatter(_FORMAT))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.DEBUG if debug else logging.INFO)
    for noisy in ("httpx", "httpcore", "asyncio"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
