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
from sandbox.dialect_enums import (
    add_lines,
    bridge_enum,
    bridge_named_tuple,
    enum_kind,
    remove_bases,
)
from sandbox.dialect_shared import bridge_shared
from sandbox.prelude_bases import LIBRARY_BASES

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
_OBJECT_BASES = frozenset(
    {
        *("object", "ABC", "abc.ABC", "Protocol", "Generic", "csv.Dialect", "csv.excel"),
        *("collections.abc.Mapping", "collections.abc.Iterator", "collections.abc.Iterable"),
    }
)
# Bases of Python's library that `isinstance` may be asked about.
_NATIVE_BASES = {"dict": "dict", "collections.OrderedDict": "dict", "list": "list"}
_CLASS_HINT = "Write one class without a base, or plain functions and dicts."


def bridge_classes(rewriting: Rewriting) -> None:
    """Rewrite every class of the program that has a base."""
    rewriting.classes = {n.name: n for n in rewriting.nodes if isinstance(n, ast.ClassDef)}
    for node in sorted(rewriting.classes.values(), key=lambda n: n.lineno):
        if node.bases or node.keywords:
            _bridge_class(rewriting, node)
        elif "__init_subclass__" in _members(node):
            for call in ast.walk(node):
                if isinstance(call, ast.Call):
                    _bridge_super(rewriting, call, [])
    bridge_shared(rewriting)
    if rewriting.families or rewriting.enums:
        for node in rewriting.nodes:
            if isinstance(node, ast.Call):
                _bridge_question(rewriting, node)
    if "dict" in {_NATIVE_BASES.get(name) for name in rewriting.library.values()}:
        _bridge_native(rewriting)


def _base(node: ast.expr) -> ast.expr:
    """A base without what it is generic in."""
    return node.value if isinstance(node, ast.Subscript) else node


def _bridge_class(rewriting: Rewriting, node: ast.ClassDef) -> None:
    dotted = [rewriting.dotted(_base(base)) or "" for base in node.bases]
    if not _bridge_special(rewriting, node, dotted):
        kept = _kept_bases(rewriting, node, dotted)
        if any(k.arg != "metaclass" for k in node.keywords):
            raise rewriting.refuse(node, f"class {node.name} has arguments", _CLASS_HINT)
        _bridge_subclass(rewriting, node, kept)


def _bridge_special(rewriting: Rewriting, node: ast.ClassDef, dotted: list[str]) -> bool:
    """Classes that are no subclasses in the interpreter's sense; whether it is one."""
    if dotted in (["typing.NamedTuple"], ["NamedTuple"]):
        if not bridge_named_tuple(rewriting, node):
            rewriting.library["__dd_TupleBase"] = "__dd_TupleBase"
            rewriting.methods |= LIBRARY_BASES["__dd_TupleBase"][1]
            _bridge_subclass(rewriting, node, ["__dd_TupleBase"])
    elif dotted[:1] in (["typing.TypedDict"], ["TypedDict"]):
        rewriting.replace(rewriting.start(node), rewriting.end(node), f"{node.name} = dict")
    elif enum_kind(dotted) is not None:
        bridge_enum(rewriting, node, dotted)
    elif all(_is_nothing(name) for name in dotted):
        if any(k.arg not in ("metaclass", "total") for k in node.keywords):
            raise rewriting.refuse(node, f"class {node.name} has arguments", _CLASS_HINT)
        remove_bases(rewriting, node)
    else:
        return False
    return True


def _kept_bases(rewriting: Rewriting, node: ast.ClassDef, dotted: list[str]) -> list[str]:
    """The bases that have something to take over, by the names that the program has for them."""
    names = [rewriting.segment(_base(base)) for base in node.bases]
    kept: list[str] = []
    for name, base in zip(names, dotted, strict=True):
        if base in LIBRARY_BASES and name not in rewriting.classes:
            rewriting.library[name] = base
            rewriting.methods |= LIBRARY_BASES[base][1]
        elif _is_nothing(base):
            continue
        elif name not in rewriting.classes and base not in EXCEPTION_BASES:
            raise rewriting.refuse(
                node, f"class {node.name} has the base class {name or base}", _CLASS_HINT
            )
        kept.append(name)
    return kept


