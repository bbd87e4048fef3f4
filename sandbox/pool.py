"""The interpreter's worker processes, with one session kept ready.

Owns starting, warming, giving out and orderly stopping. It must not run programs. Thread: any;
sessions are given to one thread at a time.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import threading
import time
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from pathlib import Path

from pydantic_monty import Monty, MontyCrashedError, MontyError, MontySession, OSPolicy, TimeZone

from sandbox.errors import SandboxUnavailableError, StateUnusableError
from sandbox.host_modules import external_modules
from sandbox.limits import Limits
from sandbox.prelude import PRELUDE
from sandbox.type_checker import TypeChecker

# Leaving the process within milliseconds of the last call can abort it.
_CLOSING_PAUSE_S = 0.05
_MAX_SUSPENSIONS = 10_000_000
_MAX_WORKERS = 8
_ZONEINFO = "zoneinfo/"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadySession:
    """A session with the prelude fed. `pid`: of its worker; `limits`: those it enforces."""

    session: MontySession
    pid: int | None
    limits: Limits


class SandboxPool:
    """Gives out fresh sessions. `limits`: what the warm session is made for; `stubs`: of the tools,
    for a checker that is warm as well.
    """

    def __init__(self, limits: Limits | None = None, *, stubs: str = "") -> None:
        self._stubs = stubs
        self._limits = limits or Limits()
        self._monty: Monty | None = None
        self._warm: ReadySession | None = None
        self._checker: TypeChecker | None = None
        self._warming: threading.Thread | None = None
        self._lock = threading.Lock()

    def start(self) -> None:
        """Start the workers and warm a session; raises `SandboxUnavailableError`."""
        if self._monty is not None:
            return
        try:
            monty = Monty(min_processes=1, max_processes=_MAX_WORKERS)
            monty.__enter__()
        except Exception as error:
            raise _unavailable(error) from error
        self._monty = monty
        self._start_warming()

    def close(self) -> None:
        """Stop all workers; the pool can be started again."""
        with self._lock:
            monty, self._monty = self._monty, None
        if monty is None:
            return
        if self._warming is not None:
            self._warming.join()
        with self._lock:
            warm, self._warm = self._warm, None
            checker, self._checker = self._checker, None
        if checker is not None:
            checker.close()
        if warm is not None:
            _leave(warm.session)
        monty.__exit__(None, None, None)
        time.sleep(_CLOSING_PAUSE_S)

    def __enter__(self) -> SandboxPool:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextlib.contextmanager
    def session(self, limits: Limits, state: bytes = b"") -> Generator[ReadySession]:
        """A session for one program: a fresh one, or one with the `state` that `dump` gave.

        Raises `StateUnusableError` for a state that cannot be restored, and
        `SandboxUnavailableError`.
        """
        self.start()
        if state:
            ready = self._restored(limits, state)
        else:
            ready = self._take(limits)
            self._start_warming()
        try:
            yield ready
        finally:
            _leave(ready.session)

    def type_report(self, text: str, stubs: str, helpers: Iterable[str]) -> str:
        """What the type checker says of `text`, as `TypeChecker.report`; nothing is run."""
        self.start()
        return self._checker_of().report(text, stubs, helpers)

    def _checker_of(self) -> TypeChecker:
        with self._lock:
            if self._monty is None:
                raise SandboxUnavailableError("The sandbox is closed.")
            if self._checker is None:
                self._checker = TypeChecker(self._monty)
            return self._checker

    def _take(self, limits: Limits) -> ReadySession:
        if self._warming is not None:
            self._warming.join()
        with self._lock:
            warm = self._warm
            if warm is not None and warm.limits == limits:
                self._warm = None
                if _is_alive(warm.pid):
                    return warm
                _leave(warm.session)
        try:
            return self._prepare(limits)
        except MontyError:
            # A worker that died while idle is replaced by the pool: once more is enough.
            try:
                return self._prepare(limits)
            except Exception as error:
                raise _unavailable(error) from error
        except Exception as error:
            raise _unavailable(error) from error

    def _start_warming(self) -> None:
        with self._lock:
            busy = self._warming is not None and self._warming.is_alive()
            if self._monty is None or self._warm is not None or busy:
                return
            self._warming = threading.Thread(target=self._warm_up, name="sandbox-warm", daemon=True)
            self._warming.start()

    def _warm_up(self) -> None:
        try:
            ready = self._prepare(self._limits)
        except Exception:  # The next program's own start reports what is wrong.
            return
        with self._lock:
            first = self._checker is None and bool(self._stubs)
            if self._warm is None:
                self._warm, ready = ready, None
        if ready is not None:
            _leave(ready.session)
        if first:
            self._checker_of().report("pass", self._stubs, ())

    def _restored(self, limits: Limits, state: bytes) -> ReadySession:
        try:
            session = self._checkout(limits)
        except Exception as error:
            raise _unavailable(error) from error
        try:
            session.load_session(state)
        except Exception as error:
            _leave(session)
            raise StateUnusableError(
                "What earlier programs of this chat defined cannot be restored.",
                hint="It starts fresh: define again what is needed.",
            ) from error
        return ReadySession(session=session, pid=session.worker_pid, limits=limits)

    def _prepare(self, limits: Limits) -> ReadySession:
        session = self._checkout(limits)
        try:
            session.feed_run(PRELUDE, cwd="/")
        except BaseException:
            _leave(session)
            raise
        return ReadySession(session=session, pid=session.worker_pid, limits=limits)

    def _checkout(self, limits: Limits) -> MontySession:
        monty = self._monty
        if monty is None:
            raise SandboxUnavailableError("The sandbox is closed.")
        session = monty.checkout(
            script_name="program.py",
            limits={
                "max_feed_duration_secs": limits.interpreter_s,
                "max_memory": limits.memory_bytes,
                "max_suspensions": _MAX_SUSPENSIONS,
            },
            assert_message_annotations=False,
            os_policy=_os_policy(),
            external_modules=external_modules(),
        )
        session.__enter__()
        return session


def _leave(session: MontySession) -> None:
    with contextlib.suppress(MontyError, OSError, RuntimeError):
        session.__exit__(None, None, None)


def _is_alive(pid: int | None) -> bool:
    if pid is None or os.name == "nt":
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _os_policy() -> OSPolicy:
    """The machine's time zone; sleeping takes no time, since nothing moves while a program runs.

    The clock and entropy are the host's, which records what it answers.
    """
    return {
        "timezone": _time_zone(),
        "sleep": "zero",
        "datetime": "call_host",
        "random_start": "call_host",
    }


def _time_zone() -> str | TimeZone:
    named = os.environ.get("TZ", "").lstrip(":")
    if not named:
        with contextlib.suppress(OSError):
            target = Path("/etc/localtime").resolve().as_posix()
            if _ZONEINFO in target:
                named = target.rpartition(_ZONEINFO)[2]
    if "/" in named and not named.startswith("/"):
        return named
    now = dt.datetime.now().astimezone()
    offset = now.utcoffset() or dt.timedelta()
    return {"offset_seconds": int(offset.total_seconds()), "name": now.tzname() or "UTC"}


def _unavailable(error: Exception) -> SandboxUnavailableError:
    if isinstance(error, SandboxUnavailableError):
        return error
    lost = isinstance(error, MontyCrashedError)
    what = "lost its worker process" if lost else "could not be started"
    return SandboxUnavailableError(
        f"The program interpreter {what}: {error}",
        hint="Try again; if it stays so, reinstall the package pydantic-monty.",
    )
