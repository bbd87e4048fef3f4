"""Which variable a name means: the scopes of a program, and what it imports and defines.

Owns the look-up of names to nodes of the graph. Names that a program never binds are the
interpreter's or the host's. Pure; any thread.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sandbox.flow_graph import CLEAN, Graph


@dataclass(slots=True, eq=False)
class Function:
    """A function of the program as a value: its number among the sources, and where data enters.

    `entry`: what decides on whether its body runs; `loose`: `*args` or `**kwargs`, which take what
    no parameter takes; `is_method`: it is called through an attribute of its name;
    `does_everything`: it stands for what is not in the program's text.
    """

    name: str
    number: int
    entry: int
    returned: int
    positional: list[int] = field(default_factory=list[int])
    by_name: dict[str, int] = field(default_factory=dict[str, int])
    loose: int = CLEAN
    is_method: bool = False
    does_everything: bool = False


@dataclass(slots=True)
class _Region:
    """Statements of which not all need run: what names meant before, what they were bound to."""

    before: dict[str, int]
    made: dict[str, list[int]] = field(default_factory=dict[str, list[int]])


class Scope:
    """The variables of a module, a function, a class body or a comprehension.

    In a module or a function each binding of a name is a value of its own, which statements after
    it see; where ways meet they see all that could have come. Functions within see every binding.
    """

    def __init__(self, graph: Graph, parent: Scope | None, kind: str, facts: Outline) -> None:
        self._graph = graph
        self._facts = facts
        self.parent = parent
        self.kind = kind
        self.made: dict[str, list[int]] = {}
        """The values that names were bound to, where each binding is one of its own."""
        self._names: dict[str, int] = {}
        self._elsewhere: dict[str, Scope] = {}
        self._current: dict[str, int] = {}
        self._regions: list[_Region] = []

    def bind(self, name: str) -> int:
        """The value that an assignment in this scope makes."""
        if self.kind == "comprehension" and name not in self._names and self.parent is not None:
            return self.parent.bind(name)  # a walrus binds outside
        if name in self._elsewhere:
            return self._elsewhere[name].own(name)
        if self.kind not in ("module", "function") or name in self._facts.shared:
            return self.own(name)
        made = self._graph.node()
        self.made.setdefault(name, []).append(made)
        self._put(name, made)
        if name in self._facts.captured:
            self._graph.flow(made, self.own(name))
            self._graph.same(made, self.own(name))
        return made

    def _put(self, name: str, node: int) -> None:
        self._current[name] = node
        if self._regions:
            self._regions[-1].made.setdefault(name, []).append(node)

    def own(self, name: str) -> int:
        """The variable of this very scope, made when it is new."""
        found = self._names.get(name)
        if found is None:
            found = self._names[name] = self._graph.node()
        return found

    @contextmanager
    def ways(self, names: Iterable[str] = ()) -> Generator[Callable[[], None]]:
        """Statements that need not run, or not all; call what is given before each other way.

        `names`: what a loop binds: its statements see what they themselves bound before.
        """
        heads: dict[str, int] = {}
        for name in names:
            former = self._current.get(name)
            if former is not None or name in self._names:
                heads[name] = self._merged([former or self._names[name]])
        region = _Region(dict(self._current) | heads)
        self._current = dict(region.before)
        self._regions.append(region)

        def other_way() -> None:
            self._current = dict(region.before)

        yield other_way
        self._regions.pop()
        self._current = dict(region.before)
        for name, made in region.made.items():
            head = heads.get(name)
            if head is None:
                head = self._merged([region.before.get(name) or self.own(name), *made])
            else:
                self._join(head, made)
            self._put(name, head)

    def _merged(self, nodes: Iterable[int]) -> int:
        made = self._graph.node()
        self._join(made, nodes)
        return made

    def _join(self, into: int, nodes: Iterable[int]) -> None:
        for node in nodes:
            self._graph.flow(node, into)
            self._graph.same(node, into)

    def outside(self, name: str, *, is_global: bool) -> None:
        """`global` and `nonlocal`: assignments mean a variable further out."""
        scope = self.parent
        while scope is not None and scope.parent is not None and (is_global or not scope.has(name)):
            scope = scope.parent
        if scope is not None:
            self._elsewhere[name] = scope

    def names(self) -> frozenset[str]:
        """The names that are bound in this scope itself."""
        return frozenset(self._names)

    def has(self, name: str) -> bool:
        """Whether the name is bound in this scope itself."""
        return name in self._names

    def find(self, name: str) -> int | None:
        """The variable that a name means here; None when the program binds none so far out."""
        scope: Scope | None = self
        at_once = first = True
        while scope is not None:
            if name in scope._elsewhere:
                return scope._elsewhere[name].own(name)
            if (first or scope.kind != "class") and name in scope._names:
                current = scope._current.get(name) if at_once else None
                return current or scope._names[name]
            first = first and scope.kind == "comprehension"
            at_once = at_once and scope.kind == "comprehension"
            scope = scope.parent
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """What can be said of a program before its flow.

    `imports`: names that are modules or parts of them, with what they mean; `methods`: names of
    methods of its classes; `stored`: attributes that it assigns somewhere; `captured`: names that
    functions within others may use; `shared`: those that `global` or `nonlocal` name; `opaque`:
    whether it uses something that can reach every variable.
    """

    imports: dict[str, str]
    methods: frozenset[str]
    stored: frozenset[str]
    captured: frozenset[str]
    shared: frozenset[str]
    has_functions: bool
    opaque: bool


_REACH_ALL = frozenset(
    ["eval", "exec", "compile", "globals", "locals", "vars", "__dd_vars", "__import__", "__dict__"]
)
_INNER = frozenset(["__globals__", "__code__", "__closure__", "__builtins__", "__subclasses__"])


def outline(tree: ast.Module) -> Outline:
    """Look over a program once."""
    found = _Finding()
    for node in ast.walk(tree):
        look = _LOOKS.get(type(node))
        if look is not None:
            look(found, node)
    return Outline(
        imports=found.imports,
        methods=frozenset(found.methods),
        stored=frozenset(found.stored),
        captured=frozenset(found.captured),
        shared=frozenset(found.shared),
        has_functions=found.functions,
        opaque=found.opaque,
    )


@dataclass(slots=True)
class _Finding:
    imports: dict[str, str] = field(default_factory=dict[str, str])
    methods: set[str] = field(default_factory=set[str])
    stored: set[str] = field(default_factory=set[str])
    captured: set[str] = field(default_factory=set[str])
    shared: set[str] = field(default_factory=set[str])
    functions: bool = False
    opaque: bool = False

    def imported(self, node: ast.Import) -> None:
        for one in node.names:
            root = one.asname or one.name.partition(".")[0]
            self.imports[root] = one.name if one.asname else root

    def imported_from(self, node: ast.ImportFrom) -> None:
        for one in node.names:
            self.imports[one.asname or one.name] = f"{node.module}.{one.name}"

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        self.functions = True
        self.captured |= _names_in(node)

    def of_class(self, node: ast.ClassDef) -> None:
        self.functions = True
        for item in node.body:
            if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef):
                self.methods.add(item.name)

    def assigned(self, node: ast.Assign) -> None:
        if isinstance(node.value, ast.GeneratorExp):  # may run later
            self.captured |= _names_in(node.value)

    def outer(self, node: ast.Global | ast.Nonlocal) -> None:
        self.shared.update(node.names)

    def attribute(self, node: ast.Attribute) -> None:
        self.opaque = self.opaque or node.attr in _REACH_ALL or node.attr in _INNER
        if not isinstance(node.ctx, ast.Load):
            self.stored.add(node.attr)

    def name(self, node: ast.Name) -> None:
        self.opaque = self.opaque or node.id in _REACH_ALL


_LOOKS: dict[type[ast.AST], Callable[[_Finding, Any], None]] = {
    ast.Import: _Finding.imported,
    ast.ImportFrom: _Finding.imported_from,
    ast.FunctionDef: _Finding.function,
    ast.AsyncFunctionDef: _Finding.function,
    ast.Lambda: _Finding.function,
    ast.ClassDef: _Finding.of_class,
    ast.Assign: _Finding.assigned,
    ast.Global: _Finding.outer,
    ast.Nonlocal: _Finding.outer,
    ast.Attribute: _Finding.attribute,
    ast.Name: _Finding.name,
}


def _names_in(node: ast.AST) -> set[str]:
    return {item.id for item in ast.walk(node) if isinstance(item, ast.Name)}


def bound_in(body: list[ast.stmt]) -> set[str]:
    """The names that statements bind in their own scope, not in those within."""
    found: set[str] = set()
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.add(name)
                continue
            case ast.ClassDef(name=name):
                found.add(name)
                continue
            case ast.Lambda():
                continue
            case ast.Name(id=name, ctx=ast.Store()):
                found.add(name)
            case ast.ExceptHandler(name=str(name)):
                found.add(name)
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                found.add(name)
            case ast.MatchMapping(rest=str(name)):
                found.add(name)
            case _:
                pass
        waiting.extend(ast.iter_child_nodes(node))
    return found
