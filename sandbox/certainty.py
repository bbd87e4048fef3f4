"""What of a program certainly runs, unless it fails before.

Owns the walk over statements in their order: bodies of conditions, loops and handlers are left out,
functions are entered where they are certainly called, and everything after a statement that may
leave the program is left out. Says less when in doubt. Pure; any thread.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

_LEAVING = frozenset({"exit", "quit", "_exit", "__dd_exit", "SystemExit", "abort"})
_PLAIN_CONTEXTS = frozenset({"open", "__dd_with_file", "__dd_file", "__dd_open"})
_Function = ast.FunctionDef | ast.AsyncFunctionDef


class Certainty:
    """The nodes of `tree` that certainly run. `functions`: its own plain functions, by name."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.nodes: set[ast.AST] = set()
        self.functions = _plain_functions(tree)
        self._leavers = _leavers(tree)
        self._entered: set[str] = set()
        self._block(tree.body)

    def _block(self, body: Sequence[ast.stmt]) -> bool:
        """Walk statements; whether what follows them certainly runs too."""
        return all(self._statement(statement) for statement in body)

    def _statement(self, node: ast.stmt) -> bool:
        self.nodes.add(node)
        for value in _first_values(node):
            self._expression(value)
        match node:
            case ast.Return():
                return False
            case ast.If(test=test) if _is_main(test):
                return self._block(node.body)
            case ast.With(items=items) if all(map(_is_plain_context, items)):
                return self._block(node.body)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                return True
            case _:
                return not self._may_leave([node])

    def _expression(self, node: ast.expr) -> None:
        self.nodes.add(node)
        match node:
            case ast.BoolOp(values=[first, *_]):
                self._expression(first)
            case ast.IfExp(test=test):
                self._expression(test)
            case ast.Lambda():
                pass
            case ast.Compare(left=left, comparators=[right, *_]):
                self._expression(left)
                self._expression(right)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                self._expression(node.generators[0].iter)
            case _:
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.expr):
                        self._expression(child)
                    elif isinstance(child, ast.keyword):
                        self._expression(child.value)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            self._enter(node.func.id)

    def _enter(self, name: str) -> None:
        function = self.functions.get(name)
        if name in self._entered or not isinstance(function, ast.FunctionDef):
            return
        self._entered.add(name)
        if not any(isinstance(n, ast.Yield | ast.YieldFrom) for n in ast.walk(function)):
            self._block(function.body)

    def _may_leave(self, nodes: Iterable[ast.AST]) -> bool:
        return any(
            name in _LEAVING or name in self._leavers
            for node in nodes
            for name in _called_names(node)
        ) or any(isinstance(inner, ast.Return) for node in nodes for inner in ast.walk(node))


def _called_names(node: ast.AST) -> set[str]:
    """The names of everything that `node` mentions as something to call."""
    names: set[str] = set()
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name):
            names.add(inner.id)
        elif isinstance(inner, ast.Attribute):
            names.add(inner.attr)
    return names


def _leavers(tree: ast.Module) -> set[str]:
    """Names of functions, methods and classes that may leave the program, directly or not."""
    mentioned: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, _Function | ast.ClassDef):
            mentioned.setdefault(node.name, set()).update(_called_names(node))
    found: set[str] = set()
    while True:
        more = {
            name
            for name, names in mentioned.items()
            if name not in found and (names & _LEAVING or names & found)
        }
        if not more:
            return found
        found |= more


def _plain_functions(tree: ast.Module) -> dict[str, _Function]:
    """The module's own functions that are what their text says: bound once, not decorated."""
    bound: dict[str, int] = {}
    for node in ast.walk(tree):
        for name in _bound_names(node):
            bound[name] = bound.get(name, 0) + 1
    return {
        node.name: node
        for node in tree.body
        if isinstance(node, _Function) and not node.decorator_list and bound[node.name] == 1
    }


def _bound_names(node: ast.AST) -> Iterable[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return (name,)
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
            return (name,)
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            return tuple(names)
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            return tuple(a.asname or a.name.split(".")[0] for a in aliases)
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
            return (name,)
        case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
            return (name,)
        case _:
            return ()


def bound_names(tree: ast.AST) -> set[str]:
    """Every name that the program binds anywhere."""
    return {name for node in ast.walk(tree) for name in _bound_names(node)}


def _is_main(test: ast.expr) -> bool:
    match test:
        case ast.Compare(
            left=ast.Name(id="__name__"), ops=[ast.Eq()], comparators=[ast.Constant("__main__")]
        ):
            return True
        case _:
            return False


def _first_values(node: ast.stmt) -> list[ast.expr]:
    """The expressions that a statement certainly looks at."""
    match node:
        case ast.Expr(value=value) | ast.Assign(value=value) | ast.AugAssign(value=value):
            return [value]
        case ast.AnnAssign(value=ast.expr() as value) | ast.Return(value=ast.expr() as value):
            return [value]
        case ast.If(test=value) | ast.While(test=value) | ast.For(iter=value):
            return [value]
        case ast.Assert(test=value):
            return [value]
        case ast.With(items=items):
            return [items[0].context_expr]
        case _:
            return []


def _is_plain_context(item: ast.withitem) -> bool:
    """Whether entering runs the body and swallows no error."""
    match item.context_expr:
        case ast.Call(func=ast.Name(id=name)):
            return name in _PLAIN_CONTEXTS
        case _:
            return False
