"""Calls of tools, however they are written: awaited or not, gathered, misspelt, passed as a value.

Owns which calls the program waits for later (they overlap) and which give their value at once. A
name that the program binds is its own and left alone. A misspelt name is corrected only where one
tool alone fits the name and the arguments. Pure; any thread.
"""

from __future__ import annotations

import ast
import builtins
import re

from sandbox.dialect_context import Rewriting
from sandbox.panel_tools import PREFIX
from sandbox.tool_calls import LATER
from sandbox.tools import Tool, ToolSet

_GATHERS = frozenset({"asyncio.gather", "gather"})
_TASKS = frozenset({"asyncio.create_task", "asyncio.ensure_future", "asyncio.shield"})
_FIELD = re.compile(r"^    (\w+):", re.MULTILINE)
_OF_DICTS = frozenset(dir(dict))
_BUILTINS = frozenset(dir(builtins))


def bridge_tools(rewriting: Rewriting, tools: ToolSet) -> None:
    """Rewrite the calls of tools."""
    waits = _Waits(rewriting)
    fields = _fields(rewriting, tools)
    for node in rewriting.nodes:
        if isinstance(node, ast.Call):
            _bridge_task(rewriting, node, waits)
            if isinstance(node.func, ast.Name):
                _bridge_call(rewriting, node, node.func, waits, tools)
            elif isinstance(node.func, ast.Attribute):
                _bridge_panel(rewriting, node, node.func, waits, tools)
        elif isinstance(node, ast.Attribute) and node.attr in fields:
            _bridge_field(rewriting, node)
        elif isinstance(node, ast.Await):
            _bridge_await(rewriting, node, tools)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in tools:
            _bridge_value(rewriting, node, waits)


def _fields(rewriting: Rewriting, tools: ToolSet) -> set[str]:
    """Names of what the results of the program's tools hold, but for names that dicts have."""
    found: set[str] = set()
    for name in rewriting.loads - rewriting.bound:
        called = tools.get(name)
        for _, text in called.stub.structures if called is not None else ():
            found |= set(_FIELD.findall(text))
    return found - _OF_DICTS - rewriting.methods


def _bridge_field(rewriting: Rewriting, node: ast.Attribute) -> None:
    """``reply.status`` of a result is ``reply["status"]``; each object is asked what it is."""
    parent = rewriting.parents.get(node)
    called = isinstance(parent, ast.Call) and parent.func is node
    module = isinstance(node.value, ast.Name) and node.value.id in rewriting.imports
    if isinstance(node.ctx, ast.Load) and not called and not module:
        end = rewriting.end(node)
        before = rewriting.text[: end - len(node.attr.encode())].rstrip()
        rewriting.opening(rewriting.start(node), "__dd_field(")
        rewriting.replace(len(before) - 1, end, f", {node.attr!r})")


def _bridge_call(
    rewriting: Rewriting, call: ast.Call, func: ast.Name, waits: _Waits, tools: ToolSet
) -> None:
    name = func.id
    if name in rewriting.bound or name in rewriting.imports or name.startswith("__dd_"):
        return
    if name not in tools:
        meant = _meant(call, name, tools)
        if meant is None:
            return
        rewriting.note(call, f"{name} is not a function here; {meant.name} is")
        name = meant.name
    later = LATER if waits.later(call) else ""
    if later or name != func.id:
        rewriting.replace(rewriting.start(func), rewriting.end(func), f"{later}{name}")


def _bridge_panel(
    rewriting: Rewriting, call: ast.Call, func: ast.Attribute, waits: _Waits, tools: ToolSet
) -> None:
    """``ui.table(...)`` is the tool ``ui_table(...)``."""
    name = f"{PREFIX}{func.attr}"
    if rewriting.dotted(func.value) == "ui" and "ui" not in rewriting.imports and name in tools:
        later = LATER if waits.later(call) else ""
        rewriting.function_to_name(call, f"{later}{name}")


def _meant(call: ast.Call, name: str, tools: ToolSet) -> Tool | None:
    """The tool that a misspelt name means in this call, as far as its arguments are known."""
    if name in _BUILTINS or any(isinstance(item, ast.Starred) for item in call.args):
        return None
    names = [keyword.arg for keyword in call.keywords]
    known = [item for item in names if item is not None]
    return tools.nearest(name, len(call.args), known) if len(known) == len(names) else None


