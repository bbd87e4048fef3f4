"""Properties, static methods and class methods, which the interpreter's classes lack.

A property becomes a method that every reader calls; a static method gets a first parameter that is
not used; a class method gets its class from the caller. The same program where names tell what is
meant: otherwise it is refused. Pure; any thread.
"""

from __future__ import annotations

import ast
import datetime as dt
import pathlib
from collections import Counter
from collections.abc import Iterator

from sandbox.dialect_context import Function, Rewriting

# Attributes of built-in objects: a property of such a name could be read on one of them.
KNOWN_ATTRIBUTES = frozenset(
    name
    for kind in (str, bytes, list, dict, set, int, pathlib.Path, dt.datetime, Counter)
    for name in dir(kind)
)
_HINT = "Write an ordinary method that takes self, or a function outside of the class."
_KINDS = frozenset({"property", "staticmethod", "classmethod", "abstractmethod"})
_UNUSED = "__dd_unused"


def bridge_decorators(rewriting: Rewriting) -> None:
    """Rewrite every decorated method of the program."""
    properties: set[str] = set()
    statics: set[str] = set()
    _bridge_setters(rewriting)
    properties |= _bridge_others(rewriting)
    _bridge_registered(rewriting)
    asked = ambiguous_properties(rewriting)
    for node, method, kind in _decorated(rewriting):
        _remove_decorator(rewriting, method)
        if kind == "abstractmethod":
            continue
        if kind == "property":
            if method.name in asked:
                at = rewriting.text.index(method.name.encode(), rewriting.start(method) + 3)
                rewriting.replace(at, at, "__dd_get_")
            else:
                properties.add(method.name)
        elif kind == "staticmethod":
            _add_parameter(rewriting, method)
            statics.add(f"{node.name}.{method.name}")
        else:
            _bridge_class_method(rewriting, node, method)
    if properties:
        _call_properties(rewriting, properties)
    if asked:
        _ask_properties(rewriting, asked)
    if statics:
        _pass_nothing(rewriting, statics)


def _decorated(rewriting: Rewriting) -> Iterator[tuple[ast.ClassDef, Function, str]]:
    for node in rewriting.nodes:
        if not isinstance(node, ast.ClassDef):
            continue
        for method in node.body:
            if not isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            kinds = [_kind(item) for item in method.decorator_list]
            if not kinds or not all(kind in _KINDS for kind in kinds):
                continue
            others = [kind for kind in kinds if kind != "abstractmethod"]
            if len(others) <= 1:
                yield node, method, others[0] if others else "abstractmethod"


def _bridge_registered(rewriting: Rewriting) -> None:
    """``@function.register`` takes the kind from the first parameter's annotation."""
    if "functools.singledispatch" not in rewriting.reached:
        return
    for node in rewriting.nodes:
        if not isinstance(node, ast.FunctionDef) or not node.args.args:
            continue
        kind = node.args.args[0].annotation
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Attribute) and decorator.attr == "register" and kind:
                text = f"({rewriting.segment(kind)})"
                rewriting.closing(rewriting.end(decorator), text)


def _bridge_others(rewriting: Rewriting) -> set[str]:
    """Methods with any other decorator: called on the method once the class has it. Gives the names
    of cached properties, which become methods that remember.
    """
    cached: set[str] = set()
    for node in rewriting.nodes:
        if not isinstance(node, ast.ClassDef):
            continue
        for method in node.body:
            if not isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            kinds = [_kind(item) for item in method.decorator_list]
            if not kinds or any(kind in _KINDS or kind in ("setter", "deleter") for kind in kinds):
                continue
            if kinds == ["cached_property"]:
                made = f"__dd_kept({method.name}, {method.name!r})"
                cached.add(method.name)
            else:
                opened = [f"{rewriting.segment(item)}(" for item in method.decorator_list]
                made = f"__dd_method({''.join(opened)}{method.name}{')' * len(opened)})"
            _remove_decorator(rewriting, method)
            indent = " " * method.col_offset
            end = rewriting.end(method.body[-1])
            rewriting.closing(end, f"\n{indent}{method.name} = {made}")
    return cached


def _kind(decorator: ast.expr) -> str:
    match decorator:
        case ast.Name(id=kind) | ast.Attribute(attr=kind):
            return kind
        case _:
            return "()"


