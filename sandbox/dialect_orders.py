"""Orders, sizes and truth by a class's own methods, which the interpreter's operators do not ask.

Owns ``<`` and its kin, `len`, and truth in conditions, in programs whose classes say what these
mean; `total_ordering` and dataclasses with an order. Pure; any thread.
"""

from __future__ import annotations

import ast

from sandbox.dialect_context import Rewriting

_NAMES: dict[type[ast.cmpop], str] = {
    ast.Lt: "__dd_lt",
    ast.LtE: "__dd_le",
    ast.Gt: "__dd_gt",
    ast.GtE: "__dd_ge",
}
_ORDER_METHODS = frozenset({"__lt__", "__le__", "__gt__", "__ge__"})
# Modules whose objects here are classes with a size of their own.
_SIZED = frozenset({"xml", "configparser", "sqlite3"})
_FIELD = ("dataclasses.field", "field")


def bridge_orders(rewriting: Rewriting) -> None:
    """Rewrite what asks a class of the program for its order, size or truth."""
    for node in rewriting.nodes:
        if isinstance(node, ast.ClassDef):
            _bridge_class(rewriting, node)
    rewriting.ordered |= rewriting.enums or "fractions" in {
        name.split(".")[0] for name in rewriting.imports.values()
    }
    supplied = {name.split(".")[0] for name in rewriting.imports.values()}
    sized = "__len__" in rewriting.methods or rewriting.enums or bool(supplied & _SIZED)
    truth = bool(rewriting.methods & {"__len__", "__bool__"})
    for node in rewriting.nodes:
        if rewriting.ordered and isinstance(node, ast.Compare):
            _bridge_compare(rewriting, node)
        if sized and isinstance(node, ast.Call) and rewriting.is_builtin(node.func, "len"):
            rewriting.function_to_name(node, "__dd_len")
        if truth:
            _bridge_truth(rewriting, node)


def _bridge_class(rewriting: Rewriting, node: ast.ClassDef) -> None:
    lines: list[str] = []
    own = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
    if own & _ORDER_METHODS:
        lines.append("__dd_rich = True")
    for decorator in node.decorator_list:
        if (rewriting.dotted(decorator) or "") in ("functools.total_ordering", "total_ordering"):
            lines.append("__dd_total = True")
            at = rewriting.text.rindex(b"@", 0, rewriting.start(decorator))
            rewriting.replace(at, rewriting.end(decorator), "")
            end = rewriting.end(decorator)
            # The line that the decorator stood on must not stay behind with its indentation.
            rest = rewriting.text[end:]
            gap = len(rest) - len(rest.lstrip())
            rewriting.replace(end, end + gap, "")
        elif isinstance(decorator, ast.Call):
            lines.extend(_dataclass_order(rewriting, node, decorator))
    lines.extend(_left_out_fields(rewriting, node))
    if not lines:
        return
    rewriting.ordered |= any(line.startswith("__dd_") for line in lines)
    first = node.body[0]
    start = rewriting.start(first)
    if isinstance(first, ast.FunctionDef) and first.decorator_list:
        start = rewriting.text.rindex(b"@", 0, rewriting.start(first.decorator_list[0]))
    indent = rewriting.text[rewriting.text.rfind(b"\n", 0, start) + 1 : start].decode()
    separator = f"\n{indent}" if not indent.strip() else "; "
    rewriting.opening(start, separator.join(lines) + separator)


def _dataclass_order(rewriting: Rewriting, node: ast.ClassDef, decorator: ast.Call) -> list[str]:
    """``@dataclass(order=True)`` compares the fields in their order."""
    for keyword in decorator.keywords:
        if keyword.arg in ("slots", "kw_only"):
            rewriting.remove_keyword(decorator, keyword)
        if keyword.arg != "order":
            continue
        rewriting.remove_keyword(decorator, keyword)
        if not isinstance(keyword.value, ast.Constant) or not keyword.value.value:
            return []
        names: list[str] = []
        for item in node.body:
            match item:
                case ast.AnnAssign(target=ast.Name(id=name), value=value):
                    if not _is_left_out(value):
                        names.append(name)
                case _:
                    pass
        return [f"__dd_order_fields = {tuple(names)!r}"]
    return []


