"""Objects that are shown by a method of theirs which the interpreter cannot call while it prints.

Owns `print`, `str`, `repr` and f-strings in programs with a `__str__` or `__repr__` that may call
the host, or with a `__format__`: they call the method first. Pure; any thread.
"""

from __future__ import annotations

import ast

from sandbox.dialect_context import Rewriting

_SHOWING = frozenset({"__str__", "__repr__"})
_FUNCTIONS = {"str": "__dd_shown", "repr": "__dd_represented"}


def bridge_shows(rewriting: Rewriting) -> None:
    """Have objects shown before they are printed."""
    formats = "__format__" in rewriting.methods
    if not formats and not any(_may_suspend(node) for node in rewriting.nodes):
        return
    for node in rewriting.nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            _bridge_call(rewriting, node)
        elif isinstance(node, ast.FormattedValue):
            _bridge_value(rewriting, node, formats=formats)


def _may_suspend(node: ast.AST) -> bool:
    """Whether `node` is a method that shows an object and asks the host for something."""
    return (
        isinstance(node, ast.FunctionDef)
        and node.name in _SHOWING
        and any(
            (isinstance(inner, ast.Attribute) and inner.attr == "__dict__")
            or (isinstance(inner, ast.Call) and not _is_plain(inner))
            for inner in ast.walk(node)
        )
    )


def _is_plain(call: ast.Call) -> bool:
    match call.func:
        case ast.Name(id=name):
            return name in ("str", "repr", "len", "type", "int", "float", "round", "super")
        case ast.Attribute(attr=attr):
            return attr in ("join", "format", "upper", "lower", "strip", "title", "items")
        case _:
            return False


def _bridge_call(rewriting: Rewriting, call: ast.Call) -> None:
    assert isinstance(call.func, ast.Name)
    name = call.func.id
    if name in _FUNCTIONS and rewriting.is_builtin(call.func, name) and len(call.args) == 1:
        if not call.keywords and not isinstance(call.args[0], ast.Starred):
            rewriting.function_to_name(call, _FUNCTIONS[name])
    elif name == "format" and rewriting.is_builtin(call.func, name):
        rewriting.function_to_name(call, "__dd_formatted")
    elif name == "print" and rewriting.is_builtin(call.func, name):
        for argument in call.args:
            if not isinstance(argument, ast.Starred | ast.Constant | ast.JoinedStr):
                rewriting.wrap(argument, "__dd_shown(", ")")


def _bridge_value(rewriting: Rewriting, node: ast.FormattedValue, *, formats: bool) -> None:
    value = node.value
    if isinstance(value, ast.Constant):
        return
    if node.conversion == 114:
        rewriting.opening(rewriting.start(value), "__dd_represented(")
        end = rewriting.end(value)
        mark = rewriting.text.index(b"!", end)
        rewriting.replace(end, mark + 2, ")")
    elif node.conversion == 115 or node.format_spec is None:
        rewriting.wrap(value, "__dd_shown(", ")")
    elif formats:
        match node.format_spec:
            case ast.JoinedStr(values=[ast.Constant(value=str(spec))]):
                rewriting.opening(rewriting.start(value), "__dd_formatted(")
                end = rewriting.end(value)
                colon = rewriting.text.index(b":", end)
                rewriting.replace(end, colon + 1 + len(spec.encode()), f", {spec!r})")
            case _:
                pass
