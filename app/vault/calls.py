"""Calls that may never come back, each on a thread of its own and waited for at most so long.

A keyring speaks with another process, which may show a question or hang. Such a thread cannot be
ended: it is left alone, and while it hangs no further call of its kind is begun. Thread: any.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future


class BoundedCalls:
    """One call at a time; `TimeoutError` for what takes longer than it may."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._turn = threading.Lock()

    def run[T](self, work: Callable[[], T], timeout_s: float) -> T:
        """What `work` returns or raises. `timeout_s` counts for waiting for an earlier call too."""
        future: Future[T] = Future()
        if not self._turn.acquire(timeout=timeout_s):
            raise TimeoutError

        def call() -> None:
            try:
                future.set_result(work())
            except BaseException as error:
                future.set_exception(error)
            finally:
                self._turn.release()

        threading.Thread(target=call, name=self._name, daemon=True).start()
        return future.result(timeout_s)
