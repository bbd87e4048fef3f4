"""Values of a class that change while classes derived from it are in use, and `__getattr__`.

Owns reads that must look further than the object: at the class that has the value, or at the
object's own `__getattr__`. Everything that could not be told apart is asked at run time. Pure; any
thread.
"""

from __future__ import annotations

import ast

from sandbox.dialect_context import Rewriting
from sandbox.dialect_decorators import KNOWN_ATTRIBUTES, property_names

_HINT = "Keep the value in a variable outside of the classes."


def bridge_shared(rewriting: Rewriting) -> None:
    """Have shared values read where they are kept."""
    owners: dict[str, str] = {}
    for owner, name in sorted(rewriting.shared):
        if owners.setdefault(name, owner) != owner:
            raise rewriting.refuse(
                rewriting.classes[owner], f"{name} is changed in several classes", _HINT
            )
    for node in rewriting.nodes if owners else ():
        if not isinstance(node, ast.Attribute) or node.attr not in owners:
            continue
        owner = owners[node.attr]
        if isinstance(node.value, ast.Name) and node.value.id == owner:
            continue
        if isinstance(rewriting.parents.get(node), ast.AugAssign) and not _is_set(rewriting, node):
            raise rewriting.refuse(node, f"{owner}.{node.attr} is changed and inherited", _HINT)
        if isinstance(node.ctx, ast.Load):
            _ask(rewriting, node, "__dd_value", f"{node.attr!r}, {owner}")


def bridge_getattr(rewriting: Rewriting) -> None:
    """Have the program's `__getattr__` asked for what an object does not have."""
    if "__setattr__" in rewriting.methods:
        _bridge_setattr(rewriting)
    if "__getattr__" not in rewriting.methods:
        return
    known = KNOWN_ATTRIBUTES | property_names(rewriting) | {"parents"}
    for node in rewriting.nodes:
        match node:
            case ast.Attribute(attr=attr, ctx=ast.Load()) if (
                attr not in known and not attr.startswith("__") and not _is_module(rewriting, node)
            ):
                parent = rewriting.parents.get(node)
                called = isinstance(parent, ast.Call) and parent.func is node
                if not (called and attr in rewriting.methods):
                    _ask(rewriting, node, "__dd_getattr", repr(attr))
            case ast.Call(func=func) if rewriting.is_builtin(func, "getattr"):
                rewriting.function_to_name(node, "__dd_getattr")
            case ast.Call(func=func) if rewriting.is_builtin(func, "hasattr"):
                rewriting.function_to_name(node, "__dd_hasattr")
            case _:
                pass


def _bridge_setattr(rewriting: Rewriting) -> None:
    """``owner.name = value`` asks the owner's own `__setattr__`."""
    for node in rewriting.nodes:
        match node:
            case ast.Assign(targets=[ast.Attribute() as target], value=value):
                end = rewriting.end(target)
                before = rewriting.text[: end - len(target.attr.encode())].rstrip()
                equals = rewriting.text.index(b"=", end)
                rewriting.opening(rewriting.start(target), "__dd_setattr(")
                rewriting.replace(len(before) - 1, equals + 1, f", {target.attr!r},")
                rewriting.closing(rewriting.end(value), ")")
            case ast.Call(func=func) if rewriting.is_builtin(func, "setattr"):
                rewriting.function_to_name(node, "__dd_setattr")
            case _:
                pass


def _is_module(rewriting: Rewriting, node: ast.Attribute) -> bool:
    root: ast.expr = node
    while isinstance(root, ast.Attribute):
        root = root.value
    return isinstance(root, ast.Name) and root.id in rewriting.imports


def _is_set(rewriting: Rewriting, node: ast.Attribute) -> bool:
    """Whether the object is given a value of its own somewhere."""
    return any(
        isinstance(other, ast.Assign)
        and any(rewriting.segment(target) == rewriting.segment(node) for target in other.targets)
        for other in rewriting.nodes
    )


def _ask(rewriting: Rewriting, node: ast.Attribute, function: str, rest: str) -> None:
    """``owner.name`` becomes ``function(owner, rest)``."""
    end = rewriting.end(node)
    before = rewriting.text[: end - len(node.attr.encode())].rstrip()
    rewriting.opening(rewriting.start(node), f"{function}(")
    rewriting.replace(len(before) - 1, end, f", {rest})")
