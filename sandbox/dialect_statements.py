"""Statements that the interpreter lacks: `del`, and `raise` with anything but one string.

Owns their conditions: a deleted name must not be read afterwards. Pure; any thread.
"""

from __future__ import annotations

import ast
import builtins

from sandbox.dialect_context import Rewriting, scope_nodes


def bridge_statements(rewriting: Rewriting) -> None:
    """Rewrite the statements of the program."""
    for node in rewriting.nodes:
        if isinstance(node, ast.Delete):
            _bridge_delete(rewriting, node)
        elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            _bridge_raise(rewriting, node.exc)


def _bridge_delete(rewriting: Rewriting, node: ast.Delete) -> None:
    """``del`` of items, slices and names, one statement for each target, in order."""
    targets = _flat(node.targets)
    if len(targets) == 1 and isinstance(targets[0], ast.Subscript):
        _bridge_delete_item(rewriting, node, targets[0])
        return
    parts = [_delete_text(rewriting, node, target) for target in targets]
    rewriting.replace(rewriting.start(node), rewriting.end(node), "; ".join(parts))


def _flat(targets: list[ast.expr]) -> list[ast.expr]:
    flat: list[ast.expr] = []
    for target in targets:
        flat.extend(_flat(target.elts) if isinstance(target, ast.Tuple | ast.List) else [target])
    return flat


def _bridge_delete_item(rewriting: Rewriting, node: ast.Delete, target: ast.Subscript) -> None:
    """``del d[k]`` by edits around the container and the key, so that both are bridged too."""
    container_end = rewriting.end(target.value)
    bracket = rewriting.text.index(b"[", container_end)
    rewriting.replace(rewriting.start(node), rewriting.start(target), "__dd_delete(")
    end = rewriting.end(target)
    match target.slice:
        case ast.Slice(lower=None | ast.expr(), upper=None | ast.expr()) as part:
            values = [part.lower, part.upper, part.step]
            text = ", ".join(f"({rewriting.segment(v)})" if v else "None" for v in values)
            rewriting.replace(bracket, end, f", (__dd_slice, {text}))")
        case _:
            rewriting.replace(bracket, bracket + 1, ", (")
            rewriting.replace(end - 1, end, "))")


def _delete_text(rewriting: Rewriting, node: ast.Delete, target: ast.expr) -> str:
    match target:
        case ast.Subscript(value=value, slice=ast.Slice() as part):
            values = [part.lower, part.upper, part.step]
            text = ", ".join(f"({rewriting.segment(v)})" if v else "None" for v in values)
            return f"__dd_delete({rewriting.segment(value)}, (__dd_slice, {text}))"
        case ast.Subscript(value=value, slice=key):
            return f"__dd_delete({rewriting.segment(value)}, ({rewriting.segment(key)}))"
        case ast.Name(id=name):
            if _read_after(rewriting, node, name):
                raise rewriting.refuse(
                    node, f"{name} is used again after 'del {name}'", "Leave the del out."
                )
            return f"{name} = None"
        case _:
            raise rewriting.refuse(
                node, "del of an attribute is not supported", "Set the attribute to None."
            )


def _read_after(rewriting: Rewriting, node: ast.Delete, name: str) -> bool:
    """Whether `name` might be read after it was deleted, before it is bound again."""
    scope = rewriting.enclosing_function(node) or rewriting.tree
    first_use: ast.Name | None = None
    for other in scope_nodes(scope):
        if not isinstance(other, ast.Name) or other.id != name:
            continue
        after = (other.lineno, other.col_offset) > (node.lineno, node.col_offset)
        if after and isinstance(other.ctx, ast.Load) and not _rebound(scope, node, other):
            return True
        if not isinstance(other.ctx, ast.Del) and (
            first_use is None
            or (other.lineno, other.col_offset) < (first_use.lineno, first_use.col_offset)
        ):
            first_use = other
    if scope is rewriting.tree and _read_in_functions(rewriting, name):
        return True
    return _in_loop(rewriting, node) and _read_first_in_loop(rewriting, node, name)


def _rebound(scope: ast.AST, node: ast.Delete, load: ast.Name) -> bool:
    """Whether a binding of the name stands between the `del` and the `load`."""
    return any(
        isinstance(other, ast.Name)
        and other.id == load.id
        and isinstance(other.ctx, ast.Store)
        and (node.lineno, node.col_offset) < (other.lineno, other.col_offset)
        and other.lineno <= load.lineno
        for other in scope_nodes(scope)
    )


def _read_in_functions(rewriting: Rewriting, name: str) -> bool:
    return any(
        isinstance(node, ast.Name)
        and node.id == name
        and isinstance(node.ctx, ast.Load)
        and rewriting.enclosing_function(node) is not None
        for node in rewriting.nodes
    )


def _in_loop(rewriting: Rewriting, node: ast.AST) -> bool:
    return _loop_of(rewriting, node) is not None


def _loop_of(rewriting: Rewriting, node: ast.AST) -> ast.AST | None:
    """The outermost loop around `node` within its function."""
    found: ast.AST | None = None
    current = rewriting.parents.get(node)
    while current is not None and not isinstance(current, ast.FunctionDef | ast.AsyncFunctionDef):
        if isinstance(current, ast.For | ast.While):
            found = current
        current = rewriting.parents.get(current)
    return found


def _read_first_in_loop(rewriting: Rewriting, node: ast.Delete, name: str) -> bool:
    """Whether the next round of the loop would read the deleted name before binding it."""
    loop = _loop_of(rewriting, node)
    assert loop is not None
    uses = [n for n in ast.walk(loop) if isinstance(n, ast.Name) and n.id == name]
    stores = [(n.lineno, n.col_offset) for n in uses if isinstance(n.ctx, ast.Store)]
    loads = [(n.lineno, n.col_offset) for n in uses if isinstance(n.ctx, ast.Load)]
    if not loads:
        return False
    return not stores or min(loads)[0] < min(stores)[0]


def _bridge_raise(rewriting: Rewriting, call: ast.Call) -> None:
    """The interpreter's exceptions take one string: other arguments become what `str()` shows."""
    if not isinstance(call.func, ast.Name) or call.keywords or not call.args:
        return
    name = call.func.id
    if name in rewriting.bound:
        return
    is_exception = isinstance(getattr(builtins, name, None), type)
    if not is_exception or name == "SystemExit" or any(map(_is_starred, call.args)):
        return
    first, last = call.args[0], call.args[-1]
    if len(call.args) == 1:
        if not isinstance(first, ast.JoinedStr) and not _is_text(first):
            rewriting.wrap(first, "str(", ")")
        return
    rewriting.opening(rewriting.start(first), "__dd_error_text(")
    rewriting.closing(rewriting.end(last), ")")


def _is_starred(node: ast.expr) -> bool:
    return isinstance(node, ast.Starred)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
