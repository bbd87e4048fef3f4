"""Classes with bases: methods are taken over, the family is kept for `isinstance`, enums are made.

Owns plain inheritance, mixins, `super()`, named tuples and dataclasses with a base. Conditions: the
order in which Python looks for a method is known from the text, and nobody changes a class's values
from outside. Exceptions are in `dialect_exceptions.py`, orders in `dialect_orders.py`. Otherwise
the program is refused. Pure; any thread.
"""

from __future__ import annotations

import ast

from sandbox.dialect_context import Rewriting
from sandbox.dialect_decorators import ambiguous_properties, setter_names

EXCEPTION_BASES = frozenset(
    [
        "Exception",
        "ValueError",
        "TypeError",
        "RuntimeError",
        "KeyError",
        "LookupError",
        "IndexError",
        "OSError",
        "IOError",
        "ArithmeticError",
        "NotImplementedError",
        "FileNotFoundError",
        "PermissionError",
        "AttributeError",
    ]
)
_OBJECT_BASES = frozenset({"object", "ABC", "abc.ABC", "typing.Protocol", "Protocol", "Generic"})
_ENUMS = {
    "enum.Enum": (False, False),
    "enum.IntEnum": (True, False),
    "enum.StrEnum": (True, True),
}
_CLASS_HINT = "Write one class without a base, or plain functions and dicts."


def bridge_classes(rewriting: Rewriting) -> None:
    """Rewrite every class of the program that has a base."""
    rewriting.classes = {n.name: n for n in rewriting.nodes if isinstance(n, ast.ClassDef)}
    for node in sorted(rewriting.classes.values(), key=lambda n: n.lineno):
        if node.bases or node.keywords:
            _bridge_class(rewriting, node)
    if rewriting.families:
        for node in rewriting.nodes:
            if isinstance(node, ast.Call):
                _bridge_question(rewriting, node)


def _bridge_class(rewriting: Rewriting, node: ast.ClassDef) -> None:
    dotted = [rewriting.dotted(base) or "" for base in node.bases]
    names = [rewriting.segment(base) for base in node.bases]
    if len(dotted) == 1 and dotted[0] in ("typing.NamedTuple", "NamedTuple"):
        _bridge_named_tuple(rewriting, node)
        return
    if dotted[-1:] and _enum_kind(dotted) is not None:
        _bridge_enum(rewriting, node, dotted)
        return
    if all(d in _OBJECT_BASES or d.startswith("typing.") for d in dotted):
        if any(k.arg != "metaclass" for k in node.keywords):
            raise rewriting.refuse(node, f"class {node.name} has arguments", _CLASS_HINT)
        _remove_bases(rewriting, node)
        return
    kept = [n for n, d in zip(names, dotted, strict=True) if d not in _OBJECT_BASES]
    for name, base in zip(names, dotted, strict=True):
        if base in _OBJECT_BASES or name in rewriting.classes or base in EXCEPTION_BASES:
            continue
        raise rewriting.refuse(
            node, f"class {node.name} has the base class {name or base}", _CLASS_HINT
        )
    if node.keywords:
        raise rewriting.refuse(node, f"class {node.name} has arguments", _CLASS_HINT)
    _bridge_subclass(rewriting, node, kept)


def _enum_kind(dotted: list[str]) -> tuple[bool, bool] | None:
    if dotted == ["str", "enum.Enum"]:
        return (True, False)
    if dotted == ["int", "enum.Enum"]:
        return (True, False)
    return _ENUMS.get(dotted[-1]) if len(dotted) == 1 else None


def _bridge_enum(rewriting: Rewriting, node: ast.ClassDef, dotted: list[str]) -> None:
    """An enum of plain members is the call that makes its members."""
    kind = _enum_kind(dotted)
    assert kind is not None
    pairs: list[str] = []
    for item in node.body:
        match item:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                pairs.append(f"({name!r}, {_member_value(rewriting, value, pairs)})")
            case _ if is_empty(item):
                pass
            case _:
                raise rewriting.refuse(
                    item, f"the enum {node.name} has methods", "Write them as functions."
                )
    if node.decorator_list and rewriting.segment(node.decorator_list[0]) != "unique":
        raise rewriting.refuse(node, f"the enum {node.name} is decorated", _CLASS_HINT)
    if dotted[0] == "str":  # shows as a member, but compares as its text
        plain, text = "'str'", False
    else:
        plain, text = str(kind[0]), kind[1]
    made = f"__dd_EnumKind({node.name!r}, {plain}, {text}, [{', '.join(pairs)}])"
    start = rewriting.start(node)
    if node.decorator_list:
        start = rewriting.text.rindex(b"@", 0, rewriting.start(node.decorator_list[0]))
    rewriting.replace(start, rewriting.end(node), f"{node.name} = {made}")
    rewriting.enums = True