def _bridge_await(rewriting: Rewriting, node: ast.Await, tools: ToolSet) -> None:
    """``await tool(...)["key"]`` waits for the key: what is meant is the tool's value."""
    root: ast.expr = node.value
    while not isinstance(root, ast.Call) or isinstance(root.func, ast.Attribute):
        match root:
            case ast.Subscript(value=inner) | ast.Attribute(value=inner):
                root = inner
            case ast.Call(func=ast.Attribute(value=inner)):
                root = inner
            case _:
                return
    name = root.func.id if isinstance(root.func, ast.Name) else ""
    if root is node.value or name not in tools or name in rewriting.bound:
        return
    rewriting.replace(rewriting.start(node), rewriting.start(node.value), "")
    rewriting.note(node, f"await belongs to {name}(), not to what follows it")


def _bridge_value(rewriting: Rewriting, node: ast.Name, waits: _Waits) -> None:
    """A tool that is passed on becomes a function that calls it."""
    parent = rewriting.parents.get(node)
    if isinstance(parent, ast.Call) and parent.func is node:
        return
    if node.id in rewriting.bound or node.id in rewriting.imports:
        return
    mapped = isinstance(parent, ast.Call) and node in parent.args and waits.later(parent)
    name = f"{LATER if mapped else ''}{node.id}"
    text = f"(lambda *args, **options: {name}(*args, **options))"
    rewriting.replace(rewriting.start(node), rewriting.end(node), text)


def _bridge_task(rewriting: Rewriting, call: ast.Call, waits: _Waits) -> None:
    """A task that is waited for in the end is what it was made of: nothing else can overlap."""
    if rewriting.dotted(call.func) not in _TASKS or len(call.args) != 1 or not waits.later(call):
        return
    rewriting.replace(rewriting.start(call), rewriting.start(call.args[0]), "(")
    rewriting.replace(rewriting.end(call.args[0]), rewriting.end(call), ")")


class _Waits:
    """What a program waits for, and under which names it keeps that until then."""

    def __init__(self, rewriting: Rewriting) -> None:
        self._rewriting = rewriting
        self._parents = rewriting.parents
        self._names = self._awaited_names()

    def later(self, call: ast.Call) -> bool:
        """Whether the program waits for the value of `call` instead of using it at once."""
        node: ast.AST = call
        parent = self._parents.get(node)
        while parent is not None:
            match parent:
                case ast.Await():
                    return True
                case ast.Call() if self._is_waiting(parent) and node in parent.args:
                    return True
                case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append")):
                    return name in self._names
                case (
                    ast.Assign(targets=[ast.Name(id=name)])
                    | ast.AnnAssign(target=ast.Name(id=name))
                ):
                    return name in self._names
                case ast.ListComp(elt=elt) | ast.GeneratorExp(elt=elt) if elt is node:
                    pass
                case ast.Starred() | ast.List() | ast.Tuple():
                    pass
                case ast.Call() if self._rewriting.dotted(parent.func) in _TASKS | {"list", "map"}:
                    pass
                case _:
                    return False
            node, parent = parent, self._parents.get(parent)
        return False

    def _is_waiting(self, call: ast.Call) -> bool:
        return self._rewriting.dotted(call.func) in _GATHERS

    def _awaited_names(self) -> set[str]:
        """Names that are awaited or gathered somewhere: by themselves, or in a loop over them."""
        found: set[str] = set()
        loops: dict[str, str] = {}
        for node in self._rewriting.nodes:
            match node:
                case ast.Await(value=ast.Name(id=name)):
                    found.add(name)
                case ast.Call() if self._is_waiting(node):
                    found |= {name for item in node.args if (name := _plain_name(item))}
                case (
                    ast.For(target=ast.Name(id=item), iter=ast.Name(id=name))
                    | ast.comprehension(target=ast.Name(id=item), iter=ast.Name(id=name))
                ):
                    loops[item] = name
                case _:
                    pass
        return found | {name for item, name in loops.items() if item in found}


def _plain_name(node: ast.expr) -> str:
    if isinstance(node, ast.Starred):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
