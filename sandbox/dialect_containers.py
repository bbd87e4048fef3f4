"""Containers and classes in forms that the interpreter lacks: `dict` of an object as a mapping,
`update` with several arguments, a generic class that is given its types, `__dict__` in comparisons.

Each is rewritten only where it is written in that form. Pure; any thread.
"""

from __future__ import annotations

import ast

from sandbox.dialect_context import Rewriting
from sandbox.dialect_decorators import setter_names

# Modules with mappings that are objects here.
_MAPPINGS = frozenset({"configparser", "email", "mailbox"})
_UPDATES = frozenset({"update", "difference_update", "intersection_update"})
_SYNCHRONOUS = frozenset({"__eq__", "__ne__", "__hash__", "__lt__", "__repr__", "__str__"})


def bridge_containers(rewriting: Rewriting) -> None:
    """Rewrite each such form."""
    mappings = _has_mappings(rewriting)
    for node in rewriting.nodes:
        match node:
            case ast.AugAssign(target=ast.Name() | ast.Attribute(value=ast.Name())):
                _bridge_in_place(rewriting, node)
            case ast.Call(func=ast.Name(id="dict"), args=[argument]) if (
                mappings and rewriting.is_builtin(node.func, "dict")
            ):
                if not isinstance(argument, ast.GeneratorExp | ast.ListComp | ast.Dict):
                    rewriting.wrap(argument, "__dd_pairs(", ")")
            case ast.Dict(keys=keys, values=values) if mappings:
                for key, value in zip(keys, values, strict=True):
                    if key is None:
                        rewriting.wrap(value, "dict(__dd_pairs(", "))")
            case ast.Call(func=ast.Attribute(attr="update"), args=[_, _, *_]) if (
                "update" not in rewriting.methods
            ):
                rewriting.method_to_function(node, "__dd_update")
            case ast.Call(func=ast.Subscript(value=ast.Name(id=name)) as func) if (
                name in rewriting.classes
            ):
                rewriting.replace(rewriting.end(func.value), rewriting.end(func), "")
            case _:
                pass


def _bridge_in_place(rewriting: Rewriting, node: ast.AugAssign) -> None:
    """``a += b`` where a class of the program says what that is."""
    name = _IN_PLACE.get(type(node.op))
    target = node.target
    if name is None or f"__{name}__" not in rewriting.methods:
        return
    if isinstance(target, ast.Attribute) and target.attr in setter_names(rewriting):
        return
    end = rewriting.end(target)
    equals = rewriting.text.index(b"=", end)
    rewriting.replace(end, equals + 1, f" = __dd_{name}({rewriting.segment(target)}, (")
    rewriting.closing(rewriting.end(node.value), "))")


_IN_PLACE: dict[type[ast.operator], str] = {
    ast.Add: "iadd",
    ast.Sub: "isub",
    ast.Mult: "imul",
    ast.Div: "itruediv",
    ast.FloorDiv: "ifloordiv",
    ast.Mod: "imod",
    ast.Pow: "ipow",
    ast.BitOr: "ior",
    ast.BitAnd: "iand",
    ast.BitXor: "ixor",
    ast.LShift: "ilshift",
    ast.RShift: "irshift",
}


def _has_mappings(rewriting: Rewriting) -> bool:
    """Whether some object of the program may be a mapping without being a dict."""
    supplied = {name.split(".")[0] for name in rewriting.imports.values()}
    return (
        "keys" in rewriting.methods
        or "collections.ChainMap" in rewriting.reached
        or bool(supplied & _MAPPINGS)
    )


def sets_environment(rewriting: Rewriting) -> bool:
    """Whether the program changes its environment, which is then its own copy."""
    for node in rewriting.nodes:
        if not isinstance(node, ast.Attribute) or rewriting.dotted(node) != "os.environ":
            continue
        match rewriting.parents.get(node):
            case ast.Subscript(ctx=ast.Store() | ast.Del()):
                return True
            case ast.Attribute(attr="setdefault" | "update" | "pop" | "clear"):
                return True
            case _:
                pass
    return False


def own_names(rewriting: Rewriting, node: ast.AST) -> tuple[str, ...] | None:
    """The names that objects of the program may have, where `node` is in a method that the
    interpreter calls by itself and so cannot ask the host; None elsewhere, and where the names
    are not known from the text.
    """
    function = rewriting.enclosing_function(node)
    if not isinstance(function, ast.FunctionDef) or function.name not in _SYNCHRONOUS:
        return None
    if any(rewriting.is_builtin(n, "setattr") for n in rewriting.nodes if isinstance(n, ast.Name)):
        return None
    shared: set[str] = set()
    found: dict[str, None] = {}
    for owner in rewriting.classes.values():
        for item in owner.body:
            match item:
                case ast.AnnAssign(target=ast.Name(id=name)):
                    found[name] = None
                case ast.FunctionDef(name=name) | ast.Assign(targets=[ast.Name(id=name)]):
                    shared.add(name)
                case _:
                    pass
    for other in rewriting.nodes:
        if isinstance(other, ast.Attribute) and isinstance(other.ctx, ast.Store):
            found[other.attr] = None
    return None if shared & found.keys() else tuple(found)
