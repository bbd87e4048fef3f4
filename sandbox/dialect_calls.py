"""Calls that the interpreter lacks or answers differently become calls it can make.

Owns the tables of replaced functions and methods. Conditions: a name is only replaced when the
program did not bind it, a method only when no class of the program has one of that name.
Pure; any thread.
"""

from __future__ import annotations

import ast
import re

from sandbox.dialect_attributes import bridge_load
from sandbox.dialect_containers import sets_environment
from sandbox.dialect_context import Rewriting
from sandbox.dialect_exceptions import handled_name
from sandbox.dialect_files import (
    Files,
    bridge_arguments,
    bridge_comprehension,
    bridge_loop,
    bridge_open,
    bridge_print,
    bridge_writelines,
    comma,
)
from sandbox.dialect_refusals import refuse_call
from sandbox.dialect_tables import (
    REPLACED_FUNCTIONS,
    REPLACED_METHODS,
    VERBOSE_FUNCTIONS,
)

_ORDERED = {"sorted": "__dd_sorted", "min": "__dd_min", "max": "__dd_max"}
_MAPPED = {"map": "__dd_map", "filter": "__dd_filter"}
_ABSTRACT = {
    "Mapping": "dict",
    "MutableMapping": "dict",
    "Sequence": "(list, tuple, str, bytes)",
    "MutableSequence": "list",
    "Iterable": "(list, tuple, set, frozenset, dict, str, bytes)",
    "Set": "(set, frozenset)",
    "Number": "(int, float)",
    "Real": "(int, float)",
    "Integral": "int",
    "Dict": "dict",
    "List": "list",
    "Tuple": "tuple",
}
_TRACES = {"traceback.print_exc": "__dd_trace_print", "traceback.format_exc": "__dd_trace"}
_CODED = {"encode": "__dd_encoded", "decode": "__dd_decoded"}
_ENCODINGS = frozenset({"utf-8", "utf8", "ascii"})
_CSV_WRITERS = {"csv.writer": "__dd_csv_writer", "csv.DictWriter": "__dd_csv_dict_writer"}
_PLACED = frozenset(
    [
        "zipfile.ZipFile",
        "tarfile.open",
        "tarfile.TarFile",
        "gzip.open",
        "shutil.make_archive",
        "shutil.unpack_archive",
        "tempfile.TemporaryDirectory",
        "tempfile.NamedTemporaryFile",
        "tempfile.mkstemp",
        "sqlite3.connect",
    ]
)
_PURE_CALLS = frozenset(
    [
        "abs",
        "bool",
        "dict",
        "divmod",
        "float",
        "frozenset",
        "int",
        "len",
        "list",
        "ord",
        "repr",
        "round",
        "set",
        "str",
        "sum",
        "tuple",
    ]
)
_PURE_METHODS = frozenset(
    [
        "lower",
        "upper",
        "strip",
        "lstrip",
        "rstrip",
        "split",
        "rsplit",
        "replace",
        "startswith",
        "endswith",
        "title",
        "casefold",
        "get",
        "count",
        "find",
        "index",
        "join",
        "items",
        "keys",
        "values",
        "group",
        "isdigit",
        "isalpha",
        "splitlines",
        "strftime",
        "date",
        "timestamp",
        "zfill",
        "removeprefix",
        "removesuffix",
        "capitalize",
        "isoformat",
    ]
)
_PATH_WORDS = frozenset({"Path", "pathlib", "glob", "iterdir", "rglob", "PurePath"})


def bridge_calls(rewriting: Rewriting) -> None:
    """Rewrite every call, outer ones first."""
    paths = _mentions_paths(rewriting)
    files = Files(rewriting)
    for node in _in_order(rewriting):
        if isinstance(node, ast.Call) and (rewriting.dotted(node.func) or "").startswith("ui."):
            pass  # a tool: see `dialect_tools.py`
        elif isinstance(node, ast.Call):
            bridge_arguments(rewriting, node, files)
            if not bridge_open(rewriting, node, files):
                _bridge_call(rewriting, node, files, paths=paths)
        elif isinstance(node, ast.For):
            bridge_loop(rewriting, node, files)
        elif isinstance(node, ast.GeneratorExp):
            _bridge_generator(rewriting, node)
        elif isinstance(node, ast.comprehension):
            bridge_comprehension(rewriting, node, files)
        elif isinstance(node, ast.Attribute | ast.Name) and isinstance(node.ctx, ast.Load):
            bridge_load(rewriting, node)


def _bridge_generator(rewriting: Rewriting, node: ast.GeneratorExp) -> None:
    """A generator expression that `next` may be asked of is an iterator over its values."""
    parent = rewriting.parents.get(node)
    if isinstance(parent, ast.Call) and rewriting.is_builtin(parent.func, "next"):
        bare = len(parent.args) == 1 and rewriting.end(node) == rewriting.end(parent)
        rewriting.wrap(node, "(iter" if bare else "iter(", ")")
    elif isinstance(parent, ast.Assign | ast.Return):
        rewriting.wrap(node, "iter(", ")")


