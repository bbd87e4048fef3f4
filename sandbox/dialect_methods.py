"""Methods of built-in values used as values themselves, as in ``max(d, key=d.get)``.

Owns one condition: the method's name is one of built-in containers and strings, the program names
no attribute of its own so, and the owner is a plain name, so that to look it up again at the call
gives the same. The interpreter only knows such methods in a call. Pure; any thread.
"""

from __future__ import annotations

import ast

from sandbox.dialect_context import Rewriting

_METHODS = frozenset(
    {
        *("get", "setdefault", "update", "items", "keys", "values"),
        *("append", "extend", "add", "discard", "pop", "index", "count"),
        *("lower", "upper", "strip", "split", "join", "startswith", "endswith", "replace"),
    }
)


def bridge_methods(rewriting: Rewriting) -> None:
    """Wrap each such method in a function that calls it."""
    own = {
        *rewriting.methods,
        *(
            node.attr
            for node in rewriting.nodes
            if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load)
        ),
        *_field_names(rewriting.nodes),
    }
    for node in rewriting.nodes:
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attr, ctx=ast.Load()) if (
                attr in _METHODS and attr not in own and name in rewriting.bound
            ):
                parent = rewriting.parents.get(node)
                if not (isinstance(parent, ast.Call) and parent.func is node):
                    rewriting.wrap(node, "(lambda *__dd_args: ", "(*__dd_args))")
            case _:
                pass


def _field_names(nodes: list[ast.AST]) -> set[str]:
    """Names in class bodies, and in texts such as the fields of a named tuple."""
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            names |= {
                item.target.id
                for item in node.body
                if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
            }
        elif isinstance(node, ast.Call) and _is_named_tuple(node.func):
            for text in ast.walk(node):
                if isinstance(text, ast.Constant) and isinstance(text.value, str):
                    names |= set(text.value.replace(",", " ").split())
    return names


def _is_named_tuple(function: ast.expr) -> bool:
    match function:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name == "namedtuple"
        case _:
            return False
