"""From the syntax of a program to the graph of its flow: statements and what decides on them.

Owns control: what decides on a statement leads to every name, object and call within it, and
whatever can end a loop, a function or the program early decides on the rest of it. Expressions are
in `flow_values.py`. Pure; any thread.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

from sandbox.flow_calls import CallSite
from sandbox.flow_graph import CLEAN, Graph
from sandbox.flow_names import Function, Outline, Scope, bound_in
from sandbox.flow_values import Values


class Walk(Values):
    """One walk over one program; `sites` has every call that was met."""

    def __init__(self, graph: Graph, facts: Outline, words: Callable[[str], bool]) -> None:
        super().__init__(graph, facts, words)
        self.sites: list[CallSite] = self.calls.sites
        self._doing: dict[type[ast.stmt], Callable[[Any], None]] = {
            ast.Assign: self._assign,
            ast.AugAssign: self._augment,
            ast.AnnAssign: self._annotated,
            ast.Expr: lambda node: self._done(node.value),
            ast.If: self._if,
            ast.While: self._while,
            ast.For: self._for,
            ast.AsyncFor: self._for,
            ast.With: self._with,
            ast.AsyncWith: self._with,
            ast.Try: self._try,
            ast.TryStar: self._try,
            ast.Match: self._match,
            ast.FunctionDef: self._function,
            ast.AsyncFunctionDef: self._function,
            ast.ClassDef: self._class,
            ast.Return: self._return,
            ast.Raise: self._raise,
            ast.Assert: self._assert,
            ast.Break: lambda _node: self._leaves_loop(),
            ast.Continue: lambda _node: self._leaves_loop(),
            ast.Global: lambda node: self._outside(node.names, is_global=True),
            ast.Nonlocal: lambda node: self._outside(node.names, is_global=False),
        }

    def module(self, tree: ast.Module) -> None:
        """Walk over all of a program."""
        for name in bound_in(tree.body):
            self.scope.own(name)
        self.block(tree.body)

    def block(self, body: Sequence[ast.stmt]) -> None:
        """Statements in order; the order says nothing about the flow."""
        for node in body:
            doing = self._doing.get(type(node))
            if doing is not None:
                doing(node)

    # what a statement binds

    def _done(self, node: ast.expr) -> None:
        self.value(node)

    def _assign(self, node: ast.Assign) -> None:
        value = self.value(node.value)
        for target in node.targets:
            self.bind(target, value, node.value)

    def _augment(self, node: ast.AugAssign) -> None:
        value = self.value(node.value)
        owner = self.value(_loaded(node.target))
        self.graph.write(value, owner)
        self.graph.write(self.pc, owner, leads=True)
        self.bind(node.target, self.graph.merged([value, owner]), None)

    def _annotated(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.bind(node.target, self.value(node.value), node.value)

    def _outside(self, names: Sequence[str], *, is_global: bool) -> None:
        for name in names:
            self.scope.outside(name, is_global=is_global)

    # what decides on statements

    def _if(self, node: ast.If) -> None:
        with self.decided(self.value(node.test)), self.scope.ways() as other_way:
            self.block(node.body)
            other_way()
            self.block(node.orelse)

    def _while(self, node: ast.While) -> None:
        with self.scope.ways(bound_in([node])):
            test = self.graph.node()  # each test decides on whether the next one is made
            with self._looping(test):
                self.graph.flow(self.value(node.test), test)
                self.block(node.body)
                self.block(node.orelse)

    def _for(self, node: ast.For | ast.AsyncFor) -> None:
        items = self.value(node.iter)
        with self.scope.ways(bound_in([node])), self._looping(items):
            self.bind(node.target, items, None)
            self.block(node.body)
            self.block(node.orelse)

    @contextmanager
    def _looping(self, by: int) -> Generator[None]:
        """A loop's body: `by` decides how often, and so does what leaves it early."""
        before, leaving = self.loop, self.graph.node()
        self.loop = leaving
        with self.decided(by, leaving):
            yield
        self.loop = before

    def _leaves_loop(self) -> None:
        self.graph.lead(self.pc, self.loop)

    def _with(self, node: ast.With | ast.AsyncWith) -> None:
        for item in node.items:
            value = self.value(item.context_expr)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, value, None)
        if all(_lets_through(item.context_expr) for item in node.items):
            self.block(node.body)
            return
        with self.scope.ways():
            self.block(node.body)

    def _try(self, node: ast.Try | ast.TryStar) -> None:
        before, trap = self.trap, self.graph.node()
        self.graph.flow(self.raised, trap)
        if before:
            self.graph.flow(trap, before)
        self.trap = trap
        with self.decided(trap):
            # A handler, or what follows, may see any of what was bound before the error.
            with self.scope.ways():
                self.block(node.body)
            self.trap = before
            with self.scope.ways() as other_way:
                for handler in node.handlers:
                    if handler.name is not None:
                        self.assign_name(handler.name, trap)
                    self.block(handler.body)
                    other_way()
                self.block(node.orelse)
        self.block(node.finalbody)

    def _match(self, node: ast.Match) -> None:
        subject = self.value(node.subject)
        guards = [self.value(case.guard) for case in node.cases if case.guard is not None]
        with self.decided(subject, *guards), self.scope.ways() as other_way:
            for case in node.cases:
                other_way()
                for part in ast.walk(case.pattern):
                    name = getattr(part, "name", None) or getattr(part, "rest", None)
                    if isinstance(name, str):
                        self.assign_name(name, subject)
                self.block(case.body)

    def _return(self, node: ast.Return) -> None:
        function = self.function
        if function is None:
            return
        if node.value is not None:
            value = self.value(node.value)
            self.graph.flow(value, function.returned)
            self.graph.same(value, function.returned)
        self.graph.lead(self.pc, function.returned)
        self.ends(whole=False)

    def _raise(self, node: ast.Raise) -> None:
        if node.exc is not None:
            value = self.value(node.exc)
            self.raises(value)
        self.ends(whole=True)

    def _assert(self, node: ast.Assert) -> None:
        test = self.value(node.test)
        if node.msg is not None:
            self.raises(self.value(node.msg))
        with self.decided(test):
            self.ends(whole=True)

    # functions and classes

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        function, value = self.new_function(node.name)
        function.is_method = self.scope.kind == "class"
        value = self._decorated(node, value)
        self.assign_name(node.name, value)
        if function.is_method:
            self.methods_of.append((function, value))
        self.parameters(function, node.args)
        self.body(function, node.args, lambda: self.block(node.body), bound_in(node.body))
        if function.is_method and node.name.startswith("__") and node.name != "__init__":
            self.implicit.append(function)

    def _decorated(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, value: int
    ) -> int:
        for decorator in node.decorator_list:
            callee = self.value(decorator)
            value = self.calls.invoked(decorator, callee, [value], {}, self.pc)
        return value

    def _class(self, node: ast.ClassDef) -> None:
        value = self.graph.node()
        for base in node.bases:
            origin = self.value(base)
            self.graph.flow(origin, value)
            self.graph.same(origin, value)
        outer, self.scope = self.scope, Scope(self.graph, self.scope, "class", self._facts)
        before, self.methods_of = self.methods_of, []
        for name in bound_in(node.body):
            self.scope.own(name)
        self.block(node.body)
        for name in bound_in(node.body):
            part = self.scope.own(name)
            self.graph.flow(part, value)
            self.graph.same(part, value)
            self.graph.flow(part, self.attribute(name))
            self.graph.same(part, self.attribute(name))
        self.scope = outer
        for function, _ in self.methods_of:
            if function.positional:  # `self` is what the class gives
                self.graph.same(function.positional[0], value)
                self.graph.flow(value, function.positional[0])
                self.graph.write(function.returned, value)
        self.methods_of = before
        value = self._decorated(node, value)
        self.assign_name(node.name, value)

    def finish(self) -> None:
        """What may be called without a call: operators of classes, with anything."""
        implicit = self.implicit
        if not implicit:
            return
        anything = self.graph.node()
        for site in self.sites:
            self.graph.flow(site.entering, anything)
            self.graph.flow(site.value, anything)
        for node in self.seen:
            self.graph.flow(node, anything)
        for function in implicit:
            self._from_anywhere(function, anything)

    def _from_anywhere(self, function: Function, anything: int) -> None:
        for node in (*function.positional[1:], *function.by_name.values(), function.loose):
            self.graph.flow(anything, node)
            self.graph.same(anything, node)
        self.graph.lead(anything, function.entry)


_PASSING = frozenset({"open", "__dd_with_file", "__dd_open", "__dd_file", "__dd_open_update"})


def _lets_through(node: ast.expr) -> bool:
    """Whether a context manager is a file, which never hides an error."""
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _PASSING
    )


def _loaded(node: ast.expr) -> ast.expr:
    """A target as the value that it had before."""
    if isinstance(node, ast.Name):
        return ast.copy_location(ast.Name(id=node.id, ctx=ast.Load()), node)
    return node


__all__ = ["CLEAN", "Walk"]
