"""Attributes that the interpreter lacks, and functions of the library that are passed on as values.

Owns reads of names and attributes. Condition: a name that the program gives to something of its own
is left alone. Pure; any thread.
"""

from __future__ import annotations

import ast

from sandbox.dialect_containers import own_names, sets_environment
from sandbox.dialect_context import Rewriting
from sandbox.dialect_tables import REPLACED_ATTRIBUTES, REPLACED_FUNCTIONS

_FUNCTIONS = {
    "parents": "__dd_parents",
    "__dict__": "__dd_vars",
    "__class__": "type",
    "__cause__": "__dd_cause",
    "__name__": "__dd_name",
    "lastgroup": "__dd_lastgroup",
}
# Classes and native functions, which are there as values by their own names.
_BOTH_WAYS = frozenset({"uuid.UUID", "csv.reader", "csv.DictReader"})
_METHOD_VALUES = {
    "__next__": "__dd_next_of",
    "__getitem__": "__dd_getter",
    "__contains__": "__dd_container",
}
_ERROR_ATTRIBUTES = frozenset(
    {
        *("errno", "strerror", "filename", "pos", "lineno", "colno", "msg"),
        *("start", "end", "reason", "encoding"),
    }
)


def bridge_load(rewriting: Rewriting, node: ast.Name | ast.Attribute) -> None:
    """Rewrite one name or attribute that is read."""
    if isinstance(node, ast.Name) and node.id == "__doc__":
        text = repr(ast.get_docstring(rewriting.tree, clean=False))
        rewriting.replace(rewriting.start(node), rewriting.end(node), f"({text})")
    elif not _bridge_value(rewriting, node) and isinstance(node, ast.Attribute):
        _bridge_attribute(rewriting, node)


def _bridge_value(rewriting: Rewriting, node: ast.Name | ast.Attribute) -> bool:
    """A replaced function that is passed on becomes a function that calls its stand-in."""
    dotted = rewriting.dotted(node)
    imported = isinstance(node, ast.Attribute) or node.id in rewriting.imports
    if dotted not in REPLACED_FUNCTIONS or not imported or dotted in _BOTH_WAYS:
        return False
    parent = rewriting.parents.get(node)
    if isinstance(parent, ast.Call) and parent.func is node:
        return False
    text = f"(lambda *args, **options: {REPLACED_FUNCTIONS[dotted]}(*args, **options))"
    rewriting.replace(rewriting.start(node), rewriting.end(node), text)
    return True


def _bridge_attribute(rewriting: Rewriting, node: ast.Attribute) -> None:
    dotted = rewriting.dotted(node) or ""
    if dotted == "os.environ" and sets_environment(rewriting):
        rewriting.replace(rewriting.start(node), rewriting.end(node), "__dd_environ()")
        return
    replacement = REPLACED_ATTRIBUTES.get(dotted)
    if replacement is not None:
        rewriting.replace(rewriting.start(node), rewriting.end(node), replacement)
    elif node.attr in _FUNCTIONS and node.attr not in rewriting.methods:
        if node.attr == "__dict__":
            _refuse_changed_dict(rewriting, node)
            if (names := own_names(rewriting, node)) is not None:
                rewriting.attribute_to_function(node, f"__dd_own({names!r}, ")
                return
        rewriting.attribute_to_function(node, _FUNCTIONS[node.attr])
    elif node.attr in _METHOD_VALUES and _is_value(rewriting, node):
        rewriting.attribute_to_function(node, _METHOD_VALUES[node.attr])
    elif node.attr == "__doc__" and isinstance(node.value, ast.Name):
        text = _docstring(rewriting, node.value.id)
        rewriting.replace(rewriting.start(node), rewriting.end(node), text)
    elif node.attr in _ERROR_ATTRIBUTES and _is_caught(rewriting, node.value):
        rewriting.attribute_to_function(node, f"__dd_{node.attr}")
    elif rewriting.is_builtin(node.value, "str") and node.attr != "maketrans":
        # A method taken from the class becomes a function that calls it.
        text = f"(lambda self, *args: self.{node.attr}(*args))"
        rewriting.replace(rewriting.start(node), rewriting.end(node), text)


def _docstring(rewriting: Rewriting, name: str) -> str:
    """The docstring of what the program defines as `name`; of the program itself for none."""
    for node in rewriting.nodes:
        defines = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        if defines and node.name == name:
            return f"({ast.get_docstring(node, clean=False)!r})"
    return "(None)"


def _is_value(rewriting: Rewriting, node: ast.Attribute) -> bool:
    """Whether a method of an object is passed on and not called."""
    parent = rewriting.parents.get(node)
    called = isinstance(parent, ast.Call) and parent.func is node
    of_class = isinstance(node.value, ast.Name) and node.value.id in rewriting.classes
    return not called and not of_class


def _refuse_changed_dict(rewriting: Rewriting, node: ast.Attribute) -> None:
    parent = rewriting.parents.get(node)
    if (isinstance(parent, ast.Attribute) and parent.attr in ("update", "pop", "clear")) or (
        isinstance(parent, ast.Subscript) and not isinstance(parent.ctx, ast.Load)
    ):
        raise rewriting.refuse(node, "__dict__ that is changed", "Use setattr(obj, name, value).")


def _is_caught(rewriting: Rewriting, node: ast.expr) -> bool:
    """Whether `node` is the error of an ``except ... as name``."""
    return isinstance(node, ast.Name) and any(
        isinstance(handler, ast.ExceptHandler) and handler.name == node.id
        for handler in rewriting.nodes
    )
