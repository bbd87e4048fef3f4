"""Properties, static methods and class methods, which the interpreter's classes lack.

A property becomes a method that every reader calls; a static method gets a first parameter that is
not used; a class method gets its class from the caller. The same program where names tell what is
meant: otherwise it is refused. Pure; any thread.
"""

from __future__ import annotations

import ast
import datetime as dt
import pathlib
from collections import Counter
from collections.abc import Iterator

from sandbox.dialect_context import Function, Rewriting

# Attributes of built-in objects: a property of such a name could be read on one of them.
_KNOWN_ATTRIBUTES = frozenset(
    name
    for kind in (str, bytes, list, dict, set, int, pathlib.Path, dt.datetime, Counter)
    for name in dir(kind)
)
_HINT = "Write an ordinary method that takes self, or a function outside of the class."
_KINDS = frozenset({"property", "staticmethod", "classmethod", "abstractmethod"})
_UNUSED = "__dd_unused"


def bridge_decorators(rewriting: Rewriting) -> None:
    """Rewrite every decorated method of the program."""
    properties: set[str] = set()
    statics: set[str] = set()
    for node, method, kind in _decorated(rewriting):
        _remove_decorator(rewriting, method)
        if kind == "abstractmethod":
            continue
        if kind == "property":
            _check_property(rewriting, method)
            properties.add(method.name)
        elif kind == "staticmethod":
            _add_parameter(rewriting, method)
            statics.add(f"{node.name}.{method.name}")
        else:
            _bridge_class_method(rewriting, node, method)
    if properties:
        _call_properties(rewriting, properties)
    if statics:
        _pass_nothing(rewriting, statics)


def _decorated(rewriting: Rewriting) -> Iterator[tuple[ast.ClassDef, Function, str]]:
    for node in rewriting.nodes:
        if not isinstance(node, ast.ClassDef):
            continue
        for method in node.body:
            if not isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            match method.decorator_list:
                case [ast.Name(id=kind) | ast.Attribute(attr=kind)] if kind in _KINDS:
                    yield node, method, kind
                case _:
                    pass


def _remove_decorator(rewriting: Rewriting, method: Function) -> None:
    """Remove the decorator with its ``@`` up to the ``def``."""
    start = rewriting.start(method.decorator_list[0])
    at = rewriting.text.rindex(b"@", 0, start)
    rewriting.replace(at, rewriting.start(method), "")


def _check_property(rewriting: Rewriting, method: Function) -> None:
    name = method.name
    stored = any(
        isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Store)
        for node in rewriting.nodes
    )
    defined = sum(
        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name
        for node in rewriting.nodes
    )
    if stored or defined > 1 or name in _KNOWN_ATTRIBUTES or name in rewriting.bound:
        raise rewriting.refuse(method, f"the property {name} is ambiguous here", _HINT)


def _call_properties(rewriting: Rewriting, names: set[str]) -> None:
    for node in rewriting.nodes:
        if isinstance(node, ast.Attribute) and node.attr in names:
            rewriting.closing(rewriting.end(node), "()")
        elif isinstance(node, ast.Constant) and node.value in names:
            raise rewriting.refuse(node, f"the property {node.value} is read by its name", _HINT)


def _add_parameter(rewriting: Rewriting, method: Function) -> None:
    """Give a static method the parameter that every method has."""
    paren = rewriting.text.index(b"(", rewriting.start(method))
    arguments = method.args
    some = arguments.posonlyargs or arguments.args or arguments.kwonlyargs
    some = some or arguments.vararg or arguments.kwarg
    rewriting.replace(paren + 1, paren + 1, _UNUSED + (", " if some else ""))


def _pass_nothing(rewriting: Rewriting, statics: set[str]) -> None:
    """Calls through the class pass the parameter themselves."""
    methods = {name.partition(".")[2] for name in statics}
    called: set[ast.expr] = set()
    for node in rewriting.nodes:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        called.add(node.func)
        if rewriting.segment(node.func) in statics:
            _pass_first(rewriting, node, "None")
    for node in rewriting.nodes:
        if isinstance(node, ast.Attribute) and node.attr in methods and node not in called:
            raise rewriting.refuse(node, "a static method used as a value", _HINT)


def _bridge_class_method(rewriting: Rewriting, node: ast.ClassDef, method: Function) -> None:
    """Callers name the class, which is passed on; calls through an object are refused."""
    own = method.args.args[0].arg if method.args.args else "cls"
    for call in rewriting.nodes:
        if not isinstance(call, ast.Attribute) or call.attr != method.name:
            continue
        parent = rewriting.parents.get(call)
        owner = call.value
        named = isinstance(owner, ast.Name) and owner.id in (node.name, own)
        if not named or not isinstance(parent, ast.Call) or parent.func is not call:
            raise rewriting.refuse(call, "a class method called through an object", _HINT)
        assert isinstance(owner, ast.Name)
        _pass_first(rewriting, parent, owner.id)


def _pass_first(rewriting: Rewriting, call: ast.Call, text: str) -> None:
    paren = rewriting.text.index(b"(", rewriting.end(call.func))
    rewriting.opening(paren + 1, text + (", " if call.args or call.keywords else ""))
