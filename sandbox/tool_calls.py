"""Answers the calls of tools in one run, those that are awaited together at the same time.

Owns counting, waiting and what is under way. A tool is called by its name and then waited for, or
by its name after `LATER` (the dialect writes it for what is awaited) and settled when the program
waits. It must not judge: the runner does, as for every call. Thread: the runner's.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from typing import Any

from pydantic_monty import ExternalSettledResult

from sandbox.effects import Effect
from sandbox.errors import Fault, ProgramFaultError, StoppedError
from sandbox.host_answer import Answer
from sandbox.limits import Limits
from sandbox.tape import Result
from sandbox.tool_run import ToolRun
from sandbox.tools import Planned, Tool

LATER = "__dd_later_"
_LOOK_S = 0.05


@dataclass(frozen=True, slots=True)
class Pending:
    """The value of a call that the program will wait for."""

    future: Future[Any]


class ToolCalls:
    """The tools as a room of host calls. `count`: of calls so far."""

    def __init__(self, run: ToolRun, limits: Limits) -> None:
        self._run = run
        self._limits = limits
        self._pending: dict[int, Future[Any]] = {}
        self._ordinals: dict[int, Future[Any]] = {}
        self._bounded = 0
        self.count = 0

    def answer(
        self, name: str, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> Answer | None:
        """What call `name` would do, or None for what is no tool.

        Raises what a program may see, and `ProgramFaultError` when it made too many calls.
        """
        later = name.startswith(LATER)
        tool = self._run.tools.get(name.removeprefix(LATER))
        if tool is None:
            return None
        self._count(tool)
        planned: Planned[Any] = tool.planned(self._run, args, kwargs)
        begin = planned.start

        def do() -> object:
            if not later:
                return self._waited(begin()) if begin is not None else planned.do()
            return Pending(begin() if begin is not None else _done(planned.do))

        return Answer(
            effects=planned.effects,
            do=do,
            exact=planned.exact,
            choices=planned.choices,
            asks_person=planned.asks_person,
            taken=planned.taken,
            more=planned.more,
        )

    def has(self, name: str) -> bool:
        """Whether a call is a tool's."""
        return self._run.tools.get(name.removeprefix(LATER)) is not None

    def unseen(self, name: str) -> object:
        """What a call gives that was made, but whose answer was lost."""
        tool = self._run.tools.get(name.removeprefix(LATER))
        return None if tool is None else tool.unseen()

    def counted(self, name: str) -> None:
        """A call of a tool that is answered without it."""
        tool = self._run.tools.get(name.removeprefix(LATER))
        if tool is not None:
            self._count(tool)

    def again(self, name: str, value: object) -> None:
        """Let the stage be changed as a call that is answered without it changed it before."""
        tool = self._run.tools.get(name.removeprefix(LATER))
        if tool is not None and tool.again is not None and value is not None:  # None: it failed
            tool.again(self._run, value)

    def approve(self, effects: Sequence[Effect]) -> None:
        """The person looked at these and said yes: their hosts are named, on this network too."""
        for effect in effects:
            if effect.path.startswith(("http://", "https://")):
                self._run.network.allow(effect.path)

    def hint(self, name: str) -> str:
        """The tool that a misspelt name may mean, as a question."""
        return self._run.tools.hint(name)

    def keep(self, call_id: int, ordinal: int, future: Future[Any]) -> None:
        """Remember a call until the program waits for it. `ordinal`: its number among all calls."""
        self._pending[call_id] = future
        self._ordinals[ordinal] = future

    def drain(self, ordinals: Collection[int]) -> None:
        """Wait until those of these calls that are under way are done."""
        for ordinal in ordinals:
            if ordinal in self._ordinals:
                self._wait([self._ordinals[ordinal]])

    def settle(
        self,
        call_ids: Collection[int],
        shown_error: Callable[[BaseException], BaseException],
        *,
        everything: bool = False,
    ) -> dict[int, ExternalSettledResult]:
        """Wait until one of these calls is done, or all; the results of those that are.

        Raises `StoppedError`, and what is no error of the program's.
        """
        futures = {call_id: self._pending[call_id] for call_id in call_ids}
        if everything:
            for future in futures.values():
                self._wait([future])
        else:
            self._wait(futures.values())
        results: dict[int, ExternalSettledResult] = {}
        for call_id, future in futures.items():
            if not future.done():
                continue
            del self._pending[call_id]
            error = future.exception()
            if error is None:
                results[call_id] = {"return_value": future.result()}
            else:
                results[call_id] = {"exception": shown_error(error)}
        return results

    def close(self) -> None:
        """End what is under way."""
        for future in self._pending.values():
            future.cancel()
        self._pending.clear()
        self._run.close()

    def _waited(self, future: Future[Any]) -> object:
        self._wait([future])
        return future.result()

    def _wait(self, futures: Collection[Future[Any]]) -> None:
        """Wait for one of `futures`, and look after Stop meanwhile."""
        while not wait(futures, timeout=_LOOK_S, return_when=FIRST_COMPLETED).done:
            if self._run.stopped():
                raise StoppedError

    def _count(self, tool: Tool) -> None:
        self.count += 1
        self._bounded += tool.is_bounded
        if self._bounded <= self._limits.tool_calls:
            return
        raise ProgramFaultError(
            Fault(
                type="CallLimitError",
                message=f"the program called tools more than {self._limits.tool_calls:,} times",
                hint=f"Ask {tool.name} for more at once, or for fewer things.",
            )
        )


def known(result: Result) -> Future[Any]:
    """A value that is there already, as something to wait for."""
    future: Future[Any] = Future()
    future.set_result(result.value)
    return future


def _done(do: Callable[[], Any]) -> Future[Any]:
    """What is done at once, as something to wait for; its error is the program's, later."""
    future: Future[Any] = Future()
    try:
        future.set_result(do())
    except (OSError, ValueError, TypeError, LookupError, ArithmeticError) as error:
        future.set_exception(error)
    return future