def _member_value(rewriting: Rewriting, value: ast.expr, pairs: list[str]) -> str:
    if isinstance(value, ast.Call) and rewriting.dotted(value.func) == "enum.auto":
        return "__dd_auto"
    known = {pair.partition("'")[2].partition("'")[0] for pair in pairs}
    if any(isinstance(n, ast.Name) and n.id in known for n in ast.walk(value)):
        raise rewriting.refuse(value, "an enum's member made from another", "Write its value.")
    return rewriting.segment(value)


def _bridge_named_tuple(rewriting: Rewriting, node: ast.ClassDef) -> None:
    """A named tuple without methods is the call of `namedtuple`."""
    names: list[str] = []
    defaults: list[str] = []
    for item in node.body:
        match item:
            case ast.AnnAssign(target=ast.Name(id=name), value=value):
                names.append(name)
                defaults.extend([rewriting.segment(value)] if value else [])
            case _ if is_empty(item):
                pass
            case _:
                raise rewriting.refuse(item, f"the named tuple {node.name} has code", _CLASS_HINT)
    text = (
        f"__dd_collections.namedtuple({node.name!r}, {names!r}, defaults=[{', '.join(defaults)}])"
    )
    rewriting.replace(rewriting.start(node), rewriting.end(node), f"{node.name} = {text}")


def is_empty(item: ast.stmt) -> bool:
    """Whether a statement does nothing."""
    match item:
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            return True
        case _:
            return False


def _remove_bases(rewriting: Rewriting, node: ast.ClassDef) -> None:
    """Remove the parentheses after the class's name."""
    last = node.keywords[-1].value if node.keywords else node.bases[-1]
    close = rewriting.text.index(b")", rewriting.end(last))
    open_ = rewriting.text.index(b"(", rewriting.start(node))
    rewriting.replace(open_, close + 1, "")


def _bridge_subclass(rewriting: Rewriting, node: ast.ClassDef, bases: list[str]) -> None:
    _check_bases(rewriting, node, bases)
    _remove_bases(rewriting, node)
    lines = [*_fields(rewriting, node, bases), *_inherited(rewriting, node, bases)]
    first = node.body[0]
    start = rewriting.start(first)
    if isinstance(first, ast.FunctionDef) and first.decorator_list:
        start = rewriting.text.rindex(b"@", 0, rewriting.start(first.decorator_list[0]))
    separator = _separator(rewriting, start)
    if lines:
        rewriting.opening(start, separator.join(lines) + separator)
    indent = rewriting.text[rewriting.line_start(node) : rewriting.start(node)].decode()
    if node.decorator_list:
        indent = " " * node.col_offset
    made = f"\n{indent}__dd_made({node.name}, [{', '.join(bases)}])"
    rewriting.closing(rewriting.end(node.body[-1]), made)
    rewriting.families.add(node.name)
    if any(base in EXCEPTION_BASES or base in rewriting.own_exceptions for base in bases):
        rewriting.own_exceptions.add(node.name)
    for call in ast.walk(node):
        if isinstance(call, ast.Call):
            _bridge_super(rewriting, call, bases)


def _inherited(rewriting: Rewriting, node: ast.ClassDef, bases: list[str]) -> list[str]:
    """What takes over each member that the class does not define, the nearest base's first."""
    seen = _members(node)
    lines: list[str] = []
    for base in order(rewriting, bases):
        holder = "__dd_Exception" if base in EXCEPTION_BASES else base
        for name in _members_of(rewriting, base):
            if name not in seen:
                kept = _kept_names(rewriting, name)
                lines.extend(f"{each} = {holder}.{each}" for each in kept)
        seen |= set(_members_of(rewriting, base))
    return lines


def _kept_names(rewriting: Rewriting, name: str) -> list[str]:
    """What a member is called in the bridged program: properties may have other names."""
    names = [f"__dd_get_{name}" if name in ambiguous_properties(rewriting) else name]
    if name in setter_names(rewriting):
        names.append(f"__dd_set_{name}")
    return names