def _bridge_call(rewriting: Rewriting, call: ast.Call, files: Files, *, paths: bool) -> None:
    dotted = rewriting.dotted(call.func)
    if dotted in _PLACED:  # what it writes later counts for this call
        rewriting.closing(rewriting.end(call) - 1, comma(rewriting, call) + "at=__dd_at()")
    refuse_call(rewriting, call, dotted)
    if dotted == "re.sub" and not _may_be_callback(call.args[1:2], call.keywords):
        return
    if dotted in _TRACES:
        name = _TRACES[dotted]
        error = handled_name(rewriting, call) or "None"
        rewriting.replace(rewriting.start(call), rewriting.end(call), f"{name}({error})")
        return
    if dotted in ("isinstance", "issubclass") and len(call.args) == 2:
        _bridge_abstract(rewriting, call.args[1])
    name = _stand_in(rewriting, call, dotted)
    if name:
        rewriting.function_to_name(call, name)
    elif isinstance(call.func, ast.Name) and dotted is not None:
        _bridge_builtin(rewriting, call, dotted, files, paths=paths)
    elif isinstance(call.func, ast.Attribute) and call.func.attr not in rewriting.methods:
        _bridge_method(rewriting, call, call.func, paths=paths)


def _stand_in(rewriting: Rewriting, call: ast.Call, dotted: str | None) -> str:
    """The name of what is called instead of a function of the library; empty for none."""
    if dotted is None:
        return ""
    if dotted in VERBOSE_FUNCTIONS and _is_verbose(rewriting):
        return VERBOSE_FUNCTIONS[dotted]
    if dotted in _CSV_WRITERS and any(k.arg == "dialect" for k in call.keywords):
        return _CSV_WRITERS[dotted]
    if dotted == "os.getenv" and sets_environment(rewriting):
        return "__dd_getenv"
    if dotted in ("json.load", "json.loads") and call.keywords:
        return f"__dd_json_{dotted[5:]}"
    return REPLACED_FUNCTIONS.get(dotted, "")


def _bridge_builtin(
    rewriting: Rewriting, call: ast.Call, name: str, files: Files, *, paths: bool
) -> None:
    if name == "print" and "contextlib.redirect_stdout" in rewriting.reached:
        rewriting.function_to_name(call, "__dd_print_to")
    elif name in ("sum", "round") and _is_inexact(call):
        rewriting.function_to_name(call, f"__dd_{name}")
    elif name == "object" and not call.args:
        rewriting.function_to_name(call, "__dd_Sentinel")
    elif name == "reversed" and "__reversed__" in rewriting.methods:
        rewriting.function_to_name(call, "__dd_reversed")
    elif name == "print":
        bridge_print(rewriting, call, files)
    elif name == "bytes" and call.args and not isinstance(call.args[0], ast.Constant):
        rewriting.function_to_name(call, "__dd_bytes")
    elif name in _ORDERED:
        if paths or rewriting.ordered or _has_callback(rewriting, call):
            rewriting.function_to_name(call, _ORDERED[name])
    elif name in _MAPPED and call.args and _may_suspend(rewriting, call.args[0]):
        rewriting.function_to_name(call, _MAPPED[name])


def _bridge_method(
    rewriting: Rewriting, call: ast.Call, func: ast.Attribute, *, paths: bool
) -> None:
    name = func.attr
    if _bridge_match(rewriting, call, func) or _bridge_special(rewriting, call, func):
        return
    if name in REPLACED_METHODS and not _is_module(rewriting, func.value):
        rewriting.method_to_function(call, REPLACED_METHODS[name])
    elif name == "read_text" and (call.args or call.keywords):
        rewriting.method_to_function(call, "__dd_read_text")
    elif name == "write_text" and (len(call.args) > 1 or call.keywords):
        rewriting.method_to_function(call, "__dd_write_text")
    elif name == "match" and paths and not _is_module(rewriting, func.value):
        rewriting.method_to_function(call, "__dd_match")
    elif (
        name == "sort"
        and not call.args
        and (paths or rewriting.ordered or _has_callback(rewriting, call))
    ):
        rewriting.method_to_function(call, "__dd_sort")
    elif name == "writelines" and len(call.args) == 1:
        bridge_writelines(rewriting, call, func)
    elif name == "sub" and call.args and _may_be_callback(call.args[:1], call.keywords):
        rewriting.method_to_function(call, "__dd_pattern_sub")


def _bridge_special(rewriting: Rewriting, call: ast.Call, func: ast.Attribute) -> bool:
    """Methods that the interpreter has for some arguments only; whether it is one."""
    if func.attr in _CODED and call.args and not _is_known_encoding(call.args[0]):
        if not _is_module(rewriting, func.value):
            rewriting.method_to_function(call, _CODED[func.attr])
        return True
    if func.attr == "popitem" and (call.args or call.keywords):
        rewriting.method_to_function(call, "__dd_popitem")
        return True
    return False


