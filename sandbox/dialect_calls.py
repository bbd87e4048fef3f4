"""Calls that the interpreter lacks or answers differently become calls it can make.

Owns the tables of replaced functions and methods. Conditions: a name is only replaced when the
program did not bind it, a method only when no class of the program has one of that name.
Pure; any thread.
"""

from __future__ import annotations

import ast
import sys

from sandbox.dialect_context import Rewriting
from sandbox.dialect_refusals import refuse_call

# Host functions (`__dd_` names that the prelude does not define) carry the call's position.
REPLACED_FUNCTIONS: dict[str, str] = {
    "os.chmod": "__dd_chmod",
    "os.utime": "__dd_utime",
    "os.removedirs": "__dd_removedirs",
    "os.renames": "__dd_renames",
    "os.access": "__dd_access",
    "os.lstat": "__dd_lstat",
    "os.path.samefile": "__dd_samefile",
    "os.path.lexists": "__dd_lexists",
    "os.chdir": "__dd_chdir",
    "os._exit": "__dd_exit",
    "os.getlogin": "__dd_getlogin",
    "os.getpid": "__dd_getpid",
    "sys.exit": "__dd_exit",
    "exit": "__dd_exit",
    "quit": "__dd_exit",
    "SystemExit": "__dd_exit",
    "sys.stdout.write": "__dd_write_out",
    "sys.stderr.write": "__dd_write_out",
    "sys.stdout.flush": "__dd_nothing",
    "sys.stderr.flush": "__dd_nothing",
    "sys.setrecursionlimit": "__dd_nothing",
    "sys.stdout.reconfigure": "__dd_nothing",
    "datetime.datetime.fromtimestamp": "__dd_fromtimestamp",
    "datetime.datetime.utcfromtimestamp": "__dd_utcfromtimestamp",
    "datetime.date.fromtimestamp": "__dd_datefromtimestamp",
    "pathlib.Path.home": "__dd_home",
    "re.sub": "__dd_re_sub",
    "str.maketrans": "__dd_maketrans",
    "datetime.datetime.today": "__dd_today",
    "datetime.datetime.utcnow": "__dd_utcnow",
    "datetime.datetime.fromordinal": "__dd_fromordinal",
    "datetime.date.fromordinal": "__dd_datefromordinal",
    "datetime.date.fromisocalendar": "__dd_fromisocalendar",
    "dataclasses.asdict": "__dd_asdict",
    "dataclasses.astuple": "__dd_astuple",
    "functools.wraps": "__dd_wraps",
    "vars": "__dd_asdict",
    "callable": "__dd_callable",
    "string.Template": "__dd_Template",
    "uuid.uuid4": "__dd_uuid4",
    "io.open": "__dd_open",
    "codecs.open": "__dd_open",
}

_REPLACED_METHODS: dict[str, str] = {
    "touch": "__dd_touch",
    "chmod": "__dd_chmod",
    "lstat": "__dd_lstat",
    "samefile": "__dd_samefile",
    "relative_to": "__dd_relative_to",
    "is_relative_to": "__dd_is_relative_to",
    "expanduser": "__dd_expanduser",
    "as_uri": "__dd_as_uri",
    "translate": "__dd_translate",
    "format_map": "__dd_format_map",
    "difference_update": "__dd_difference_update",
    "intersection_update": "__dd_intersection_update",
    "isocalendar": "__dd_isocalendar",
    "toordinal": "__dd_toordinal",
    "is_integer": "__dd_is_integer",
    "bit_length": "__dd_bit_length",
}
_REPLACED_ATTRIBUTES: dict[str, str] = {
    "os.F_OK": "0",
    "os.X_OK": "1",
    "os.W_OK": "2",
    "os.R_OK": "4",
    "os.PathLike": "__dd_type",
    "datetime.UTC": "__dd_utc",
    "sys.platform": repr(sys.platform),
    "sys.path": "[]",
}
_ORDERED = {"sorted": "__dd_sorted", "min": "__dd_min", "max": "__dd_max"}
_MAPPED = {"map": "__dd_map", "filter": "__dd_filter"}
_PLAIN_MODES = frozenset({"r", "w", "a", "rb", "wb", "ab", "rt", "wt", "at", "br", "bw"})
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
_ERROR_ATTRIBUTES = frozenset({"errno", "strerror", "filename"})
_TAKES_ITERABLE = frozenset(
    [
        "enumerate",
        "list",
        "sorted",
        "tuple",
        "set",
        "zip",
        "join",
        "map",
        "filter",
        "max",
        "min",
        "islice",
        "extend",
    ]
)
_PATH_WORDS = frozenset({"Path", "pathlib", "glob", "iterdir", "rglob", "PurePath"})