def _separator(rewriting: Rewriting, start: int) -> str:
    line_start = rewriting.text.rfind(b"\n", 0, start) + 1
    indent = rewriting.text[line_start:start].decode()
    return f"\n{indent}" if not indent.strip() else "; "


def _check_bases(rewriting: Rewriting, node: ast.ClassDef, bases: list[str]) -> None:
    """Raise `ProgramFaultError` where taking methods over would not be the same."""
    ancestors = order(rewriting, bases)
    if len(bases) > 1 and len(ancestors) != len(set(ancestors)):
        raise rewriting.refuse(node, f"class {node.name} has a base twice", _CLASS_HINT)
    for name in ancestors:
        base = rewriting.classes.get(name)
        if base is None:
            continue
        if len(bases) > 1 and any(
            isinstance(n, ast.Name) and n.id == "super" for n in ast.walk(base)
        ):
            raise rewriting.refuse(node, f"super() in {name}, one of several bases", _CLASS_HINT)
        values = _members(base) - {i.name for i in base.body if isinstance(i, ast.FunctionDef)}
        for other in rewriting.nodes:
            match other:
                case ast.Attribute(value=ast.Name(id=owner), attr=attr, ctx=ast.Store()):
                    if owner == name and attr in values:
                        raise rewriting.refuse(
                            other, f"{name}.{attr} is changed and inherited", _CLASS_HINT
                        )
                case _:
                    pass


def order(rewriting: Rewriting, bases: list[str]) -> list[str]:
    """The classes in which Python looks, nearest first, as far as the program defines them."""
    found: list[str] = []
    for base in bases:
        found.append(base)
        node = rewriting.classes.get(base)
        if node is not None:
            above = [rewriting.segment(b) for b in node.bases]
            found.extend(order(rewriting, [a for a in above if a not in _OBJECT_BASES]))
    return found


def _members_of(rewriting: Rewriting, base: str) -> list[str]:
    if base in EXCEPTION_BASES:
        return ["__init__", "__str__", "__repr__", "with_traceback"]
    return sorted(_members(rewriting.classes[base]))


def _members(node: ast.ClassDef) -> set[str]:
    names = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
    for item in node.body:
        match item:
            case ast.Assign(targets=[ast.Name(id=name)]):
                names.add(name)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()) if (
                not node.decorator_list
            ):
                names.add(name)
            case _:
                pass
    return names


def _fields(rewriting: Rewriting, node: ast.ClassDef, bases: list[str]) -> list[str]:
    """The fields that a dataclass takes over from its base, in order."""
    if not node.decorator_list:
        return []
    own = {
        item.target.id
        for item in node.body
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
    }
    lines: list[str] = []
    for base in reversed(order(rewriting, bases)):
        parent = rewriting.classes.get(base)
        for item in parent.body if parent is not None and parent.decorator_list else []:
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
                if item.target.id in own:
                    raise rewriting.refuse(
                        node, "a field that replaces one of the base", "Rename it."
                    )
                lines.append(rewriting.segment(item))
    return lines


def _bridge_super(rewriting: Rewriting, call: ast.Call, bases: list[str]) -> None:
    """``super().method(args)`` is ``Base.method(self, args)``."""
    match call.func:
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=method):
            function = rewriting.enclosing_function(call)
            if isinstance(function, ast.Lambda) or function is None or not function.args.args:
                raise rewriting.refuse(call, "super() outside of a method", _CLASS_HINT)
            holder = _holder(rewriting, bases, method)
            if holder is None and method != "__init__":
                raise rewriting.refuse(call, f"super().{method}() of no class", _CLASS_HINT)
            self_name = function.args.args[0].arg
            comma = ", " if call.args or call.keywords else ""
            paren = rewriting.text.index(b"(", rewriting.end(call.func))
            name = f"{holder}.{method}" if holder else "__dd_nothing"
            rewriting.replace(rewriting.start(call), paren + 1, f"{name}({self_name}{comma}")
        case _:
            pass


def _holder(rewriting: Rewriting, bases: list[str], method: str) -> str | None:
    """The class that has the method which `super()` means."""
    for base in order(rewriting, bases):
        if base in EXCEPTION_BASES:
            return "__dd_Exception"
        if method in _members(rewriting.classes[base]):
            return base
    return None


def _bridge_question(rewriting: Rewriting, call: ast.Call) -> None:
    for name in ("isinstance", "issubclass"):
        if rewriting.is_builtin(call.func, name):
            rewriting.function_to_name(call, f"__dd_{name}")
