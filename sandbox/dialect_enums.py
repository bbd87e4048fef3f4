"""Enums, named tuples and typed dicts, each as the call or the class that makes the same.

Owns enums with and without code, flags, and named tuples. Conditions: members are plain values, not
made from other members. Pure; any thread.
"""

from __future__ import annotations

import ast

from sandbox.dialect_context import Rewriting

_ENUMS = {
    "enum.Enum": ("False", False, False),
    "enum.IntEnum": ("True", False, False),
    "enum.StrEnum": ("True", True, False),
    "enum.Flag": ("False", False, True),
    "enum.IntFlag": ("True", False, True),
}
_HINT = "Write one class without a base, or plain functions and dicts."


def is_empty(item: ast.stmt) -> bool:
    """Whether a statement does nothing."""
    match item:
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            return True
        case _:
            return False


def enum_kind(dotted: list[str]) -> tuple[str, bool, bool] | None:
    """How members compare, whether they are texts, whether they are flags; None: no enum."""
    match dotted:
        case ["str", "enum.Enum"]:  # shows as a member, but compares as its text
            return ("'str'", False, False)
        case ["int", "enum.Enum"]:
            return ("True", False, False)
        case [one]:
            return _ENUMS.get(one)
        case _:
            return None


def bridge_enum(rewriting: Rewriting, node: ast.ClassDef, dotted: list[str]) -> None:
    """An enum is the call that makes its members, of a class with its methods if it has some."""
    kind = enum_kind(dotted)
    assert kind is not None
    pairs: list[str] = []
    methods: list[str] = []
    members: list[ast.stmt] = []
    for item in node.body:
        match item:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                pairs.append(f"({name!r}, {_member_value(rewriting, value, pairs)})")
                members.append(item)
            case ast.FunctionDef(name=name):
                methods.append(name)
            case _ if is_empty(item):
                pass
            case _:
                raise rewriting.refuse(
                    item, f"the enum {node.name} has code", "Write it as a function."
                )
    decorators = [rewriting.segment(item) for item in node.decorator_list]
    if any(item not in ("unique", "enum.unique") for item in decorators):
        raise rewriting.refuse(node, f"the enum {node.name} is decorated", _HINT)
    plain, text, flag = kind
    made = f"__dd_EnumKind({node.name!r}, {plain}, {text}, [{', '.join(pairs)}]"
    made += f", flag={flag}" if flag else ""
    start = rewriting.start(node)
    if node.decorator_list:
        start = rewriting.text.rindex(b"@", 0, rewriting.start(node.decorator_list[0]))
    rewriting.enums = True
    if flag:
        rewriting.methods.add("__bool__")
    if not methods:
        rewriting.replace(start, rewriting.end(node), f"{node.name} = {made})")
        return
    for item in members:
        rewriting.replace(rewriting.start(item), rewriting.end(item), "pass")
    remove_bases(rewriting, node)
    rewriting.replace(start, rewriting.start(node), "")
    kept = [name for name in _ENUM_METHODS if name not in methods]
    add_lines(rewriting, node, [f"{name} = __dd_Enum.{name}" for name in kept])
    indent = " " * node.col_offset
    made = f"\n{indent}{node.name} = {made}, of={node.name}, methods={methods!r})"
    rewriting.closing(rewriting.end(node.body[-1]), made)


_ENUM_METHODS = (
    *("__str__", "__repr__", "__eq__", "__hash__", "__int__", "__index__", "__bool__"),
    *("__lt__", "__le__", "__gt__", "__ge__", "__add__", "__radd__", "__sub__", "__rsub__"),
    *("__mul__", "__rmul__", "__or__", "__and__", "__xor__", "__invert__", "__contains__"),
    *("__iter__", "lower", "upper", "__dd_rich"),
)


def add_lines(rewriting: Rewriting, node: ast.ClassDef, lines: list[str]) -> None:
    """Put statements at the start of a class."""
    if not lines:
        return
    first = node.body[0]
    start = rewriting.start(first)
    if isinstance(first, ast.FunctionDef | ast.AsyncFunctionDef) and first.decorator_list:
        start = rewriting.text.rindex(b"@", 0, rewriting.start(first.decorator_list[0]))
    separator = separator_at(rewriting, start)
    rewriting.opening(start, separator.join(lines) + separator)


def separator_at(rewriting: Rewriting, start: int) -> str:
    """What stands between a statement put before `start` and what is there."""
    line_start = rewriting.text.rfind(b"\n", 0, start) + 1
    indent = rewriting.text[line_start:start].decode()
    return f"\n{indent}" if not indent.strip() else "; "


def remove_bases(rewriting: Rewriting, node: ast.ClassDef) -> None:
    """Remove the parentheses after the class's name."""
    last = node.keywords[-1].value if node.keywords else node.bases[-1]
    close = rewriting.text.index(b")", rewriting.end(last))
    open_ = rewriting.text.index(b"(", rewriting.start(node))
    rewriting.replace(open_, close + 1, "")


def _member_value(rewriting: Rewriting, value: ast.expr, pairs: list[str]) -> str:
    if isinstance(value, ast.Call) and rewriting.dotted(value.func) == "enum.auto":
        return "__dd_auto"
    known = {pair.partition("'")[2].partition("'")[0] for pair in pairs}
    if any(isinstance(n, ast.Name) and n.id in known for n in ast.walk(value)):
        if isinstance(value, ast.BinOp | ast.Name):  # of flags, which are numbers here
            return f"(lambda values: {_of_members(rewriting, value, known)})"
        raise rewriting.refuse(value, "an enum's member made from another", "Write its value.")
    return rewriting.segment(value)


def _of_members(rewriting: Rewriting, value: ast.expr, known: set[str]) -> str:
    """The expression `value` with members as their values."""
    match value:
        case ast.Name(id=name) if name in known:
            return f"values[{name!r}]"
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            first = _of_members(rewriting, left, known)
            return f"({first} | {_of_members(rewriting, right, known)})"
        case ast.Constant():
            return rewriting.segment(value)
        case _:
            raise rewriting.refuse(value, "an enum's member made from another", "Write its value.")


def bridge_named_tuple(rewriting: Rewriting, node: ast.ClassDef) -> bool:
    """A named tuple without methods is the call of `namedtuple`; whether it has none."""
    names: list[str] = []
    defaults: list[str] = []
    fields: list[ast.stmt] = []
    plain = True
    for item in node.body:
        match item:
            case ast.AnnAssign(target=ast.Name(id=name), value=value):
                names.append(name)
                fields.append(item)
                defaults.extend([rewriting.segment(value)] if value else [])
            case _ if is_empty(item):
                pass
            case _:
                plain = False
    if plain:
        given = f"{node.name!r}, {names!r}, defaults=[{', '.join(defaults)}]"
        text = f"{node.name} = __dd_collections.namedtuple({given})"
        rewriting.replace(rewriting.start(node), rewriting.end(node), text)
        return True
    for item in fields:
        rewriting.replace(rewriting.start(item), rewriting.end(item), "pass")
    late = names[len(names) - len(defaults) :]
    pairs = ", ".join(f"{n!r}: {d}" for n, d in zip(late, defaults, strict=True))
    shown = f"({', '.join(map(repr, names))},)"
    add_lines(
        rewriting,
        node,
        [
            f"__dd_names = {shown}",
            f"_fields = {shown}",
            f"__dd_defaults = {{{pairs}}}",
            "__dd_rich = True",
        ],
    )
    rewriting.ordered = True
    return False
