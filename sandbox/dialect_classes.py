"""Classes with a base: custom exceptions without a body, and plain inheritance of methods.

A custom exception becomes a built-in one of the same base that nothing else in the program uses. A
subclass takes over its base's methods, where nothing asks which class an object is of. Otherwise
the program is refused. Pure; any thread.
"""

from __future__ import annotations

import ast

from sandbox.dialect_context import Rewriting

# Built-in exceptions by their base, each so special that programs do not meet them by themselves.
_STAND_INS: dict[str, tuple[str, ...]] = {
    "Exception": ("__dd_error_csv", "__dd_error_re"),
    "BaseException": ("__dd_error_csv", "__dd_error_re"),
    "ValueError": ("__dd_error_binascii", "__dd_error_toml"),
    "RuntimeError": ("NotImplementedError", "RecursionError"),
    "ArithmeticError": ("__dd_error_decimal",),
    "OSError": ("TimeoutError",),
    "IOError": ("TimeoutError",),
}
STAND_IN_TYPES = {
    "__dd_error_csv": "Error",
    "__dd_error_re": "PatternError",
    "__dd_error_binascii": "Error",
    "__dd_error_toml": "TOMLDecodeError",
    "__dd_error_decimal": "InvalidOperation",
}
_EMPTY_BASES = frozenset({"object", "ABC", "abc.ABC"})
_EXCEPTION_HINT = "Raise ValueError or RuntimeError with a message instead."
_CLASS_HINT = "Write one class without a base, or plain functions and dicts."


def bridge_classes(rewriting: Rewriting) -> None:
    """Rewrite every class of the program that has a base."""
    classes = {n.name: n for n in rewriting.nodes if isinstance(n, ast.ClassDef)}
    for node in sorted(classes.values(), key=lambda n: n.lineno):
        if not node.bases and not node.keywords:
            continue
        base = rewriting.segment(node.bases[0]) if len(node.bases) == 1 else ""
        if base in _EMPTY_BASES:
            _remove_bases(rewriting, node)
        elif base in ("NamedTuple", "typing.NamedTuple"):
            _bridge_named_tuple(rewriting, node)
        elif base in _STAND_INS or base in rewriting.exceptions.values():
            _bridge_exception(rewriting, node, base)
        elif base in classes and not node.keywords:
            _bridge_subclass(rewriting, node, classes[base])
        else:
            raise rewriting.refuse(node, f"class {node.name} has a base class", _CLASS_HINT)


def _bridge_exception(rewriting: Rewriting, node: ast.ClassDef, base: str) -> None:
    if not all(_is_empty(item) for item in node.body) or node.decorator_list:
        raise rewriting.refuse(
            node, f"the exception {node.name} has code of its own", _EXCEPTION_HINT
        )
    used = set(rewriting.exceptions)
    free = [n for n in _STAND_INS.get(base, ()) if n not in used and n not in rewriting.loads]
    if not free:
        raise rewriting.refuse(node, "too many exceptions of the program's own", _EXCEPTION_HINT)
    rewriting.exceptions[free[0]] = node.name
    text = f"{node.name} = {free[0]}; __dd_names[str({free[0]})] = {node.name!r}"
    rewriting.replace(rewriting.start(node), rewriting.end(node), text)


def _bridge_named_tuple(rewriting: Rewriting, node: ast.ClassDef) -> None:
    """A named tuple without methods is the call of `namedtuple`."""
    names: list[str] = []
    defaults: list[str] = []
    for item in node.body:
        match item:
            case ast.AnnAssign(target=ast.Name(id=name), value=value):
                names.append(name)
                defaults.extend([rewriting.segment(value)] if value else [])
            case _ if _is_empty(item):
                pass
            case _:
                raise rewriting.refuse(item, f"the named tuple {node.name} has code", _CLASS_HINT)
    text = (
        f"__dd_collections.namedtuple({node.name!r}, {names!r}, defaults=[{', '.join(defaults)}])"
    )
    rewriting.replace(rewriting.start(node), rewriting.end(node), f"{node.name} = {text}")


def _is_empty(item: ast.stmt) -> bool:
    match item:
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            return True
        case _:
            return False


def _remove_bases(rewriting: Rewriting, node: ast.ClassDef) -> None:
    """Remove the parentheses after the class's name."""
    after_base = rewriting.end(node.bases[-1])
    close = rewriting.text.index(b")", after_base)
    open_ = rewriting.text.rindex(b"(", 0, rewriting.start(node.bases[0]))
    rewriting.replace(open_, close + 1, "")


def _bridge_subclass(rewriting: Rewriting, node: ast.ClassDef, base: ast.ClassDef) -> None:
    if _asks_for_class(rewriting, base.name) or node.decorator_list or base.decorator_list:
        raise rewriting.refuse(node, f"class {node.name} inherits from a class", _CLASS_HINT)
    _remove_bases(rewriting, node)
    own = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
    own |= _assigned(node)
    inherited = [name for name in _members(rewriting, base) if name not in own]
    first = node.body[0]
    line_start = rewriting.text.rfind(b"\n", 0, rewriting.start(first)) + 1
    indent = rewriting.text[line_start : rewriting.start(first)].decode()
    separator = f"\n{indent}" if not indent.strip() else "; "
    lines = [f"{name} = {base.name}.{name}" for name in inherited]
    if lines:
        rewriting.opening(rewriting.start(first), separator.join(lines) + separator)
    for call in ast.walk(node):
        if isinstance(call, ast.Call):
            _bridge_super(rewriting, call, base.name)


def _members(rewriting: Rewriting, base: ast.ClassDef) -> list[str]:
    """Names of the base's members, those it inherits itself included."""
    names = [item.name for item in base.body if isinstance(item, ast.FunctionDef)]
    names.extend(sorted(_assigned(base)))
    for parent in base.bases:
        for other in rewriting.nodes:
            if isinstance(other, ast.ClassDef) and other.name == rewriting.segment(parent):
                names.extend(n for n in _members(rewriting, other) if n not in names)
    return names


def _assigned(node: ast.ClassDef) -> set[str]:
    names: set[str] = set()
    for item in node.body:
        match item:
            case ast.Assign(targets=[ast.Name(id=name)]):
                names.add(name)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
                names.add(name)
            case _:
                pass
    return names


def _bridge_super(rewriting: Rewriting, call: ast.Call, base: str) -> None:
    """``super().method(args)`` is ``Base.method(self, args)``."""
    match call.func:
        case ast.Attribute(
            value=ast.Call(func=ast.Name(id="super"), args=[], keywords=[]), attr=method
        ):
            function = rewriting.enclosing_function(call)
            if isinstance(function, ast.Lambda) or function is None or not function.args.args:
                raise rewriting.refuse(call, "super() outside of a method", _CLASS_HINT)
            if method == "__init__" and base == "object":
                return
            self_name = function.args.args[0].arg
            comma = ", " if call.args or call.keywords else ""
            end = rewriting.end(call.func)
            paren = rewriting.text.index(b"(", end)
            rewriting.replace(
                rewriting.start(call), paren + 1, f"{base}.{method}({self_name}{comma}"
            )
        case _:
            pass


def _asks_for_class(rewriting: Rewriting, name: str) -> bool:
    """Whether the program tests for the class by name."""
    for node in rewriting.nodes:
        match node:
            case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, of]):
                if any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(of)):
                    return True
            case _:
                pass
    return False
