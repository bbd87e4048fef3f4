"""What all parts of a turn's life around `turn.py` work with.

Owns nothing: the engine made it all. Thread: engine.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from app.engine.mailbox import Mailbox
from app.paths import Paths
from app.settings import Settings
from app.store.chats import ChatStore
from app.store.journal import TurnJournal
from app.store.state_file import StateFiles


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnContext:
    """The store and what surrounds it. `worker`: where blocking work is done; `states`: what the
    chats' programs left for the next one."""

    paths: Paths
    store: ChatStore
    journal: TurnJournal
    mailbox: Mailbox
    settings: Callable[[], Settings]
    states: StateFiles
    worker: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(max_workers=4, thread_name_prefix="turn")
    )