def _bridge_native(rewriting: Rewriting) -> None:
    """Where a dict is asked for, a class derived from it gives its own."""
    for node in rewriting.nodes:
        match node:
            case ast.Call() if rewriting.is_builtin(node.func, "dict"):
                rewriting.function_to_name(node, "__dd_plain_dict")
            case ast.Call(keywords=keywords):
                for keyword in keywords:
                    if keyword.arg is None:
                        rewriting.wrap(keyword.value, "__dd_native(", ")")
            case ast.Dict(keys=keys, values=values):
                for key, value in zip(keys, values, strict=True):
                    if key is None:
                        rewriting.wrap(value, "__dd_native(", ")")
            case _:
                pass


def _bridge_subclass(rewriting: Rewriting, node: ast.ClassDef, bases: list[str]) -> None:
    _check_bases(rewriting, node, bases)
    remove_bases(rewriting, node)
    lines = [*_fields(rewriting, node, bases), *_inherited(rewriting, node, bases)]
    add_lines(rewriting, node, lines)
    indent = rewriting.text[rewriting.line_start(node) : rewriting.start(node)].decode()
    if node.decorator_list:
        indent = " " * node.col_offset
    known = [_family_name(rewriting, base) for base in bases]
    made = f"\n{indent}__dd_made({node.name}, [{', '.join(filter(None, known))}])"
    hook = _holder(rewriting, bases, "__init_subclass__")
    if hook in rewriting.classes:
        made += f"; {hook}.__init_subclass__({node.name})"
    rewriting.closing(rewriting.end(node.body[-1]), made)
    rewriting.families.add(node.name)
    if any(base in EXCEPTION_BASES or base in rewriting.own_exceptions for base in bases):
        rewriting.own_exceptions.add(node.name)
    for call in ast.walk(node):
        if isinstance(call, ast.Call):
            _bridge_super(rewriting, call, bases)


def _family_name(rewriting: Rewriting, base: str) -> str:
    """What `isinstance` knows a base as; empty when nobody can ask."""
    if base == "__dd_TupleBase":
        return "tuple"
    if base in rewriting.library:
        return _NATIVE_BASES.get(rewriting.library[base], "")
    return base


def _inherited(rewriting: Rewriting, node: ast.ClassDef, bases: list[str]) -> list[str]:
    """What takes over each member that the class does not define, the nearest base's first."""
    seen = _members(node)
    lines: list[str] = []
    for base in order(rewriting, bases):
        holder = _holder_name(rewriting, base)
        for name in _members_of(rewriting, base):
            if name not in seen and (base, name) not in rewriting.shared:
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


def _holder_name(rewriting: Rewriting, base: str) -> str:
    """The class of the bridged program that has the members of `base`."""
    if base in rewriting.library:
        return LIBRARY_BASES[rewriting.library[base]][0]
    return "__dd_Exception" if base in EXCEPTION_BASES else base


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
                        rewriting.shared.add((name, attr))
                case _:
                    pass


def order(rewriting: Rewriting, bases: list[str]) -> list[str]:
    """The classes in which Python looks, nearest first, as far as the program defines them."""
    found: list[str] = []
    for base in bases:
        found.append(base)
        node = rewriting.classes.get(base)
        if node is not None:
            own = [_base(b) for b in node.bases]
            above = [
                rewriting.segment(b) for b in own if not _is_nothing(rewriting.dotted(b) or "")
            ]
            found.extend(order(rewriting, above))
    return found


def _is_nothing(dotted: str) -> bool:
    return dotted in _OBJECT_BASES or dotted.startswith("typing.")


def _members_of(rewriting: Rewriting, base: str) -> list[str]:
    if base in rewriting.library:
        return sorted(LIBRARY_BASES[rewriting.library[base]][1])
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
            if holder is None and method == "__setattr__":
                holder = "object"
            if holder is None and method not in ("__init__", "__init_subclass__"):
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
        if base in rewriting.library:
            if method in LIBRARY_BASES[rewriting.library[base]][1]:
                return _holder_name(rewriting, base)
            continue
        if method in _members(rewriting.classes[base]):
            return base
    return None


def _bridge_question(rewriting: Rewriting, call: ast.Call) -> None:
    for name in ("isinstance", "issubclass"):
        if rewriting.is_builtin(call.func, name):
            rewriting.function_to_name(call, f"__dd_{name}")
