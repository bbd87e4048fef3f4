"""Functions with `@contextmanager`: what follows the `yield` becomes a function of its own.

Three shapes, each the same program: statements, one `yield`, statements; statements, ``try:`` with
one `yield` and ``finally:``; and the same with ``except`` or ``else``, where the `yield` is the
first of the ``try`` and nothing follows. Condition: the function is called where a ``with`` enters
it at once. Anything else is refused. Pure; any thread.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from sandbox.dialect_context import Rewriting, scope_nodes

_HINT = "Write a class with __enter__ and __exit__, or try and finally."


def bridge_contexts(rewriting: Rewriting) -> None:
    """Rewrite every context manager that is written as a generator."""
    for node in rewriting.nodes:
        if isinstance(node, ast.AsyncWith):
            _bridge_async_with(rewriting, node)
    for node in rewriting.nodes:
        if not isinstance(node, ast.FunctionDef) or len(node.decorator_list) != 1:
            continue
        if rewriting.dotted(node.decorator_list[0]) != "contextlib.contextmanager":
            continue
        _check_uses(rewriting, node)
        _bridge_context(rewriting, node)
        rewriting.contexts.add(node)


def _bridge_async_with(rewriting: Rewriting, node: ast.AsyncWith) -> None:
    """Locks and semaphores, which nothing waits for here: only one thing runs at a time."""
    locks = {
        target.id
        for other in rewriting.nodes
        if isinstance(other, ast.Assign) and isinstance(other.value, ast.Call)
        for target in other.targets
        if isinstance(target, ast.Name) and rewriting.dotted(other.value.func) in _LOCKS
    }
    passed = {
        name
        for other in rewriting.nodes
        if isinstance(other, ast.FunctionDef | ast.AsyncFunctionDef)
        for name in (a.arg for a in other.args.args)
    }
    for item in node.items:
        entered = item.context_expr
        plain = isinstance(entered, ast.Name) and bool(locks) and entered.id in locks | passed
        if not plain or item.optional_vars is not None:
            raise rewriting.refuse(
                node, "async with on something else than a lock", "Use a plain with statement."
            )
    start = rewriting.start(node)
    rewriting.replace(start, rewriting.text.index(b"with", start), "")


_LOCKS = frozenset({"asyncio.Semaphore", "asyncio.BoundedSemaphore", "asyncio.Lock"})


def _check_uses(rewriting: Rewriting, node: ast.FunctionDef) -> None:
    for name in rewriting.nodes:
        if not isinstance(name, ast.Name | ast.Attribute):
            continue
        if (name.id if isinstance(name, ast.Name) else name.attr) != node.name:
            continue
        call = rewriting.parents.get(name)
        if not isinstance(rewriting.parents.get(call) if call else None, ast.withitem):
            raise rewriting.refuse(name, f"{node.name}() is used outside of 'with'", _HINT)


def _bridge_context(rewriting: Rewriting, node: ast.FunctionDef) -> None:
    yields = [n for n in scope_nodes(node) if isinstance(n, ast.Yield | ast.YieldFrom)]
    returns = any(isinstance(n, ast.Return) for n in scope_nodes(node))
    if len(yields) != 1 or isinstance(yields[0], ast.YieldFrom) or returns:
        raise rewriting.refuse(node, f"the context manager {node.name}() is not simple", _HINT)
    item = yields[0]
    statement = rewriting.parents[item]
    block = rewriting.parents[statement]
    if not isinstance(statement, ast.Expr):
        raise rewriting.refuse(node, "a value sent into a context manager", _HINT)
    start = rewriting.start(node.decorator_list[0])
    at = rewriting.text.rindex(b"@", 0, start)
    rewriting.replace(at, rewriting.start(node), "")
    value = rewriting.segment(item.value) if item.value else "None"
    indent = rewriting.text[rewriting.line_start(node.body[0]) : rewriting.start(node.body[0])]
    if block is node:
        _bridge_plain(rewriting, node, statement, value, indent.decode())
    elif isinstance(block, ast.Try) and rewriting.parents[block] is node and _is_simple(block):
        _bridge_finally(rewriting, node, block, statement, value, indent.decode())
    elif isinstance(block, ast.Try) and rewriting.parents[block] is node:
        _bridge_handled(rewriting, node, block, statement, value)
    else:
        raise rewriting.refuse(node, f"the context manager {node.name}() is not simple", _HINT)


def _is_simple(block: ast.Try) -> bool:
    return not block.handlers and not block.orelse and bool(block.finalbody)


def _shared(body: Sequence[ast.AST], node: ast.FunctionDef) -> str:
    """Names of the function that the part after the `yield` binds again."""
    late = {n.id for s in body for n in ast.walk(s) if _is_store(n) and isinstance(n, ast.Name)}
    inside = {id(n) for s in body for n in ast.walk(s)}
    early = {
        n.id
        for n in scope_nodes(node)
        if isinstance(n, ast.Name) and _is_store(n) and id(n) not in inside
    } | {a.arg for a in node.args.args}
    return ", ".join(sorted(late & early))


def _is_store(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _bridge_plain(
    rewriting: Rewriting, node: ast.FunctionDef, statement: ast.Expr, value: str, indent: str
) -> None:
    after = node.body[node.body.index(statement) + 1 :]
    shared = _shared(after, node)
    head = f"__dd_value = {value}\n{indent}def __dd_leave(__dd_well):\n{indent}    "
    head += f"nonlocal {shared}\n{indent}    " if shared else ""
    head += f"if not __dd_well: return None\n{indent}    pass"
    rewriting.replace(rewriting.start(statement), rewriting.end(statement), head)
    _indent(rewriting, after)
    end = f"\n{indent}return __dd_Left(__dd_value, __dd_leave)"
    rewriting.closing(rewriting.end(node.body[-1]), end)


def _bridge_handled(
    rewriting: Rewriting, node: ast.FunctionDef, block: ast.Try, statement: ast.Expr, value: str
) -> None:
    """What the ``with`` raised is raised again where the `yield` was, inside the same ``try``."""
    assert statement.end_lineno is not None
    assert block.end_lineno is not None
    apart = all(s.lineno > statement.end_lineno for s in (*block.body[1:], *block.handlers))
    if block.body[0] is not statement or node.body[-1] is not block or not apart:
        raise rewriting.refuse(node, f"the context manager {node.name}() is not simple", _HINT)
    outer = rewriting.text[rewriting.line_start(block) : rewriting.start(block)].decode()
    inner = rewriting.text[rewriting.line_start(statement) : rewriting.start(statement)].decode()
    if outer.strip() or inner.strip():
        raise rewriting.refuse(node, f"the context manager {node.name}() is not simple", _HINT)
    late: list[ast.AST] = [*block.body[1:], *block.handlers, *block.orelse, *block.finalbody]
    shared = _shared(late, node)
    bound = f"{outer}    nonlocal {shared}\n" if shared else ""
    head = (
        f"__dd_value = {value}\n{outer}def __dd_leave(__dd_well, __dd_error):\n{bound}"
        f"{outer}    try:\n{inner}    if not __dd_well: raise __dd_error"
    )
    rewriting.replace(rewriting.start(block), rewriting.end(statement), head)
    _indent_lines(rewriting, late, statement.end_lineno + 1, block.end_lineno)
    end = f"\n{outer}return __dd_Handled(__dd_value, __dd_leave)"
    rewriting.closing(rewriting.end(block), end)


def _indent(rewriting: Rewriting, body: list[ast.stmt]) -> None:
    """Move the lines of statements to the right."""
    if body:
        assert body[-1].end_lineno is not None
        _indent_lines(rewriting, body, body[0].lineno, body[-1].end_lineno)


def _indent_lines(rewriting: Rewriting, body: Sequence[ast.AST], first: int, last: int) -> None:
    """Move whole lines to the right; lines inside a string are part of it."""
    inside = {
        line
        for statement in body
        for n in ast.walk(statement)
        if isinstance(n, ast.Constant | ast.JoinedStr) and n.end_lineno is not None
        for line in range(n.lineno + 1, n.end_lineno + 1)
    }
    for line in range(first, last + 1):
        offset = rewriting.line_offset(line)
        if line not in inside and rewriting.text[offset : offset + 1].strip(b"\n"):
            rewriting.replace(offset, offset, "    ")
            rewriting.moved.add(line)


def _bridge_finally(
    rewriting: Rewriting,
    node: ast.FunctionDef,
    block: ast.Try,
    statement: ast.Expr,
    value: str,
    indent: str,
) -> None:
    if block.body != [statement] or node.body[-1] is not block:
        raise rewriting.refuse(node, f"the context manager {node.name}() is not simple", _HINT)
    start = rewriting.start(block)
    rewriting.replace(start, rewriting.end(statement), f"__dd_value = {value}")
    shared = _shared(block.finalbody, node)
    keyword = rewriting.text.index(b"finally", rewriting.end(statement))
    colon = rewriting.text.index(b":", keyword)
    first = block.finalbody[0]
    inner = rewriting.text[rewriting.line_start(first) : rewriting.start(first)].decode()
    if inner.strip():
        raise rewriting.refuse(node, f"the context manager {node.name}() is not simple", _HINT)
    extra = f"\n{inner}nonlocal {shared}" if shared else ""
    rewriting.replace(keyword, colon + 1, f"def __dd_leave(__dd_well):{extra}")
    end = f"\n{indent}return __dd_Left(__dd_value, __dd_leave)"
    rewriting.closing(rewriting.end(block.finalbody[-1]), end)
