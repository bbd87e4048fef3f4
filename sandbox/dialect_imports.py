"""Imports: the missing ones are added, those the interpreter lacks are supplied or refused.

Owns the tables of known modules and names. A name is only imported for a program that uses it, does
not bind it, and means one thing by it. Pure; any thread.
"""

from __future__ import annotations

import ast
import builtins

from sandbox.dialect_context import Rewriting
from sandbox.dialect_refusals import refuse_module
from sandbox.dialect_tables import REPLACED_ATTRIBUTES, REPLACED_FUNCTIONS
from sandbox.host_modules import HOST_MODULE_NAMES
from sandbox.prelude import PRELUDE_MODULES
from sandbox.prelude_rooms import ROOM_MODULES

NATIVE_MODULES = frozenset(
    [
        "asyncio",
        "base64",
        "binascii",
        "collections",
        "copy",
        "csv",
        "dataclasses",
        "datetime",
        "decimal",
        "functools",
        "hashlib",
        "itertools",
        "json",
        "math",
        "os",
        "os.path",
        "pathlib",
        "random",
        "re",
        "sys",
        "time",
        "tomllib",
        "typing",
        "unicodedata",
    ]
)
SUPPLIED_MODULES = PRELUDE_MODULES | ROOM_MODULES
_MODULES = NATIVE_MODULES | HOST_MODULE_NAMES | SUPPLIED_MODULES
_NAMES: dict[str, str] = {
    name: module
    for module, names in {
        "pathlib": "Path PurePath PurePosixPath",
        "collections": "Counter defaultdict deque namedtuple OrderedDict",
        "datetime": "date timedelta timezone",
        "dataclasses": "dataclass field asdict",
        "decimal": "Decimal",
        "functools": "reduce partial lru_cache",
        "itertools": "chain groupby product combinations permutations islice zip_longest",
        "shutil": "rmtree copyfile copy2 copytree",
        "glob": "iglob",
        "typing": "List Dict Tuple Set Optional Any Union Iterable Callable",
        "io": "StringIO BytesIO",
        "zipfile": "ZipFile",
        "configparser": "ConfigParser",
        "fractions": "Fraction",
        "argparse": "ArgumentParser Namespace",
        "concurrent.futures": "ThreadPoolExecutor ProcessPoolExecutor as_completed",
        "html.parser": "HTMLParser",
    }.items()
    for name in names.split()
}
# Names that native modules lack, and what stands for each with the same meaning here.
_STAND_INS = {
    "pathlib.PurePath": "__dd_Path",
    "pathlib.PurePosixPath": "__dd_Path",
    "pathlib.PosixPath": "__dd_Path",
    "collections.OrderedDict": "dict",
    "datetime.UTC": "__dd_utc",
    "os.PathLike": "__dd_type",
    "functools.total_ordering": "__dd_type",
    "contextlib.contextmanager": "__dd_type",
    "json.JSONEncoder": "None",
    "functools.cached_property": "__dd_type",
    "collections.UserDict": "None",
    "logging.Filter": "None",
}
_TYPES_ONLY = frozenset(
    {"collections.abc", "types", "abc", "__future__", "typing_extensions", "enum", "numbers"}
)
_TYPING_HAS = frozenset(
    [
        "Any",
        "Callable",
        "ClassVar",
        "Dict",
        "Final",
        "FrozenSet",
        "Generator",
        "Iterable",
        "Iterator",
        "List",
        "Literal",
        "Mapping",
        "NoReturn",
        "Optional",
        "Self",
        "Sequence",
        "Set",
        "Tuple",
        "Type",
        "Union",
        "Annotated",
        "TYPE_CHECKING",
    ]
)
# Their functions are there as well, to be used as values.
_BOTH_WAYS = frozenset({"csv", "json", "re"})
_TYPING_CLASSES = frozenset({"Protocol"})


def bridge_imports(rewriting: Rewriting) -> None:
    """Add what is missing and translate what is there."""
    for node in rewriting.nodes:
        if isinstance(node, ast.Import):
            _bridge_import(rewriting, node)
        elif isinstance(node, ast.ImportFrom):
            _bridge_import_from(rewriting, node)
    _add_missing(rewriting)


def _bridge_import(rewriting: Rewriting, node: ast.Import) -> None:
    parts: list[str] = []
    changed = False
    for alias in node.names:
        module = alias.name
        refuse_module(rewriting, node, module)
        if module in SUPPLIED_MODULES:
            parts.append(_module_part(module, alias.asname))
            changed = True
        elif module in _TYPES_ONLY:
            changed = True
        else:
            parts.append(f"import {module}" + (f" as {alias.asname}" if alias.asname else ""))
    if changed:
        text = "; ".join(parts) or "pass"
        rewriting.replace(rewriting.start(node), rewriting.end(node), text)


def _module_part(module: str, name: str | None) -> str:
    """The assignment that stands for an import of a supplied module."""
    top, _, inner = module.partition(".")
    if name is None and inner and top not in SUPPLIED_MODULES:
        return f"{top} = __dd_inside({inner!r}, __dd_module_{module.replace('.', '_')})"
    shown = module if name else top
    return f"{name or top} = __dd_module_{shown.replace('.', '_')}"


def _bridge_import_from(rewriting: Rewriting, node: ast.ImportFrom) -> None:
    module = node.module or ""
    if node.level:
        raise rewriting.refuse(
            node, "there are no other program files to import from", "Write it in one program."
        )
    if module == "__future__":
        return
    refuse_module(rewriting, node, module)
    kept: list[str] = []
    parts: list[str] = []
    for alias in node.names:
        part = _from_part(rewriting, node, module, alias)
        if part is None:
            kept.append(alias.name + (f" as {alias.asname}" if alias.asname else ""))
        elif part:
            parts.append(part)
    if len(kept) == len(node.names):
        return
    if kept:
        parts.insert(0, f"from {module} import {', '.join(kept)}")
    text = "; ".join(parts) or "pass"
    rewriting.replace(rewriting.start(node), rewriting.end(node), text)