def property_names(rewriting: Rewriting) -> set[str]:
    """Names of the program's properties."""
    return {method.name for _, method, kind in _decorated(rewriting) if kind == "property"}


def _remove_decorator(rewriting: Rewriting, method: Function) -> None:
    """Remove the decorator with its ``@`` up to the ``def``."""
    start = rewriting.start(method.decorator_list[0])
    at = rewriting.text.rindex(b"@", 0, start)
    rewriting.replace(at, rewriting.start(method), "")


def ambiguous_properties(rewriting: Rewriting) -> frozenset[str]:
    """Names of properties that something else may have as well."""
    setters = setter_names(rewriting)
    return frozenset(
        method.name
        for _, method, kind in _decorated(rewriting)
        if kind == "property" and _is_ambiguous(rewriting, method, setters)
    )


def setter_names(rewriting: Rewriting) -> set[str]:
    """Names of properties that can be set."""
    return {
        decorator.value.id
        for node in rewriting.nodes
        if isinstance(node, ast.FunctionDef)
        for decorator in node.decorator_list
        if isinstance(decorator, ast.Attribute)
        and decorator.attr == "setter"
        and isinstance(decorator.value, ast.Name)
    }


def _is_ambiguous(rewriting: Rewriting, method: Function, setters: set[str]) -> bool:
    """Whether something else has an attribute of the property's name: each object is asked."""
    name = method.name
    stored = name not in setters and any(
        isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Store)
        for node in rewriting.nodes
    )
    plain = any(
        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name == name
        and not node.decorator_list
        for node in rewriting.nodes
    )
    return stored or plain or name in KNOWN_ATTRIBUTES


def _ask_properties(rewriting: Rewriting, names: frozenset[str]) -> None:
    for node in rewriting.nodes:
        if not isinstance(node, ast.Attribute) or node.attr not in names:
            continue
        parent = rewriting.parents.get(node)
        is_called = isinstance(parent, ast.Call) and parent.func is node
        if isinstance(node.ctx, ast.Load) and not is_called:
            rewriting.wrap(node.value, "__dd_property(", "")
            end = rewriting.end(node)
            before = rewriting.text[: end - len(node.attr.encode())].rstrip()
            rewriting.replace(len(before) - 1, end, f", '__dd_get_{node.attr}', '{node.attr}')")


def _call_properties(rewriting: Rewriting, names: set[str]) -> None:
    for node in rewriting.nodes:
        if isinstance(node, ast.Attribute) and node.attr in names:
            is_read = isinstance(node.ctx, ast.Load)
            if is_read:
                rewriting.closing(rewriting.end(node), "()")
        elif isinstance(node, ast.Constant) and node.value in names:
            raise rewriting.refuse(node, f"the property {node.value} is read by its name", _HINT)


def _bridge_setters(rewriting: Rewriting) -> None:
    """``@name.setter`` becomes a method that every plain assignment calls."""
    setters = setter_names(rewriting)
    for node in rewriting.nodes:
        if not isinstance(node, ast.FunctionDef):
            continue
        match node.decorator_list:
            case [ast.Attribute(value=ast.Name(id=name), attr="setter")] if name == node.name:
                _remove_decorator(rewriting, node)
                at = rewriting.text.index(name.encode(), rewriting.start(node) + 3)
                rewriting.replace(at, at, "__dd_set_")
            case _:
                pass
    for node in rewriting.nodes:
        if not isinstance(node, ast.Attribute) or node.attr not in setters:
            continue
        if isinstance(node.ctx, ast.Load):
            continue
        parent = rewriting.parents[node]
        if isinstance(parent, ast.AugAssign) and isinstance(node.value, ast.Name):
            _set_in_place(rewriting, node, node.value.id, parent)
            continue
        if not isinstance(parent, ast.Assign) or len(parent.targets) != 1:
            hint = "Assign it alone, as in obj.name = value."
            raise rewriting.refuse(node, f"the property {node.attr} set in a statement", hint)
        end = rewriting.end(node)
        equals = rewriting.text.index(b"=", end)
        rewriting.replace(end - len(node.attr.encode()), equals + 1, f"__dd_set_{node.attr}(")
        rewriting.closing(rewriting.end(parent.value), ")")


