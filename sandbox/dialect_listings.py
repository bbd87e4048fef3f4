"""Listings of folders used as if they were lists, as in ``len(path.iterdir())``.

Owns one condition: an iterator has no length and no items by number, and is true even when it is
empty, so in these places a list is meant and becomes one. Where an iterator works, as in a loop, it
stays one. Pure; any thread.
"""

from __future__ import annotations

import ast

from sandbox.dialect_context import Rewriting

_LISTINGS = frozenset({"iterdir", "glob", "rglob"})


def bridge_listings(rewriting: Rewriting) -> None:
    """Make a list of each listing where one is needed."""
    for node in rewriting.nodes:
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr=attr)) if (
                attr in _LISTINGS
                and attr not in rewriting.methods
                and rewriting.dotted(owner) != "glob"
                and _needs_list(rewriting, node)
            ):
                rewriting.wrap(node, "list(", ")")
                rewriting.note(node, f"made a list of what {attr}() gives")
            case _:
                pass


def _needs_list(rewriting: Rewriting, node: ast.Call) -> bool:
    parent = rewriting.parents.get(node)
    match parent:
        case ast.Call(func=function):
            return node in parent.args and rewriting.is_builtin(function, "len")
        case ast.Subscript(value=value):
            return value is node
        case ast.UnaryOp(op=ast.Not()):
            return True
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            return test is node
        case ast.BoolOp():
            return True
        case ast.BinOp(op=ast.Add()):
            return True
        case _:
            return False