def _from_part(
    rewriting: Rewriting, node: ast.ImportFrom, module: str, alias: ast.alias
) -> str | None:
    """What replaces one imported name; empty for nothing, None to leave it as it is."""
    name, dotted = alias.asname or alias.name, f"{module}.{alias.name}"
    if alias.name == "*":
        return _star(rewriting, node, module)
    if dotted in _STAND_INS:
        return f"{name} = {_STAND_INS[dotted]}"
    if dotted in REPLACED_ATTRIBUTES:
        return f"{name} = {REPLACED_ATTRIBUTES[dotted]}"
    if dotted in SUPPLIED_MODULES:
        return f"{name} = __dd_module_{dotted.replace('.', '_')}"
    if dotted in REPLACED_FUNCTIONS and module not in _BOTH_WAYS:
        return ""
    if module in SUPPLIED_MODULES:
        return f"{name} = __dd_module_{module.replace('.', '_')}.{alias.name}"
    if module in _TYPES_ONLY:
        return f"{name} = __dd_type"
    replaceable = module == "typing" and alias.name not in _TYPING_CLASSES
    if replaceable and (alias.name not in _TYPING_HAS or _is_value(rewriting, name)):
        return f"{name} = __dd_type"
    return None


def _is_value(rewriting: Rewriting, name: str) -> bool:
    """Whether a type is used where it is evaluated, and not only in annotations."""
    return any(
        isinstance(node, ast.Name)
        and node.id == name
        and isinstance(node.ctx, ast.Load)
        and not _is_annotation(rewriting, node)
        for node in rewriting.nodes
    )


def _is_annotation(rewriting: Rewriting, node: ast.AST) -> bool:
    parent = rewriting.parents.get(node)
    while parent is not None and not isinstance(parent, ast.stmt):
        if isinstance(parent, ast.arg):
            return True
        node, parent = parent, rewriting.parents.get(parent)
    match parent:
        case ast.AnnAssign(annotation=annotation):
            return annotation is node
        case ast.FunctionDef(returns=returns) | ast.AsyncFunctionDef(returns=returns):
            return returns is node
        case _:
            return False


def _star(rewriting: Rewriting, node: ast.ImportFrom, module: str) -> str | None:
    """``from module import *`` imports the names of that module that the program uses."""
    names = [n for n, m in _NAMES.items() if m == module and n in rewriting.loads]
    if module not in _MODULES:
        raise rewriting.refuse(node, f"cannot import * from {module}", "Import names one by one.")
    rewriting.imports.pop("*", None)
    rewriting.imports.update({n: f"{module}.{n}" for n in names})
    return f"from {module} import {', '.join(names)}" if names else ""


def _add_missing(rewriting: Rewriting) -> None:
    known = rewriting.bound | rewriting.imports.keys() | set(dir(builtins))
    lines: list[str] = []
    for name in sorted(rewriting.loads - known):
        line, dotted = _missing(rewriting, name)
        if not line:
            continue
        lines.append(line)
        rewriting.imports[name] = dotted
    if not lines:
        return
    first = _first_statement(rewriting)
    rewriting.opening(rewriting.line_start(first), "\n".join(lines) + "\n")
    rewriting.note(first, "added " + ", ".join(sorted(_as_written(line) for line in lines)))


def _as_written(line: str) -> str:
    """An added import as people would write it."""
    name, separator, module = line.partition(" = __dd_module_")
    return f"import {module or name}" if separator else line


def _missing(rewriting: Rewriting, name: str) -> tuple[str, str]:
    """The line that imports `name`, and the dotted name it then means; empty when unknown."""
    if name == "datetime":
        used = _attributes(rewriting, name)
        as_module = bool(used & {"datetime", "date", "timedelta", "timezone"})
        if as_module:
            return "import datetime", "datetime"
        return "from datetime import datetime", "datetime.datetime"
    if name == "glob" and _is_called(rewriting, name):
        return "from glob import glob", "glob.glob"
    if name in _NAMES:
        return _import_line(_NAMES[name], name), f"{_NAMES[name]}.{name}"
    if name in _MODULES and _attributes(rewriting, name):
        if name in SUPPLIED_MODULES:
            return f"{name} = __dd_module_{name}", name
        return f"import {name}", name
    if name == "urllib":
        return "import urllib.parse", "urllib"
    return "", ""


def _import_line(module: str, name: str) -> str:
    stand_in = _STAND_INS.get(f"{module}.{name}")
    if stand_in:
        return f"{name} = {stand_in}"
    if module in SUPPLIED_MODULES:
        return f"{name} = __dd_module_{module}.{name}"
    if module == "typing" and name not in _TYPING_HAS:
        return f"{name} = __dd_type"
    return f"from {module} import {name}"


def _attributes(rewriting: Rewriting, name: str) -> set[str]:
    return {
        node.attr
        for node in rewriting.nodes
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == name
    }


def _is_called(rewriting: Rewriting, name: str) -> bool:
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
        for node in rewriting.nodes
    )


def _first_statement(rewriting: Rewriting) -> ast.stmt:
    """The first statement that is neither the docstring nor a ``from __future__`` import."""
    for node in rewriting.tree.body:
        is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        is_future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        if not is_docstring and not is_future:
            return node
    return rewriting.tree.body[-1]
