"""Calls: what goes into them, what they may call in turn, and what comes out.

Owns the record of every call and the links from calls to the program's own functions, found as
functions spread through the graph like data: through names, containers, attributes, arguments and
returned values. A call that is not known does everything: writes into all that it is given and
calls all of it. Pure; any thread.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sandbox.flow_graph import CLEAN, Graph
from sandbox.flow_names import Function
from sandbox.flow_tables import (
    ALIASING,
    FILE_METHODS,
    NEVER_CALLING,
    OPENERS,
    PATH_FIRST,
    PATH_OWNER,
    PLAIN_METHODS,
    PURE_DOTTED,
    PURE_FUNCTIONS,
    PURE_ROOTS,
    WRITE_METHODS,
    WRITING,
)

LATER = "__dd_later_"
_MADE_BY = frozenset({"__init__", "__new__", "__post_init__", "__call__"})


@dataclass(slots=True, eq=False, kw_only=True)
class CallSite:
    """A call as it stands in the program.

    `callee`: the dotted name of what is not the program's own, ``.name`` for a method, empty for
    what the program computes; `where`: what says where it acts, `what`: the rest that goes in;
    `pc`: what decides on whether it happens; `value`: what comes out; `number`: as a source.
    """

    node: ast.Call | ast.expr
    callee: str
    where: int
    what: int
    entering: int
    pc: int
    value: int
    number: int


@dataclass(slots=True, eq=False, kw_only=True)
class _Link:
    """A call that may call functions of the program."""

    callee: int
    owner: int
    method: str
    args: Sequence[int]
    named: Mapping[str | None, int]
    plain: bool
    pc: int
    value: int
    done: set[int] = field(default_factory=set[int])


class Calls:
    """The calls of one program. `trap`: where errors of a call go is said by the caller."""

    def __init__(self, graph: Graph, methods: frozenset[str], stored: frozenset[str]) -> None:
        self.sites: list[CallSite] = []
        self.functions: dict[int, Function] = {}
        self._graph = graph
        self._own = methods | stored
        self._methods = methods
        self._stored = stored
        self._links: list[_Link] = []

    def called(
        self,
        node: ast.Call,
        name: str,
        *,
        callee: int,
        owner: int,
        args: Sequence[int],
        named: Mapping[str | None, int],
        pc: int,
    ) -> int:
        """A call as it is written; `name` as in `CallSite.callee`. Gives its value."""
        site = self._site(node, name, callee, owner, args, named, pc)
        method = name[1:] if name.startswith(".") else ""
        if self._is_pure(name, method, node):
            return site.value
        values = [*args, *named.values()]
        plain = not any(isinstance(item, ast.Starred) for item in node.args)
        into = [owner] if method else values
        if name.rpartition(".")[2] in WRITING:
            into = [*into, owner]  # the module keeps it
        self._written(values, into, pc)
        if method in FILE_METHODS and method not in self._own:
            return site.value
        self._aliased(site.value, [*into, *values])
        if method not in NEVER_CALLING or method in self._own:
            self._links.append(
                _Link(
                    callee=callee,
                    owner=owner,
                    method=method,
                    args=args,
                    named=named,
                    plain=plain,
                    pc=pc,
                    value=site.value,
                )
            )
        return site.value

    def invoked(
        self,
        node: ast.expr,
        callee: int,
        args: Sequence[int],
        named: Mapping[str | None, int],
        pc: int,
    ) -> int:
        """A call that is not written as one: a decorator."""
        site = self._site(node, "", callee, CLEAN, args, named, pc)
        self._aliased(site.value, args)
        self._links.append(
            _Link(
                callee=callee,
                owner=CLEAN,
                method="",
                args=args,
                named=named,
                plain=True,
                pc=pc,
                value=site.value,
            )
        )
        return site.value

    def connect(self) -> bool:
        """Join calls with the functions that have reached them since; False: nothing is new."""
        news = False
        for link in self._links:
            into = self._graph.mark(link.callee)
            given = 0
            for node in (*link.args, *link.named.values()):
                given |= self._graph.mark(node)
            own = False
            for number, function in self.functions.items():
                held = bool(into >> (2 * number) & 1)
                own = own or held
                if number in link.done or not (held or given >> (2 * number) & 1):
                    continue
                if held and not self._named(link, function):
                    continue
                if not held and own and not link.method:
                    continue
                link.done.add(number)
                self._connect(link, function, direct=held and not given >> (2 * number) & 1)
                news = True
        return news

    def _named(self, link: _Link, function: Function) -> bool:
        """Whether a call through this name can mean the function."""
        if function.does_everything:
            return True
        if function.is_method:
            return function.name in _MADE_BY or not link.method or function.name == link.method
        return not link.method or link.method not in self._methods or link.method in self._stored

    def _connect(self, link: _Link, function: Function, *, direct: bool) -> None:
        graph = self._graph
        graph.flow(function.returned, link.value)
        graph.same(function.returned, link.value)
        graph.flow(link.pc, function.entry)
        graph.lead(link.callee, function.entry)
        skipped = 0
        if function.is_method and function.positional:
            skipped = 1
            origin = link.owner or link.callee
            graph.flow(origin, function.positional[0])
            graph.same(origin, function.positional[0])
        free = function.positional[skipped:]
        if direct and link.plain and None not in link.named and not function.loose:
            pairs = [*zip(link.args, free, strict=False)]
            pairs += [(v, function.by_name[k]) for k, v in link.named.items()
                      if k in function.by_name]  # fmt: skip
            if len(pairs) == len(link.args) + len(link.named):
                self._pass(pairs)
                return
        to = [*free, *function.by_name.values(), function.loose]
        given = [*link.args, *link.named.values(), link.owner]
        self._pass([(one, other) for one in given for other in to])

    def _pass(self, pairs: Sequence[tuple[int, int]]) -> None:
        for given, parameter in pairs:
            self._graph.flow(given, parameter)
            self._graph.same(given, parameter)

    def _site(
        self,
        node: ast.Call | ast.expr,
        name: str,
        callee: int,
        owner: int,
        args: Sequence[int],
        named: Mapping[str | None, int],
        pc: int,
    ) -> CallSite:
        graph = self._graph
        value = graph.node()
        number = graph.source(value)
        entering = graph.merged([callee, owner, *args, *named.values()])
        graph.flow(entering, value)
        where, what = self._parts(name, callee, owner, args, named, value)
        site = CallSite(
            node=node,
            callee=name,
            where=where,
            what=what,
            entering=entering,
            pc=pc,
            value=value,
            number=number,
        )
        self.sites.append(site)
        return site

    def _parts(
        self,
        name: str,
        callee: int,
        owner: int,
        args: Sequence[int],
        named: Mapping[str | None, int],
        value: int,
    ) -> tuple[int, int]:
        """What says where a call acts, and what goes in there."""
        graph = self._graph
        if name in PATH_FIRST and args:
            opened = [self._content(value)] if name in OPENERS else []
            return args[0], graph.merged([*args[1:], *named.values(), *opened])
        if name[1:] in PATH_OWNER and name.startswith("."):
            return owner, graph.merged([*args, *named.values()])
        everything = graph.merged([callee, owner, *args, *named.values()])
        if name[1:] in WRITE_METHODS and name.startswith("."):
            return CLEAN, everything  # where the file is was said when it was opened
        return everything, everything

    def _content(self, value: int) -> int:
        """What is written into an opened file: what its objects' store has."""
        content = self._graph.node()
        self._graph.same(content, value)
        return content

    def _is_pure(self, name: str, method: str, node: ast.Call) -> bool:
        if method:
            return method in PLAIN_METHODS and method not in self._own
        if name in PURE_FUNCTIONS or name in PURE_DOTTED or _is_tool(name):
            return True
        last = name.rpartition(".")[2]
        root = name.partition(".")[0]
        calls_back = any(keyword.arg in ("key", "onerror", "ignore", "copy_function", "default")
                         for keyword in node.keywords)  # fmt: skip
        return root in PURE_ROOTS and root != name and last not in WRITING and not calls_back

    def _written(self, values: Sequence[int], into: Sequence[int], pc: int) -> None:
        for owner in into:
            for value in values:
                if value != owner:
                    self._graph.write(value, owner)
            if values:
                self._graph.write(pc, owner, leads=True)

    def _aliased(self, value: int, others: Sequence[int]) -> None:
        for other in others:
            self._graph.same(value, other)


def _is_tool(name: str) -> bool:
    """Whether a name is the host's own function: it copies what it is given, and gives a copy."""
    if not name or "." in name:
        return False
    return name.startswith(LATER) or not (name.startswith("__dd_") or name in ALIASING)
