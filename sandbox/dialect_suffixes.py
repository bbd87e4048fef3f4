"""File endings compared without their dot, as in ``path.suffix == "jpg"``: always false, and noted.

Owns one doubt: a suffix is empty or begins with a dot, so a comparison with a text of letters and
digits alone can only ever say no. The program stays as it is; that it came to such a comparison is
remembered, and told when it changed nothing. Pure; any thread.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sandbox.dialect_context import Rewriting

ENDING = "__dd_ending("
"""What stands around a remembered ending in a bridged program."""

_CASE_METHODS = frozenset({"lower", "upper", "casefold"})


def bridge_suffixes(rewriting: Rewriting) -> None:
    """Have the endings remembered that suffixes are compared with in vain."""
    known = _suffix_names(rewriting)
    done: set[ast.Constant] = set()
    for node in rewriting.nodes:
        if not isinstance(node, ast.Compare) or len(node.ops) != 1:
            continue
        left, right = node.left, node.comparators[0]
        endings: Iterator[ast.Constant] = iter(())
        match node.ops[0]:
            case ast.Eq() | ast.NotEq() if _is_suffix(left, known):
                endings = _texts(right)
            case ast.Eq() | ast.NotEq() if _is_suffix(right, known):
                endings = _texts(left)
            case ast.In() | ast.NotIn() if _is_suffix(left, known):
                endings = _members(rewriting, right)
            case _:
                pass
        for ending in endings:
            if ending not in done:
                done.add(ending)
                _remember(rewriting, ending)


def _suffix_names(rewriting: Rewriting) -> frozenset[str]:
    """Names that stand for a suffix and for nothing else."""
    suffixes: set[str] = set()
    others: set[str] = set()
    for name, value in _bindings(rewriting.nodes):
        (suffixes if value is not None and _is_suffix(value, frozenset()) else others).add(name)
    return frozenset(suffixes - others)


def _bindings(nodes: list[ast.AST]) -> Iterator[tuple[str, ast.expr | None]]:
    """Every binding of a name, with its value where it is a plain assignment."""
    plain: set[ast.Name] = set()
    for node in nodes:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
            if isinstance(target, ast.Name):
                plain.add(target)
                yield target.id, node.value
    for node in nodes:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load) and node not in plain:
            yield node.id, None
        elif isinstance(node, ast.arg):
            yield node.arg, None


def _is_suffix(node: ast.expr, known: frozenset[str]) -> bool:
    """``x.suffix``, that in lower case, the second half of ``os.path.splitext``, or such a name."""
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr=method), args=[]):
            return method in _CASE_METHODS and _is_suffix(value, known)
        case ast.Attribute(attr="suffix"):
            return True
        case ast.Subscript(
            value=ast.Call(func=ast.Attribute(attr="splitext") | ast.Name(id="splitext")),
            slice=ast.Constant(value=1) | ast.UnaryOp(operand=ast.Constant(value=1)),
        ):
            return True
        case ast.Name(id=name):
            return name in known
        case _:
            return False


def _members(rewriting: Rewriting, node: ast.expr) -> Iterator[ast.Constant]:
    """The texts of a written collection, or of a name that is bound once, to such a one."""
    if isinstance(node, ast.Name):
        values = [value for name, value in _bindings(rewriting.nodes) if name == node.id]
        if len(values) != 1 or values[0] is None or _used_otherwise(rewriting, node.id):
            return
        node = values[0]
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        for element in node.elts:
            yield from _texts(element)


def _used_otherwise(rewriting: Rewriting, name: str) -> bool:
    """Whether a collection is used for anything but ``suffix in collection``."""
    for node in rewriting.nodes:
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            parent = rewriting.parents.get(node)
            if not isinstance(parent, ast.Compare) or node not in parent.comparators:
                return True
    return False


def _texts(node: ast.expr) -> Iterator[ast.Constant]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isalnum():
        yield node


def _remember(rewriting: Rewriting, ending: ast.Constant) -> None:
    """The text stays what it is; that the program came to it is kept."""
    rewriting.wrap(ending, ENDING, ")")
