"""The one thread that owns the only asyncio loop, the store and the engine.

Started by the bridge (window) and stopped in order: turns first, then models and sandbox, then the
store, then the loop. Knows no Qt.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar

from app.engine.mailbox import Mailbox

if TYPE_CHECKING:
    from app.engine.engine import Engine

T = TypeVar("T")
_log = logging.getLogger(__name__)


class EngineThread:
    """Runs an engine on a thread named ``engine``.

    `make_engine` is called on that thread and may import what is heavy; what it raises is handed
    to every `submit`. `on_ready` is called on the engine's loop when events wait in `mailbox`.
    """

    def __init__(
        self, make_engine: Callable[[Mailbox], Engine], on_ready: Callable[[], None]
    ) -> None:
        self.mailbox = Mailbox()
        self._make_engine = make_engine
        self._on_ready = on_ready
        self._loop = asyncio.new_event_loop()
        self._engine: Future[Engine] = Future()
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)

    def start(self) -> None:
        """Start the thread; returns at once."""
        self._thread.start()

    def submit(self, make: Callable[[Engine], Coroutine[Any, Any, T]]) -> Future[T]:
        """Run ``make(engine)`` on the engine's loop; waits for the engine to be there first."""
        return asyncio.run_coroutine_threadsafe(self._with_engine(make), self._loop)

    def stop(self, timeout_s: float = 5.0) -> None:
        """End the engine in order and join the thread, within about `timeout_s`."""
        if not self._thread.is_alive():
            if not self._loop.is_closed():
                self._loop.close()
            return
        try:
            asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(timeout_s)
        except TimeoutError:
            _log.warning("engine did not close within %.1f s", timeout_s)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout_s)

    async def _with_engine(self, make: Callable[[Engine], Coroutine[Any, Any, T]]) -> T:
        engine = await asyncio.shield(asyncio.wrap_future(self._engine))
        return await make(engine)

    async def _close(self) -> None:
        if self._engine.done() and self._engine.exception() is None:
            await self._engine.result().close()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self.mailbox.bind(self._loop, self._on_ready)
        self._loop.call_soon(self._make)
        try:
            self._loop.run_forever()
        finally:
            self._cancel_rest()
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
            self._loop.close()

    def _make(self) -> None:
        try:
            engine = self._make_engine(self.mailbox)
        except BaseException as error:
            _log.exception("engine could not start")
            self._engine.set_exception(error)
        else:
            self._engine.set_result(engine)

    def _cancel_rest(self) -> None:
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        if tasks:
            self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