def _left_out_fields(rewriting: Rewriting, node: ast.ClassDef) -> list[str]:
    """``field(compare=False)`` and ``field(repr=False)`` by methods over the other fields."""
    if not node.decorator_list:
        return []
    names: dict[str, list[str]] = {"compare": [], "repr": [], "init": []}
    found: set[str] = set()
    for item in node.body:
        if not isinstance(item, ast.AnnAssign) or not isinstance(item.target, ast.Name):
            continue
        left_out = _take_options(rewriting, item.value, frozenset(names))
        found |= left_out
        if "init" in left_out:
            _give_default(rewriting, item)
        elif "init" in found:
            raise rewriting.refuse(
                item, "a field after one with init=False", "Put that field last."
            )
        for word in names.keys() - left_out:
            names[word].append(item.target.id)
    lines: list[str] = []
    if "compare" in found:
        equal = f"__dd_fields_equal(self, other, {tuple(names['compare'])!r})"
        lines.append(f"__eq__ = lambda self, other: {equal}")
    if "init" in found:
        gone = [n for n in _fields(node) if n not in names["init"]]
        lines.append(f"__dd_not_init = {tuple(gone)!r}")
    if "repr" in found:
        lines.append(f"__repr__ = lambda self: __dd_fields_shown(self, {tuple(names['repr'])!r})")
    return lines


def _fields(node: ast.ClassDef) -> list[str]:
    return [
        item.target.id
        for item in node.body
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
    ]


def _give_default(rewriting: Rewriting, item: ast.AnnAssign) -> None:
    """A field that is not given when an object is made needs a value until it is set."""
    call = item.value
    assert isinstance(call, ast.Call)
    if not any(k.arg in ("default", "default_factory") for k in call.keywords):
        rewriting.closing(rewriting.end(call) - 1, "default=None")


def _take_options(rewriting: Rewriting, value: ast.expr | None, words: frozenset[str]) -> set[str]:
    """Remove the options `words` of a call of `field`; those that are off."""
    off: set[str] = set()
    if not isinstance(value, ast.Call) or rewriting.dotted(value.func) not in _FIELD:
        return off
    for keyword in value.keywords:
        if keyword.arg in words:
            rewriting.remove_keyword(value, keyword)
            if isinstance(keyword.value, ast.Constant) and not keyword.value.value:
                off.add(str(keyword.arg))
    return off


def _is_left_out(value: ast.expr | None) -> bool:
    """Whether a field has ``compare=False``."""
    return isinstance(value, ast.Call) and any(
        k.arg == "compare" and isinstance(k.value, ast.Constant) and not k.value.value
        for k in value.keywords
    )


def _bridge_compare(rewriting: Rewriting, node: ast.Compare) -> None:
    kinds = [type(op) for op in node.ops]
    if not any(kind in _NAMES for kind in kinds):
        return
    if all(isinstance(n, ast.Constant) for n in node.comparators) and _is_size(node.left):
        return
    if len(node.ops) > 1:
        return  # the interpreter's own comparison, which says when it cannot
    name = _NAMES[kinds[0]]
    left_end = rewriting.end(node.left)
    right = rewriting.start(node.comparators[0])
    between = rewriting.text[left_end:right]
    sign = b"<" if kinds[0] in (ast.Lt, ast.LtE) else b">"
    at = left_end + between.index(sign)
    width = 1 if kinds[0] in (ast.Lt, ast.Gt) else 2
    rewriting.wrap(node, f"{name}(", ")")
    rewriting.replace(at, at + width, ",")


def _is_size(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="len" | "int" | "float" | "sum" | "abs")):
            return True
        case _:
            return False


def _bridge_truth(rewriting: Rewriting, node: ast.AST) -> None:
    match node:
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            _wrap_truth(rewriting, test)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            _wrap_truth(rewriting, operand)
        case ast.comprehension(ifs=ifs):
            for test in ifs:
                _wrap_truth(rewriting, test)
        case ast.Call() if rewriting.is_builtin(node.func, "bool"):
            for argument in node.args:
                _wrap_truth(rewriting, argument)
        case _:
            pass


def _wrap_truth(rewriting: Rewriting, test: ast.expr) -> None:
    """Only what may be an object of a class is asked: names, attributes, calls, items."""
    if isinstance(test, ast.BoolOp):
        for value in test.values:
            _wrap_truth(rewriting, value)
    elif isinstance(test, ast.Name | ast.Attribute | ast.Subscript | ast.Call | ast.BinOp):
        rewriting.wrap(test, "__dd_true(", ")")