def bridge_calls(rewriting: Rewriting) -> None:
    """Rewrite every call, outer ones first."""
    paths = _mentions_paths(rewriting)
    files = _file_names(rewriting)
    for node in _in_order(rewriting.tree):
        if isinstance(node, ast.Call):
            _bridge_call(rewriting, node, paths=paths)
            _bridge_file_arguments(rewriting, node, files)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            _bridge_attribute(rewriting, node)


def _bridge_attribute(rewriting: Rewriting, node: ast.Attribute) -> None:
    replacement = _REPLACED_ATTRIBUTES.get(rewriting.dotted(node) or "")
    if replacement is not None:
        rewriting.replace(rewriting.start(node), rewriting.end(node), replacement)
    elif node.attr == "parents" and "parents" not in rewriting.methods:
        rewriting.attribute_to_function(node, "__dd_parents")
    elif node.attr == "__name__":
        rewriting.attribute_to_function(node, "__dd_name")
    elif node.attr in _ERROR_ATTRIBUTES and _is_caught(rewriting, node.value):
        rewriting.attribute_to_function(node, f"__dd_{node.attr}")
    elif rewriting.is_builtin(node.value, "str") and node.attr != "maketrans":
        # A method taken from the class becomes a function that calls it.
        text = f"(lambda self, *args: self.{node.attr}(*args))"
        rewriting.replace(rewriting.start(node), rewriting.end(node), text)


def _is_caught(rewriting: Rewriting, node: ast.expr) -> bool:
    """Whether `node` is the error of an ``except ... as name``."""
    return isinstance(node, ast.Name) and any(
        isinstance(handler, ast.ExceptHandler) and handler.name == node.id
        for handler in rewriting.nodes
    )


def _bridge_call(rewriting: Rewriting, call: ast.Call, *, paths: bool) -> None:
    dotted = rewriting.dotted(call.func)
    refuse_call(rewriting, call, dotted)
    if dotted == "re.sub" and not _may_be_callback(call.args[1:2], call.keywords):
        return
    if dotted in REPLACED_FUNCTIONS:
        rewriting.function_to_name(call, REPLACED_FUNCTIONS[dotted])
    elif isinstance(call.func, ast.Name) and dotted is not None:
        _bridge_builtin(rewriting, call, dotted, paths=paths)
    elif isinstance(call.func, ast.Attribute) and call.func.attr not in rewriting.methods:
        _bridge_method(rewriting, call, call.func, paths=paths)


def _bridge_builtin(rewriting: Rewriting, call: ast.Call, name: str, *, paths: bool) -> None:
    if name == "open":
        _bridge_open(rewriting, call)
    elif name == "print":
        _bridge_print(rewriting, call)
    elif name == "bytes" and call.args and not isinstance(call.args[0], ast.Constant):
        rewriting.function_to_name(call, "__dd_bytes")
    elif name in _ORDERED:
        if paths or _has_callback(rewriting, call):
            rewriting.function_to_name(call, _ORDERED[name])
    elif name in _MAPPED and call.args and _may_suspend(rewriting, call.args[0]):
        rewriting.function_to_name(call, _MAPPED[name])


def _bridge_method(
    rewriting: Rewriting, call: ast.Call, func: ast.Attribute, *, paths: bool
) -> None:
    name = func.attr
    if name in _REPLACED_METHODS and not _is_module(rewriting, func.value):
        rewriting.method_to_function(call, _REPLACED_METHODS[name])
    elif name == "read_text" and (call.args or call.keywords):
        rewriting.method_to_function(call, "__dd_read_text")
    elif name == "write_text" and (len(call.args) > 1 or call.keywords):
        rewriting.method_to_function(call, "__dd_write_text")
    elif name == "open" and not _is_module(rewriting, func.value):
        if not _is_plain_open(call, first=0):
            rewriting.method_to_function(call, _open_name(rewriting, call, first=0))
    elif name == "match" and paths and not _is_module(rewriting, func.value):
        rewriting.method_to_function(call, "__dd_match")
    elif name == "sort" and not call.args and (paths or _has_callback(rewriting, call)):
        rewriting.method_to_function(call, "__dd_sort")
    elif name == "writelines" and len(call.args) == 1:
        _bridge_writelines(rewriting, call, func)
    elif name == "sub" and call.args and _may_be_callback(call.args[:1], call.keywords):
        rewriting.method_to_function(call, "__dd_pattern_sub")


