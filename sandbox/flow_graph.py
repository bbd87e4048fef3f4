"""The graph in which marks spread from values to values until nothing changes.

Owns nodes, edges and aliases. A node is a value of a program. Values that may be the same object
are one class, whose store takes what is written into any of them. Order of time is not looked at:
what could ever be in a value is in it. It must not know syntax. Pure; any thread.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from sandbox.labels import Marks, bit

CLEAN = 0
"""The node of values that come from nowhere; nothing flows into it."""


class Graph:
    """Nodes are numbers. `sources`: how many marks have been given out."""

    def __init__(self) -> None:
        self.sources = 0
        self._marks: list[int] = [0]
        self._flows: list[list[int]] = [[]]
        self._leads: list[list[int]] = [[]]
        self._parents: list[int] = [0]
        self._writes: list[tuple[int, int, bool]] = []
        self._stores: dict[int, int] = {}

    def node(self) -> int:
        """A new value."""
        self._marks.append(0)
        self._flows.append([])
        self._leads.append([])
        self._parents.append(len(self._parents))
        return len(self._marks) - 1

    def source(self, node: int) -> int:
        """Make `node` a source of its own; its number."""
        number = self.sources
        self.sources += 1
        self._marks[node] |= bit(number)
        return number

    def flow(self, origin: int, to: int) -> None:
        """Data of `origin` is in `to`."""
        if origin and to and origin != to:
            self._flows[origin].append(to)

    def lead(self, origin: int, to: int) -> None:
        """`origin` decides on `to`."""
        if origin and to:
            self._leads[origin].append(to)

    def same(self, one: int, other: int) -> None:
        """Both may be the same object: what is written into one is in the other."""
        if one and other:
            first, second = self._root(one), self._root(other)
            if first != second:
                self._parents[first] = second

    def write(self, origin: int, into: int, *, leads: bool = False) -> None:
        """`origin` is written into the object `into`, or decides on what is written."""
        if origin and into:
            self._writes.append((origin, into, leads))

    def merged(self, nodes: Iterable[int]) -> int:
        """A value made of several."""
        found = {node for node in nodes if node}
        if len(found) <= 1:
            return found.pop() if found else CLEAN
        made = self.node()
        for node in found:
            self._flows[node].append(made)
        return made

    def mark(self, node: int) -> int:
        """The mark of a value, as far as it was solved."""
        return self._marks[node]

    def solve(self, marks: Marks) -> None:
        """Let all marks spread; may be called again after edges were added."""
        self._open_stores()
        waiting = deque(node for node, mark in enumerate(self._marks) if mark)
        queued = bytearray(len(self._marks))
        for node in waiting:
            queued[node] = 1
        values = self._marks
        while waiting:
            node = waiting.popleft()
            queued[node] = 0
            mark = values[node]
            for to in self._flows[node]:
                if mark & ~values[to]:
                    values[to] |= mark
                    if not queued[to]:
                        queued[to] = 1
                        waiting.append(to)
            if self._leads[node]:
                led = marks.as_influence(mark)
                for to in self._leads[node]:
                    if led & ~values[to]:
                        values[to] |= led
                        if not queued[to]:
                            queued[to] = 1
                            waiting.append(to)

    def _open_stores(self) -> None:
        """Give every class of objects that is written into its store, and its members the edges."""
        roots = {self._root(into) for _, into, _ in self._writes}
        members: dict[int, list[int]] = {root: [] for root in roots}
        for node in range(1, len(self._parents)):
            found = members.get(self._root(node))
            if found is not None:
                found.append(node)
        for root, nodes in members.items():
            store = self._stores.get(root)
            if store is None:
                store = self.node()
                self._stores[root] = store
            self._flows[store] = [node for node in nodes if node != store]
        for origin, into, leads in self._writes:
            store = self._stores[self._root(into)]
            (self._leads if leads else self._flows)[origin].append(store)

    def _root(self, node: int) -> int:
        parents = self._parents
        while parents[node] != node:
            parents[node] = parents[parents[node]]
            node = parents[node]
        return node