def _set_in_place(
    rewriting: Rewriting, node: ast.Attribute, owner: str, statement: ast.AugAssign
) -> None:
    """``obj.name += value`` reads the property and sets it."""
    name, end = node.attr, rewriting.end(node)
    equals = rewriting.text.index(b"=", end)
    operator = rewriting.text[end:equals].decode().strip()
    asked = name in ambiguous_properties(rewriting)
    read = f"__dd_property({owner}, '__dd_get_{name}', '{name}')" if asked else f"{owner}.{name}()"
    start = end - len(name.encode())
    rewriting.replace(start, equals + 1, f"__dd_set_{name}({read} {operator} (")
    rewriting.closing(rewriting.end(statement.value), "))")


def _add_parameter(rewriting: Rewriting, method: Function) -> None:
    """Give a static method the parameter that every method has."""
    paren = rewriting.text.index(b"(", rewriting.start(method))
    arguments = method.args
    some = arguments.posonlyargs or arguments.args or arguments.kwonlyargs
    some = some or arguments.vararg or arguments.kwarg
    rewriting.replace(paren + 1, paren + 1, _UNUSED + (", " if some else ""))


def _pass_nothing(rewriting: Rewriting, statics: set[str]) -> None:
    """Calls through the class pass the parameter themselves."""
    methods = {name.partition(".")[2] for name in statics}
    classes = rewriting.classes.keys()
    for node in rewriting.nodes:
        if not isinstance(node, ast.Attribute) or node.attr not in methods:
            continue
        owner, parent = node.value, rewriting.parents.get(node)
        through_class = isinstance(owner, ast.Name) and owner.id in classes
        called = isinstance(parent, ast.Call) and parent.func is node
        if through_class and isinstance(parent, ast.Call) and called:
            _pass_first(rewriting, parent, "None")
        elif not called:
            _as_value(rewriting, node, "None" if through_class else "")
        elif isinstance(owner, ast.Name) and owner.id == "cls":
            assert isinstance(parent, ast.Call)
            _pass_first(rewriting, parent, "None")


def _as_value(rewriting: Rewriting, node: ast.Attribute, first: str) -> None:
    """A method that is passed on becomes a function that calls it."""
    comma = f"{first}, " if first else ""
    rewriting.wrap(node, "(lambda *args, **options: ", f"({comma}*args, **options))")


def _bridge_class_method(rewriting: Rewriting, node: ast.ClassDef, method: Function) -> None:
    """Callers that name the class pass it on; for others it is found out at the call."""
    own = method.args.args[0].arg if method.args.args else "cls"
    first = method.body[0]
    start = rewriting.start(first)
    line_start = rewriting.text.rfind(b"\n", 0, start) + 1
    indent = rewriting.text[line_start:start].decode()
    separator = f"\n{indent}" if not indent.strip() else "; "
    rewriting.opening(start, f"{own} = __dd_class({own}, {node.name}){separator}")
    for found in rewriting.nodes:
        if not isinstance(found, ast.Attribute) or found.attr != method.name:
            continue
        parent, owner = rewriting.parents.get(found), found.value
        if isinstance(owner, ast.Call) and rewriting.is_builtin(owner.func, "super"):
            raise rewriting.refuse(found, "super() in a class method", _HINT)
        name = owner.id if isinstance(owner, ast.Name) else ""
        named = name in rewriting.classes or name == own
        if not isinstance(parent, ast.Call) or parent.func is not found:
            _as_value(rewriting, found, name if named else "")
        elif named:
            _pass_first(rewriting, parent, name)
        elif name != "self":
            end = rewriting.text.index(b"(", rewriting.end(found))
            dot = rewriting.text[: rewriting.end(found) - len(found.attr.encode())].rstrip()
            comma = ", " if parent.args or parent.keywords else ""
            rewriting.opening(rewriting.start(found), "__dd_class_call(")
            rewriting.replace(len(dot) - 1, end + 1, f", {found.attr!r}{comma}")


def _pass_first(rewriting: Rewriting, call: ast.Call, text: str) -> None:
    paren = rewriting.text.index(b"(", rewriting.end(call.func))
    rewriting.opening(paren + 1, text + (", " if call.args or call.keywords else ""))