def _bridge_file_arguments(rewriting: Rewriting, call: ast.Call, files: set[str]) -> None:
    """A file given to `list`, `enumerate` and the like is loaded first, at the place it is at."""
    dotted = rewriting.dotted(call.func) or ""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else dotted.rpartition(".")[2]
    if name not in _TAKES_ITERABLE:
        return
    for argument in call.args:
        is_file = isinstance(argument, ast.Name) and argument.id in files
        if is_file or _is_open(rewriting, argument):
            rewriting.wrap(argument, "__dd_loaded(", ", __dd_at())")


def _is_open(rewriting: Rewriting, node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and (
        rewriting.dotted(node.func) == "open"
        or (isinstance(node.func, ast.Attribute) and node.func.attr == "open")
    )


def _file_names(rewriting: Rewriting) -> set[str]:
    """Names that are bound to open files only."""
    files: set[str] = set()
    stores: dict[str, int] = {}
    opened: dict[str, int] = {}
    for node in rewriting.nodes:
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                stores[name] = stores.get(name, 0) + 1
            case ast.withitem(context_expr=value, optional_vars=ast.Name(id=name)):
                opened[name] = opened.get(name, 0) + _is_open(rewriting, value)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                opened[name] = opened.get(name, 0) + _is_open(rewriting, value)
            case _:
                pass
    files.update(name for name, count in opened.items() if count == stores.get(name))
    return files


def _bridge_open(rewriting: Rewriting, call: ast.Call) -> None:
    """`open` with more than a path and a plain mode is answered by the host itself."""
    if not _is_plain_open(call, first=1):
        rewriting.function_to_name(call, _open_name(rewriting, call, first=1))


def _is_module(rewriting: Rewriting, node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in rewriting.imports


def _mode_values(call: ast.Call, first: int) -> list[ast.expr]:
    return [*call.args[first : first + 1], *(k.value for k in call.keywords if k.arg == "mode")]


def _open_name(rewriting: Rewriting, call: ast.Call, *, first: int) -> str:
    """The host's `open`, or the prelude's for what the interpreter's handles cannot do.

    Those are reading and writing through one handle, and reading without newline translation.
    """
    modes = [m.value for m in _mode_values(call, first) if isinstance(m, ast.Constant)]
    mode = str(modes[0]) if modes else "r"
    reads_raw = "r" in mode and "b" not in mode and any(k.arg == "newline" for k in call.keywords)
    if "+" not in mode and not reads_raw:
        return "__dd_open"
    rewriting.closing(rewriting.end(call) - 1, _comma(rewriting, call) + "at=__dd_at()")
    return "__dd_open_update" if "+" in mode else "__dd_open_raw"


def _is_plain_open(call: ast.Call, *, first: int) -> bool:
    """Whether the interpreter takes this `open` as it is; `first`: index of the mode."""
    if len(call.args) > first + 1 or any(k.arg != "mode" for k in call.keywords):
        return False
    return all(
        isinstance(mode, ast.Constant) and mode.value in _PLAIN_MODES
        for mode in _mode_values(call, first)
    )


def _bridge_print(rewriting: Rewriting, call: ast.Call) -> None:
    """``print(..., file=f)`` writes its text to `f`; the standard streams stay as they are."""
    for keyword in call.keywords:
        if keyword.arg != "file":
            continue
        if rewriting.dotted(keyword.value) in ("sys.stderr", "sys.stdout"):
            return
        rewriting.function_to_name(call, "__dd_print")
        rewriting.closing(rewriting.end(call) - 1, _comma(rewriting, call) + "at=__dd_at()")
        return


def _comma(rewriting: Rewriting, call: ast.Call) -> str:
    inside = rewriting.text[: rewriting.end(call) - 1].rstrip()
    return " " if inside.endswith(b",") else ", "


def _bridge_writelines(rewriting: Rewriting, call: ast.Call, func: ast.Attribute) -> None:
    """``f.writelines(lines)`` is ``f.write`` of the joined lines."""
    name_end = rewriting.end(func)
    rewriting.replace(name_end - len("writelines"), name_end, "write")
    like = f", {func.value.id}" if isinstance(func.value, ast.Name) else ""
    argument = call.args[0]
    # A generator expression shares the call's parentheses: it needs its own with a second argument.
    bare = isinstance(argument, ast.GeneratorExp)
    if bare:
        start, end = rewriting.end(func), rewriting.end(call)
        rewriting.opening(start, "(__dd_joined(")
        rewriting.closing(end, f"{like}))")
    else:
        rewriting.opening(rewriting.start(argument), "__dd_joined(")
        rewriting.closing(rewriting.end(argument), f"{like})")


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


def _in_order(node: ast.AST) -> list[ast.AST]:
    """All nodes, every node before its children."""
    nodes: list[ast.AST] = []
    stack = [node]
    while stack:
        current = stack.pop()
        nodes.append(current)
        stack.extend(reversed(list(ast.iter_child_nodes(current))))
    return nodes
