"""From the syntax of a program to the graph of its flow: expressions, names and functions.

Owns what a value is made of and what it may be the same object as. Statements are in
`flow_walk.py`, calls in `flow_calls.py`. Pure; any thread.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

from sandbox.flow_calls import Calls
from sandbox.flow_graph import CLEAN, Graph
from sandbox.flow_names import Function, Outline, Scope
from sandbox.flow_tables import ENDING, KEEPING, PURE_FUNCTIONS, WAITING

_NEW = PURE_FUNCTIONS - {"open", "input"}
_Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp


class Values:
    """Expressions of one program.

    `pc`: the node of what decides on the place that is walked; `loop`, `function`, `trap`: the
    innermost of each; `raised`: what errors of functions may hold; `base`: what decides on the
    whole program; `words`: whether a constant may hold what the model was shown.
    """

    def __init__(self, graph: Graph, facts: Outline, words: Callable[[str], bool]) -> None:
        self.graph = graph
        self.calls = Calls(graph, facts.methods, facts.stored)
        self.scope = Scope(graph, None, "module", facts)
        self.shown = graph.node()
        self.shown_number = graph.source(self.shown)
        self.base: int = graph.node()
        self.pc: int = self.base
        self.raised: int = graph.node()
        self.loop: int = CLEAN
        self.trap: int = CLEAN
        self.function: Function | None = None
        self.methods_of: list[tuple[Function, int]] = []
        self.implicit: list[Function] = []
        self.seen: set[int] = set()
        self._facts = facts
        self._words = words
        self._attributes: dict[str, int] = {}
        self._making: dict[type[ast.expr], Callable[[Any], int]] = {
            ast.Constant: self._constant,
            ast.Name: self._name,
            ast.Attribute: self._attribute,
            ast.Subscript: self._subscript,
            ast.Call: self._call,
            ast.BinOp: self._binary,
            ast.BoolOp: lambda node: self._either_in_turn(node.values),
            ast.IfExp: self._choice,
            ast.UnaryOp: lambda node: self.value(node.operand),
            ast.Compare: self._compare,
            ast.JoinedStr: lambda node: self._mixed(node.values),
            ast.FormattedValue: self._formatted,
            ast.List: lambda node: self._container(node.elts),
            ast.Tuple: lambda node: self._container(node.elts),
            ast.Set: lambda node: self._container(node.elts),
            ast.Dict: self._dict,
            ast.ListComp: self._comprehension,
            ast.SetComp: self._comprehension,
            ast.GeneratorExp: self._comprehension,
            ast.DictComp: self._comprehension,
            ast.Lambda: self._lambda,
            ast.NamedExpr: self._named,
            ast.Starred: lambda node: self.value(node.value),
            ast.Await: lambda node: self.value(node.value),
            ast.Yield: self._yielded,
            ast.YieldFrom: self._yielded,
            ast.Slice: lambda node: self._mixed(
                [part for part in (node.lower, node.upper, node.step) if part is not None]
            ),
        }

    def value(self, node: ast.expr) -> int:
        """The node of an expression's value."""
        making = self._making.get(type(node))
        if making is not None:
            return making(node)
        parts = [item for item in ast.iter_child_nodes(node) if isinstance(item, ast.expr)]
        return self._either(parts)

    # what decides

    @contextmanager
    def decided(self, *by: int) -> Generator[int]:
        """Statements that `by` decide on."""
        before = self.pc
        deciding = [node for node in by if node]
        if deciding:
            made = self.graph.node()
            self.graph.flow(before, made)
            for node in deciding:
                self.graph.lead(node, made)
            self.pc = made
        yield self.pc
        self.pc = before

    # names

    def assign_name(self, name: str, value: int) -> None:
        """A name is bound to a value, where `pc` decides on it."""
        variable = self.scope.bind(name)
        self.seen.add(variable)
        self.graph.flow(value, variable)
        self.graph.same(value, variable)
        self.graph.lead(self.pc, variable)

    def bind(self, target: ast.expr, value: int, origin: ast.expr | None) -> None:
        """A target of an assignment takes a value, and may be the same object."""
        match target:
            case ast.Name(id=name):
                self.assign_name(name, value)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                self._bind_parts(parts, value, origin)
            case ast.Starred(value=inner):
                self.bind(inner, value, origin)
            case ast.Attribute(value=owner, attr=attr):
                self._store(self.value(owner), value)
                self._store(self.attribute(attr), value)
                self.graph.flow(value, self.attribute(attr))
                self.graph.lead(self.pc, self.attribute(attr))
            case ast.Subscript(value=owner, slice=key):
                into = self.value(owner)
                self._store(into, value)
                self._store(into, self.value(key))
            case _:
                self.value(target)

    def _bind_parts(self, parts: Sequence[ast.expr], value: int, origin: ast.expr | None) -> None:
        if (
            isinstance(origin, ast.Tuple | ast.List)
            and len(origin.elts) == len(parts)
            and not any(isinstance(item, ast.Starred) for item in (*parts, *origin.elts))
        ):
            for part, item in zip(parts, origin.elts, strict=True):
                self.bind(part, self.value(item), item)
            return
        for part in parts:
            self.bind(part, value, None)

    def _store(self, owner: int, value: int) -> None:
        self.graph.write(value, owner)
        self.graph.write(self.pc, owner, leads=True)
        self.graph.same(owner, value)

    def attribute(self, name: str) -> int:
        """What any object's attribute of that name may be."""
        found = self._attributes.get(name)
        if found is None:
            found = self._attributes[name] = self.graph.node()
        return found

    def _name(self, node: ast.Name) -> int:
        found = self.scope.find(node.id)
        return self.outer(node.id) if found is None else found

    def outer(self, name: str) -> int:
        """A name that the program does not bind: one object for all of it."""
        scope = self.scope
        while scope.parent is not None:
            scope = scope.parent
        return scope.own(f"outer {name}")

    def dotted(self, node: ast.expr) -> str:
        """The full name of what the host or the interpreter gives; empty for everything else."""
        match node:
            case ast.Name(id=name):
                known = self._facts.imports.get(name)
                if self.scope.find(name) is not None:
                    return ""
                return name if known is None else known
            case ast.Attribute(value=owner, attr=attr):
                inner = self.dotted(owner)
                is_module = isinstance(owner, ast.Attribute) or (
                    isinstance(owner, ast.Name) and owner.id in self._facts.imports
                )
                return f"{inner}.{attr}" if inner and is_module else ""
            case _:
                return ""

    # simple values

    def _constant(self, node: ast.Constant) -> int:
        if node.value is None or isinstance(node.value, bool):
            return CLEAN
        return self.shown if self._words(str(node.value)) else CLEAN

    def _mixed(self, parts: Sequence[ast.expr]) -> int:
        """A new value of several; no part of it is the same object."""
        return self.graph.merged([self.value(part) for part in parts])

    def _either(self, parts: Sequence[ast.expr]) -> int:
        """A value that may be any of several objects."""
        return self._joined([self.value(part) for part in parts])

    def _either_in_turn(self, parts: Sequence[ast.expr]) -> int:
        """`and` and `or`: what comes first decides on whether the rest is looked at."""
        first = self.value(parts[0])
        if len(parts) == 1:
            return first
        with self.decided(first):
            rest = self._either_in_turn(parts[1:])
        return self._joined([first, rest])

    def _compare(self, node: ast.Compare) -> int:
        made = self._mixed([node.left, node.comparators[0]])
        if len(node.comparators) == 1:
            return made
        with self.decided(made):
            return self.graph.merged([made, self._mixed(node.comparators[1:])])

    def _joined(self, values: Sequence[int]) -> int:
        made = self.graph.merged(values)
        for value in values:
            self.graph.same(made, value)
        return made

    def _formatted(self, node: ast.FormattedValue) -> int:
        return self._mixed([node.value, *([node.format_spec] if node.format_spec else [])])

    def _binary(self, node: ast.BinOp) -> int:
        both = [node.left, node.right]
        plain = not isinstance(node.op, ast.Add | ast.Mult | ast.BitOr | ast.BitAnd) or any(
            _is_text(part) for part in both
        )
        made = self._mixed(both) if plain else self._either(both)
        self.raises(made)
        return made

    def _choice(self, node: ast.IfExp) -> int:
        test = self.value(node.test)
        with self.decided(test):
            made = self._container([node.body, node.orelse])
        self.graph.lead(test, made)
        return made

    def _container(self, parts: Sequence[ast.expr]) -> int:
        """A new object that holds others."""
        made = self.graph.node()
        for part in parts:
            value = self.value(part)
            self.graph.flow(value, made)
            self.graph.same(value, made)
        return made

    def _dict(self, node: ast.Dict) -> int:
        return self._container([*(key for key in node.keys if key is not None), *node.values])

    def _subscript(self, node: ast.Subscript) -> int:
        owner, key = self.value(node.value), self.value(node.slice)
        made = owner
        if key and key != owner:
            made = self.graph.merged([owner, key])
            self.graph.same(made, owner)
        self.raises(made)
        return made

    def _attribute(self, node: ast.Attribute) -> int:
        return self._part(self.value(node.value), node.attr)

    def _part(self, owner: int, name: str) -> int:
        """The attribute of a value; what no class and no assignment has is made of the value."""
        if not self._facts.has_functions and name not in self._facts.stored:
            return owner
        part = self.attribute(name)
        made = self.graph.node()
        for origin in (owner, part):
            self.graph.flow(origin, made)
            self.graph.same(origin, made)
        return made

    def _named(self, node: ast.NamedExpr) -> int:
        value = self.value(node.value)
        self.bind(node.target, value, node.value)
        return value

    def _yielded(self, node: ast.Yield | ast.YieldFrom) -> int:
        if node.value is None or self.function is None:
            return CLEAN
        value = self.value(node.value)
        self.graph.flow(value, self.function.returned)
        self.graph.same(value, self.function.returned)
        return value

    def _comprehension(self, node: _Comprehension) -> int:
        outer, before = self.scope, self.pc
        made = self.graph.node()
        deciding = self.graph.node()
        self.graph.flow(before, deciding)
        self.scope, self.pc = Scope(self.graph, outer, "comprehension", self._facts), deciding
        for part in node.generators:
            items = self.value(part.iter)
            for name in ast.walk(part.target):
                if isinstance(name, ast.Name):
                    self.scope.own(name.id)
            self.bind(part.target, items, part.iter)
            for test in (items, *(self.value(condition) for condition in part.ifs)):
                self.graph.lead(test, deciding)
        elements = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        for element in elements:
            value = self.value(element)
            self.graph.flow(value, made)
            self.graph.same(value, made)
        self.graph.lead(deciding, made)
        self.scope, self.pc = outer, before
        return made

    # calls and functions

    def _call(self, node: ast.Call) -> int:
        func = node.func
        name = self.dotted(func)
        owner = CLEAN
        if isinstance(func, ast.Attribute) and not name:
            owner, name = self.value(func.value), f".{func.attr}"
            callee = self._part(owner, func.attr)
        else:
            callee = self.value(func)
            owner = self.outer(name.partition(".")[0]) if "." in name else CLEAN
        args = [self.value(item) for item in node.args]
        named = {keyword.arg: self.value(keyword.value) for keyword in node.keywords}
        if name in _NEW and not name.startswith("__dd_"):
            made = self.graph.merged([callee, *args, *named.values()])
            self.raises(made)
            return made
        value = self.calls.called(
            node, name, callee=callee, owner=owner, args=args, named=named, pc=self.pc
        )
        self.raises(value)
        self._after(name.rpartition(".")[2], name, self.graph.merged([*args, *named.values()]))
        return value

    def _after(self, last: str, name: str, given: int) -> None:
        """Calls whose being reached, or whose argument, decides on all that follows."""
        if name in ENDING or name == "sys.exit" or name == "os._exit":
            self.ends(whole=True)
        if last in WAITING or last in KEEPING:
            self.graph.lead(given, self.base)
            self.graph.lead(self.pc, self.base)

    def raises(self, value: int) -> None:
        """An error of this place may hold the value."""
        if self.trap:
            self.graph.flow(value, self.trap)
        elif self.function is not None:
            self.graph.flow(value, self.raised)

    def ends(self, *, whole: bool) -> None:
        """The function, or the program, may end here: `pc` decides on the rest of it."""
        if self.function is not None:
            self.graph.lead(self.pc, self.function.entry)
        if whole:
            self.graph.lead(self.pc, self.base)
            self.graph.lead(self.pc, self.raised)

    def new_function(self, name: str) -> tuple[Function, int]:
        """A function and its value; what it returns is in the value: a call may be hidden."""
        value = self.graph.node()
        number = self.graph.source(value)
        function = Function(
            name=name, number=number, entry=self.graph.node(), returned=self.graph.node()
        )
        self.graph.flow(self.base, function.entry)
        self.graph.flow(function.returned, value)
        self.calls.functions[number] = function
        return function, value

    def parameters(self, function: Function, args: ast.arguments) -> None:
        """Where data enters a function; defaults are values of the place of its definition."""
        positional = [*args.posonlyargs, *args.args]
        for arg in positional:
            node = self.graph.node()
            function.positional.append(node)
            function.by_name[arg.arg] = node
        for arg in args.kwonlyargs:
            function.by_name[arg.arg] = self.graph.node()
        if args.vararg is not None or args.kwarg is not None:
            function.loose = self.graph.node()
        late = positional[len(positional) - len(args.defaults) :]
        given = [*zip(late, args.defaults, strict=True)]
        given += [(a, d) for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d]
        for arg, default in given:
            value = self.value(default)
            self.graph.flow(value, function.by_name[arg.arg])
            self.graph.same(value, function.by_name[arg.arg])

    def body(
        self,
        function: Function,
        args: ast.arguments,
        walk: Callable[[], None],
        bound: set[str],
    ) -> None:
        """A function's body in its own scope, decided on by who calls it."""
        outer = (self.scope, self.pc, self.loop, self.function, self.trap)
        self.scope = Scope(self.graph, self.scope, "function", self._facts)
        for name, node in function.by_name.items():
            self.graph.flow(node, self.scope.own(name))
            self.graph.same(node, self.scope.own(name))
        for arg in (args.vararg, args.kwarg):
            if arg is not None:
                self.graph.flow(function.loose, self.scope.own(arg.arg))
                self.graph.same(function.loose, self.scope.own(arg.arg))
        for name in bound:
            self.scope.own(name)
        self.pc, self.loop, self.function, self.trap = function.entry, CLEAN, function, CLEAN
        walk()
        self.scope, self.pc, self.loop, self.function, self.trap = outer

    def _lambda(self, node: ast.Lambda) -> int:
        function, value = self.new_function("lambda")
        self.parameters(function, node.args)

        def walk() -> None:
            result = self.value(node.body)
            self.graph.flow(result, function.returned)
            self.graph.same(result, function.returned)

        self.body(function, node.args, walk, set())
        return value


def _is_text(node: ast.expr) -> bool:
    """Whether a part of a sum is certainly a text: then so is the sum."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _is_text(node.left) or _is_text(node.right)
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    )
