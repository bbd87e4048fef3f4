"""Calls that the interpreter lacks or answers differently become calls it can make.

Owns the tables of replaced functions and methods. Conditions: a name is only replaced when the
program did not bind it, a method only when no class of the program has one of that name.
Pure; any thread.
"""

from __future__ import annotations

import ast
import sys

from sandbox.dialect_context import Rewriting
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
    "re.subn": "__dd_re_subn",
    "str.maketrans": "__dd_maketrans",
    "datetime.datetime.today": "__dd_today",
    "datetime.datetime.utcnow": "__dd_utcnow",
    "datetime.datetime.fromordinal": "__dd_fromordinal",
    "datetime.date.fromordinal": "__dd_datefromordinal",
    "datetime.date.fromisocalendar": "__dd_fromisocalendar",
    "dataclasses.asdict": "__dd_asdict",
    "dataclasses.astuple": "__dd_astuple",
    "functools.wraps": "__dd_wraps",
    "vars": "__dd_vars",
    "callable": "__dd_callable",
    "string.Template": "__dd_Template",
    "uuid.uuid4": "__dd_uuid4",
    "os.fdopen": "__dd_fdopen",
    "os.close": "__dd_nothing",
    "shutil.make_archive": "__dd_shutil_archive",
    "shutil.unpack_archive": "__dd_shutil_unpack",
    "hashlib.file_digest": "__dd_file_digest",
    "tomllib.load": "__dd_toml_load",
    "csv.Sniffer": "__dd_Sniffer",
    "difflib.SequenceMatcher": "__dd_Matcher",
    "urllib.parse.urlparse": "__dd_urlparse",
    "urllib.parse.urlsplit": "__dd_urlparse",
    "io.TextIOWrapper": "__dd_text_wrapper",
    "csv.reader": "__dd_csv_reader",
    "csv.DictReader": "__dd_csv_dict_reader",
    "json.dump": "__dd_json_dump",
    "json.dumps": "__dd_json_dumps",
}

_REPLACED_METHODS: dict[str, str] = {
    "touch": "__dd_touch",
    "subn": "__dd_re_subn",
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
_ERROR_ATTRIBUTES = frozenset({"errno", "strerror", "filename", "pos", "lineno", "colno", "msg"})
_PATH_WORDS = frozenset({"Path", "pathlib", "glob", "iterdir", "rglob", "PurePath"})


def bridge_calls(rewriting: Rewriting) -> None:
    """Rewrite every call, outer ones first."""
    paths = _mentions_paths(rewriting)
    files = Files(rewriting)
    for node in _in_order(rewriting.tree):
        if isinstance(node, ast.Call):
            bridge_arguments(rewriting, node, files)
            if not bridge_open(rewriting, node, files):
                _bridge_call(rewriting, node, files, paths=paths)
        elif isinstance(node, ast.For):
            bridge_loop(rewriting, node, files)
        elif isinstance(node, ast.GeneratorExp):
            _bridge_generator(rewriting, node)
        elif isinstance(node, ast.comprehension):
            bridge_comprehension(rewriting, node, files)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            _bridge_attribute(rewriting, node)


def _bridge_generator(rewriting: Rewriting, node: ast.GeneratorExp) -> None:
    """A generator expression that `next` may be asked of is an iterator over its values."""
    parent = rewriting.parents.get(node)
    if isinstance(parent, ast.Call) and rewriting.is_builtin(parent.func, "next"):
        bare = len(parent.args) == 1 and rewriting.end(node) == rewriting.end(parent)
        rewriting.wrap(node, "(iter" if bare else "iter(", ")")
    elif isinstance(parent, ast.Assign | ast.Return):
        rewriting.wrap(node, "iter(", ")")


def _bridge_attribute(rewriting: Rewriting, node: ast.Attribute) -> None:
    replacement = _REPLACED_ATTRIBUTES.get(rewriting.dotted(node) or "")
    if replacement is not None:
        rewriting.replace(rewriting.start(node), rewriting.end(node), replacement)
    elif node.attr == "parents" and "parents" not in rewriting.methods:
        rewriting.attribute_to_function(node, "__dd_parents")
    elif node.attr == "__dict__":
        _refuse_changed_dict(rewriting, node)
        rewriting.attribute_to_function(node, "__dd_vars")
    elif node.attr == "__name__":
        rewriting.attribute_to_function(node, "__dd_name")
    elif node.attr in _ERROR_ATTRIBUTES and _is_caught(rewriting, node.value):
        rewriting.attribute_to_function(node, f"__dd_{node.attr}")
    elif rewriting.is_builtin(node.value, "str") and node.attr != "maketrans":
        # A method taken from the class becomes a function that calls it.
        text = f"(lambda self, *args: self.{node.attr}(*args))"
        rewriting.replace(rewriting.start(node), rewriting.end(node), text)


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


def _bridge_call(rewriting: Rewriting, call: ast.Call, files: Files, *, paths: bool) -> None:
    dotted = rewriting.dotted(call.func)
    if dotted in _PLACED:  # what it writes later counts for this call
        rewriting.closing(rewriting.end(call) - 1, comma(rewriting, call) + "at=__dd_at()")
    refuse_call(rewriting, call, dotted)
    if dotted == "re.sub" and not _may_be_callback(call.args[1:2], call.keywords):
        return
    if dotted in REPLACED_FUNCTIONS:
        rewriting.function_to_name(call, REPLACED_FUNCTIONS[dotted])
    elif isinstance(call.func, ast.Name) and dotted is not None:
        _bridge_builtin(rewriting, call, dotted, files, paths=paths)
    elif isinstance(call.func, ast.Attribute) and call.func.attr not in rewriting.methods:
        _bridge_method(rewriting, call, call.func, paths=paths)


def _bridge_builtin(
    rewriting: Rewriting, call: ast.Call, name: str, files: Files, *, paths: bool
) -> None:
    if name == "print":
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
    if name in _REPLACED_METHODS and not _is_module(rewriting, func.value):
        rewriting.method_to_function(call, _REPLACED_METHODS[name])
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


def _in_order(node: ast.AST) -> list[ast.AST]:
    """All nodes, every node before its children."""
    nodes: list[ast.AST] = []
    stack = [node]
    while stack:
        current = stack.pop()
        nodes.append(current)
        stack.extend(reversed(list(ast.iter_child_nodes(current))))
    return nodes