def _bridge_match(rewriting: Rewriting, call: ast.Call, func: ast.Attribute) -> bool:
    """Places of a named group, and a default for groups, which matches do not know here."""
    match call.args:
        case [ast.Constant(value=str(name))] if func.attr in ("start", "end", "span"):
            names = _group_names(rewriting, name)
            if not names:
                return False
            rewriting.method_to_function(call, "__dd_place")
            at = rewriting.start(call.args[0])
            rewriting.opening(at, f"{func.attr!r}, ")
            rewriting.closing(rewriting.end(call.args[0]), f", {names!r}")
            return True
        case [_] if func.attr == "groups":
            rewriting.method_to_function(call, "__dd_groups")
            return True
        case _:
            return False


def _group_names(rewriting: Rewriting, name: str) -> list[str]:
    """The groups of the only pattern that has a group of that name; empty when none or several."""
    found: list[list[str]] = []
    for node in rewriting.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            groups = re.findall(r"(?<!\\)\((?!\?)|\(\?P<(\w+)>", node.value)
            if name in groups:
                found.append(groups)
    return found[0] if len(found) == 1 else []


def _bridge_abstract(rewriting: Rewriting, kinds: ast.expr) -> None:
    """Abstract kinds of the library that are asked about are the built-in ones."""
    for node in ast.walk(kinds):
        if isinstance(node, ast.Name | ast.Attribute):
            _, _, name = (rewriting.dotted(node) or "").rpartition(".")
            if name in _ABSTRACT and rewriting.dotted(node) != name:
                rewriting.replace(rewriting.start(node), rewriting.end(node), _ABSTRACT[name])


def _is_inexact(call: ast.Call) -> bool:
    """Whether a sum or a rounding may be of floats, in which the interpreter differs."""
    match call:
        case ast.Call(func=ast.Name(id="round"), args=[_, _]):
            return True
        case ast.Call(
            func=ast.Name(id="sum"), args=[ast.GeneratorExp(elt=elt) | ast.ListComp(elt=elt), *_]
        ):
            return not isinstance(elt, ast.Constant | ast.Compare) and not (
                isinstance(elt, ast.Call)
                and isinstance(elt.func, ast.Name)
                and elt.func.id in ("len", "int")
            )
        case _:
            return isinstance(call.func, ast.Name) and call.func.id == "sum" and bool(call.args)


def _is_known_encoding(node: ast.expr) -> bool:
    """Whether the interpreter has the encoding itself."""
    return isinstance(node, ast.Constant) and str(node.value).lower() in _ENCODINGS


def _is_verbose(rewriting: Rewriting) -> bool:
    """Whether the program names the flag of verbose patterns."""
    return any(
        isinstance(node, ast.Attribute | ast.Name)
        and rewriting.dotted(node) in ("re.VERBOSE", "re.X")
        for node in rewriting.nodes
    )


def _is_module(rewriting: Rewriting, node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in rewriting.imports


def _has_callback(rewriting: Rewriting, call: ast.Call) -> bool:
    return any(k.arg == "key" and _may_suspend(rewriting, k.value) for k in call.keywords) or any(
        k.arg is None for k in call.keywords
    )


def _may_suspend(rewriting: Rewriting, callback: ast.expr) -> bool:
    """Whether a callback might call the host; only what is certainly pure is left alone."""
    match callback:
        case ast.Constant(value=None):
            return False
        case ast.Name(id=name) if name in _PURE_CALLS and name not in rewriting.bound:
            return False
        case ast.Attribute(value=ast.Name(id="str"), attr=attr) if attr in _PURE_METHODS:
            return False
        case ast.Lambda(body=body):
            return any(
                not _is_pure_call(rewriting, node)
                for node in ast.walk(body)
                if isinstance(node, ast.Call | ast.Await)
            )
        case _:
            return True


def _is_pure_call(rewriting: Rewriting, node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=name)):
            return name in _PURE_CALLS and name not in rewriting.bound
        case ast.Call(func=ast.Attribute(attr=attr)):
            return attr in _PURE_METHODS and attr not in rewriting.methods
        case _:
            return False


def _may_be_callback(values: list[ast.expr], keywords: list[ast.keyword]) -> bool:
    """Whether the replacement of `re.sub` may be a function."""
    values = [*values, *(k.value for k in keywords if k.arg == "repl")]
    return any(isinstance(value, ast.Lambda | ast.Name | ast.Attribute) for value in values)


def _mentions_paths(rewriting: Rewriting) -> bool:
    return any(
        (isinstance(node, ast.Name) and node.id in _PATH_WORDS)
        or (isinstance(node, ast.Attribute) and node.attr in _PATH_WORDS)
        for node in rewriting.nodes
    )


def _in_order(rewriting: Rewriting) -> list[ast.AST]:
    """All nodes, every node before its children."""
    nodes: list[ast.AST] = []
    stack: list[ast.AST] = [rewriting.tree]
    while stack:
        current = stack.pop()
        nodes.append(current)
        stack.extend(reversed(rewriting.children[current]))
    return nodes
