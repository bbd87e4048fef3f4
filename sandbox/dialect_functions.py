"""Attributes of functions, which the interpreter's functions cannot have.

``wrapper.calls = 0`` keeps the value beside the function. Owns which names are kept so: those that
the program sets on a function that it defines. Each object is asked what it is. Pure; any thread.
"""

from __future__ import annotations

import ast

from sandbox.dialect_context import Rewriting


def bridge_functions(rewriting: Rewriting) -> None:
    """Rewrite what sets and reads attributes of functions."""
    functions = {
        node.name
        for node in rewriting.nodes
        if isinstance(node, ast.FunctionDef) and node.name not in rewriting.methods
    }
    names = {
        node.attr
        for node in rewriting.nodes
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.value.id in functions
    }
    for node in rewriting.nodes if names - rewriting.methods else ():
        match node:
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id=owner), attr=name) as target]):
                if owner in functions and name in names:
                    _set(rewriting, target, f"__dd_set_mark({owner}, {name!r}, (", node.value)
            case ast.AugAssign(target=ast.Attribute(value=ast.Name(id=owner), attr=name) as target):
                if owner in functions and name in names:
                    end = rewriting.end(target)
                    at = rewriting.text.index(b"=", end)
                    sign = rewriting.text[end:at].decode().strip()
                    read = f"__dd_mark({owner}, {name!r}) {sign} ("
                    _set(rewriting, target, f"__dd_set_mark({owner}, {name!r}, ({read}", node.value)
                    rewriting.closing(rewriting.end(node.value), ")")
            case ast.Attribute(attr=name, ctx=ast.Load()) if name in names - rewriting.methods:
                end = rewriting.end(node)
                before = rewriting.text[: end - len(name.encode())].rstrip()
                rewriting.opening(rewriting.start(node), "__dd_mark(")
                rewriting.replace(len(before) - 1, end, f", {name!r})")
            case _:
                pass


def _set(rewriting: Rewriting, target: ast.Attribute, text: str, value: ast.expr) -> None:
    equals = rewriting.text.index(b"=", rewriting.end(target))
    rewriting.replace(rewriting.start(target), equals + 1, text)
    rewriting.closing(rewriting.end(value), "))")
