"""Functions with `yield` become functions that collect a list and return its iterator.

The same program when the generator ends by itself, only computes and reads, and nothing is sent
into it. Otherwise the program is refused. Pure; any thread.
"""

from __future__ import annotations

import ast
import re

from sandbox.dialect_context import Function, Rewriting, scope_nodes

_VISIBLE = frozenset(
    [
        "print",
        "write",
        "writelines",
        "write_text",
        "write_bytes",
        "rename",
        "replace",
        "unlink",
        "rmdir",
        "mkdir",
        "touch",
        "send",
        "rmtree",
        "move",
        "remove",
        "makedirs",
    ]
)
_HINT = "Collect the values in a list and return the list."


def bridge_generators(rewriting: Rewriting) -> None:
    """Rewrite every function of the program that has a `yield` of its own."""
    for node in rewriting.nodes:
        if isinstance(node, Function) and node not in rewriting.contexts:
            yields = [n for n in scope_nodes(node) if isinstance(n, ast.Yield | ast.YieldFrom)]
            if yields:
                _bridge_generator(rewriting, node, yields)


def _bridge_generator(
    rewriting: Rewriting, node: Function, yields: list[ast.Yield | ast.YieldFrom]
) -> None:
    _check(rewriting, node, yields)
    first, last = node.body[0], node.body[-1]
    start = rewriting.start(first)
    if isinstance(first, ast.FunctionDef | ast.ClassDef) and first.decorator_list:
        start = rewriting.start(first.decorator_list[0]) - 1
    line_start = rewriting.text.rfind(b"\n", 0, start) + 1
    indent = rewriting.text[line_start:start].decode()
    newline = f"\n{indent}" if not indent.strip() else "; "
    rewriting.opening(start, f"__dd_items = []{newline}")
    rewriting.closing(rewriting.end(last), f"{newline}return iter(__dd_items)")
    for item in yields:
        _bridge_yield(rewriting, item)
    for item in scope_nodes(node):
        if isinstance(item, ast.Return):
            rewriting.replace(rewriting.start(item), rewriting.end(item), "return iter(__dd_items)")
    rewriting.note(node, f"the generator {node.name}() collects its values in a list")


def _bridge_yield(rewriting: Rewriting, item: ast.Yield | ast.YieldFrom) -> None:
    start, end = rewriting.start(item), rewriting.end(item)
    keyword = re.match(rb"yield(\s+from\b)?", rewriting.text[start:end])
    assert keyword is not None
    method = "extend" if isinstance(item, ast.YieldFrom) else "append"
    if item.value is None:
        rewriting.replace(start, end, "__dd_items.append(None)")
        return
    rewriting.replace(start, start + keyword.end(), f"__dd_items.{method}((")
    rewriting.closing(end, "))")


def _check(rewriting: Rewriting, node: Function, yields: list[ast.Yield | ast.YieldFrom]) -> None:
    """Raise `ProgramFaultError` unless a list is equivalent."""
    if isinstance(node, ast.AsyncFunctionDef) or node.decorator_list:
        raise rewriting.refuse(node, f"the generator {node.name}() is of a special kind", _HINT)
    for item in yields:
        if not isinstance(rewriting.parents.get(item), ast.Expr):
            raise rewriting.refuse(item, "a value sent into a generator is not supported", _HINT)
    for item in scope_nodes(node):
        if isinstance(item, ast.Return) and item.value is not None:
            raise rewriting.refuse(item, "return of a value from a generator", _HINT)
        if isinstance(item, ast.While) and _endless(item):
            raise rewriting.refuse(item, f"the generator {node.name}() may never end", _HINT)
        if isinstance(item, ast.Call) and _called(item) in _VISIBLE:
            raise rewriting.refuse(
                item, f"the generator {node.name}() has effects between its values", _HINT
            )


def _endless(loop: ast.While) -> bool:
    """Whether a loop with a constant condition has no way out of its own."""
    if not isinstance(loop.test, ast.Constant) or not loop.test.value:
        return False
    return not any(isinstance(n, ast.Break | ast.Return | ast.Raise) for n in scope_nodes(loop))


def _called(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""
