"""Exceptions of a program's own, which the interpreter does not take.

They become ordinary classes; a native exception carries each through `raise`, and a handler gets
the program's own object back. A handler asks, when it is reached, whether what was raised is of the
class it names. Pure; any thread.
"""

from __future__ import annotations

import ast
import builtins

from sandbox.dialect_context import Rewriting


def bridge_exceptions(rewriting: Rewriting) -> None:
    """Rewrite `raise` and `except` of a program that has exceptions of its own."""
    if rewriting.own_exceptions:
        _bridge_own(rewriting)
    _bridge_causes(rewriting)


def _bridge_own(rewriting: Rewriting) -> None:
    for node in rewriting.nodes:
        if isinstance(node, ast.Raise):
            _bridge_raise(rewriting, node)
        elif isinstance(node, ast.ExceptHandler):
            _bridge_handler(rewriting, node)
    for name in rewriting.own_exceptions:
        _keep_arguments(rewriting, rewriting.classes[name])


def _bridge_causes(rewriting: Rewriting) -> None:
    """Where a program asks for causes, ``raise error from cause`` remembers them."""
    asked = any(isinstance(n, ast.Attribute) and n.attr == "__cause__" for n in rewriting.nodes)
    for node in rewriting.nodes if asked else ():
        if isinstance(node, ast.Raise) and node.exc is not None and node.cause is not None:
            rewriting.opening(rewriting.start(node.exc), "__dd_from(")
            between = rewriting.text.index(b"from", rewriting.end(node.exc))
            rewriting.replace(between, between + 4, ",")
            rewriting.closing(rewriting.end(node.cause), ")")


def _bridge_raise(rewriting: Rewriting, node: ast.Raise) -> None:
    if node.exc is None:
        name = handled_name(rewriting, node)
        if name is not None:
            rewriting.closing(rewriting.end(node), f" __dd_raise({name})")
        return
    asked = any(isinstance(n, ast.Attribute) and n.attr == "__cause__" for n in rewriting.nodes)
    if not _is_native(rewriting, node.exc):
        last = node.cause if asked and node.cause is not None else node.exc
        rewriting.opening(rewriting.start(node.exc), "__dd_raise(")
        rewriting.closing(rewriting.end(last), ")")
    if node.cause is not None and not asked:  # nothing here shows a cause
        rewriting.replace(rewriting.end(node.exc), rewriting.end(node.cause), "")


def _is_native(rewriting: Rewriting, raised: ast.expr) -> bool:
    func = raised.func if isinstance(raised, ast.Call) else raised
    if not isinstance(func, ast.Name) or func.id in rewriting.bound:
        return False
    return isinstance(getattr(builtins, func.id, None), type)


def handled_name(rewriting: Rewriting, node: ast.AST) -> str | None:
    """The name of the error that is handled at `node`."""
    current = rewriting.parents.get(node)
    while current is not None:
        if isinstance(current, ast.ExceptHandler):
            return current.name
        current = rewriting.parents.get(current)
    return None


def _bridge_handler(rewriting: Rewriting, node: ast.ExceptHandler) -> None:
    if node.type is not None:
        rewriting.wrap(node.type, "__dd_catch(", ")")
    if node.name is None:
        return
    first = node.body[0]
    start = rewriting.start(first)
    indent = rewriting.text[rewriting.text.rfind(b"\n", 0, start) + 1 : start].decode()
    if first.lineno in rewriting.moved:
        indent += "    "
    separator = f"\n{indent}" if not indent.strip() else "; "
    rewriting.opening(start, f"{node.name} = __dd_caught({node.name}){separator}")


def _keep_arguments(rewriting: Rewriting, node: ast.ClassDef) -> None:
    """An `__init__` that does not call its base's leaves `args` as they were given."""
    for item in node.body:
        if not isinstance(item, ast.FunctionDef) or item.name != "__init__":
            continue
        if any(isinstance(n, ast.Name) and n.id == "super" for n in ast.walk(item)):
            return
        names = [argument.arg for argument in item.args.args]
        if not names or item.args.vararg or "Exception.__init__" in rewriting.segment(item):
            return
        start = rewriting.start(item.body[0])
        indent = rewriting.text[rewriting.text.rfind(b"\n", 0, start) + 1 : start].decode()
        separator = f"\n{indent}" if not indent.strip() else "; "
        given = "".join(f"{name}, " for name in names[1:])
        rewriting.opening(start, f"{names[0]}.args = ({given}){separator}")
