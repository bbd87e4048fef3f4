"""What earlier programs of the chat left, in the flow of the next one.

Owns the nodes of variables that a program finds: each is a source of its own, so that what is known
of where its data came from holds in this program too; and what the program leaves in them in turn.
A variable that may hold something that can be called, which is not in the program's text, is taken
to do everything: it sees all variables, writes into all of them and calls every function. Pure; any
thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sandbox.flow_graph import CLEAN
from sandbox.flow_names import Function
from sandbox.flow_walk import Walk
from sandbox.labels import joined
from sandbox.session_state import KEPT, SessionState


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A variable that the program finds. `held`, `led`: the numbers of its sources."""

    node: int
    held: int
    led: int


class FoundVariables:
    """The variables that a program finds and leaves."""

    def __init__(self, walk: Walk, state: SessionState) -> None:
        """Before the program is walked."""
        self._walk = walk
        graph = walk.graph
        self.found: dict[str, Found] = {}
        names = {**state.names, **dict.fromkeys(state.definitions)}
        first = CLEAN
        for name, variable in names.items():
            node, led = walk.outer(f"{KEPT}{name}"), graph.node()
            found = Found(node=node, held=graph.source(node), led=graph.source(led))
            graph.lead(led, node)
            if variable is not None:
                graph.same(first, node)  # several names may stand for one object
                first = node
            self.found[name] = found
        self._opaque = [n for n, v in names.items() if v is None or not v.plain]
        self._world = CLEAN

    def open_world(self, used: Iterable[str]) -> None:
        """After the program is walked. `used`: the variables that its front declares."""
        callable_ones = set(self._opaque) & set(used)
        if not callable_ones:
            return
        graph, functions = self._walk.graph, self._walk.calls.functions
        world, called = graph.node(), graph.node()
        reached = [*functions.values()]
        function = Function(
            name="",
            number=graph.source(called),
            entry=graph.node(),
            returned=world,
            loose=world,
            does_everything=True,
        )
        functions[function.number] = function
        for found in self.found.values():
            graph.flow(found.node, world)
            graph.same(found.node, world)
        graph.write(world, world)
        for name in callable_ones:
            graph.flow(called, self.found[name].node)
        for one in reached:
            for node in (*one.positional, *one.by_name.values(), one.loose):
                graph.flow(world, node)
                graph.same(world, node)
            graph.lead(world, one.entry)

    def marks(self) -> Mapping[str, int]:
        """The mark of what is in each variable at the end, when the graph is solved."""
        graph, scope = self._walk.graph, self._walk.scope
        names = {*self.found, *scope.made, *scope.names()}
        return {
            name: joined(
                graph.mark(node)
                for node in (
                    *scope.made.get(name, ()),
                    *((scope.own(name),) if scope.has(name) else ()),
                    *((self.found[name].node,) if name in self.found else ()),
                )
            )
            for name in names
            if not name.startswith(("__dd_", "outer "))
        }
