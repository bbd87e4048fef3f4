"""Open files: `open` becomes a call that the host answers at once, loops over files become steps.

Owns `open` in its forms, `print(file=...)`, `writelines`, and `for` loops over files and tables: as
``while`` loops that step a cursor, so that a large file is read piece by piece. Condition: the loop
steps what Python would iterate, in the same order. Pure; any thread.
"""

from __future__ import annotations

import ast

from sandbox.dialect_context import Rewriting

_OPENERS = frozenset({"open", "io.open", "codecs.open"})
_TABLES = frozenset({"csv.reader", "csv.DictReader"})
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
        "Counter",
        "sum",
        "any",
        "all",
        "deque",
        "reversed",
        "dict",
    ]
)


class Files:
    """What a program's names say about its files."""

    def __init__(self, rewriting: Rewriting) -> None:
        self._rewriting = rewriting
        self.may_be: set[str] = set()
        """Names that are bound to an open file or a table somewhere."""
        self.only: set[str] = set()
        """Names that are bound to nothing else."""
        self.buffered: set[str] = set()
        """Names that only ``with open(...) as name`` binds."""
        self._with_calls: set[ast.Call] = set()
        self._archives = any(
            name.split(".")[0] in ("zipfile", "tarfile") for name in rewriting.imports.values()
        )
        self._collect()

    def _collect(self) -> None:
        stores: dict[str, int] = {}
        opened: dict[str, int] = {}
        entered: dict[str, int] = {}
        for node in self._rewriting.nodes:
            match node:
                case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                    stores[name] = stores.get(name, 0) + 1
                case ast.withitem(context_expr=ast.Call() as call):
                    self._with_calls.add(call)
                    target = node.optional_vars
                    if isinstance(target, ast.Name) and self.is_open(call):
                        opened[target.id] = opened.get(target.id, 0) + 1
                        entered[target.id] = entered.get(target.id, 0) + 1
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    if self.is_open(value) or self.is_table(value):
                        opened[name] = opened.get(name, 0) + 1
                case _:
                    pass
        self.may_be = set(opened)
        self.only = {name for name, count in opened.items() if count == stores.get(name)}
        self.buffered = {name for name, count in entered.items() if count == stores.get(name)}

    def is_open(self, node: ast.expr) -> bool:
        """Whether `node` is a call that opens a file."""
        if not isinstance(node, ast.Call):
            return False
        dotted = self._rewriting.dotted(node.func)
        if dotted in _OPENERS:
            return True
        return self.is_path_open(node)

    def is_path_open(self, call: ast.Call) -> bool:
        """Whether it is ``path.open(...)``, as far as names tell."""
        func = call.func
        if not isinstance(func, ast.Attribute) or func.attr != "open" or self._archives:
            return False
        is_module = isinstance(func.value, ast.Name) and func.value.id in self._rewriting.imports
        return not is_module and "open" not in self._rewriting.methods

    def is_table(self, node: ast.expr) -> bool:
        """Whether `node` makes a reader of rows."""
        return isinstance(node, ast.Call) and self._rewriting.dotted(node.func) in _TABLES

    def is_entered(self, call: ast.Call) -> bool:
        """Whether a ``with`` statement closes what `call` opens."""
        return call in self._with_calls

    def is_plain(self, node: ast.expr) -> bool:
        """Whether `node` is certainly a file, whose lines can be taken as they are."""
        return self.is_open(node) or (isinstance(node, ast.Name) and node.id in self.buffered)

    def is_stream(self, node: ast.expr) -> bool:
        """Whether `node` may be a file or a table that is read from the host."""
        match node:
            case ast.Name(id=name):
                return name in self.may_be
            case ast.Call(func=ast.Name(id="enumerate"), args=[source, *_]):
                return self.is_stream(source)
            case ast.Call():
                return self.is_open(node) or self.is_table(node)
            case _:
                return False


def bridge_open(rewriting: Rewriting, call: ast.Call, files: Files) -> bool:
    """Rewrite a call that opens a file; False when it is none."""
    if not files.is_open(call):
        return False
    if _is_update(call, 0 if files.is_path_open(call) else 1):
        name = "__dd_open_update"
        rewriting.closing(rewriting.end(call) - 1, comma(rewriting, call) + "at=__dd_at()")
    else:
        name = "__dd_open"
        made = "__dd_with_file" if files.is_entered(call) else "__dd_file"
        rewriting.wrap(call, f"{made}(", ")")
    if files.is_path_open(call):
        rewriting.method_to_function(call, name)
    else:
        rewriting.function_to_name(call, name)
    return True


def _is_update(call: ast.Call, first: int) -> bool:
    modes = [*call.args[first : first + 1], *(k.value for k in call.keywords if k.arg == "mode")]
    return any(isinstance(m, ast.Constant) and "+" in str(m.value) for m in modes)


def bridge_loop(rewriting: Rewriting, node: ast.For, files: Files) -> None:
    """``for line in file:`` steps a cursor, which may ask the host for the next piece."""
    if not files.is_stream(node.iter):
        return
    number = rewriting.start(node)
    cursor = f"__dd_cursor_{number}"
    body = node.body[0]
    iter_start, iter_end = rewriting.start(node.iter), rewriting.end(node.iter)
    target = rewriting.segment(node.target)
    colon = _colon(rewriting, iter_end)
    is_simple = isinstance(node.iter, ast.Call) and rewriting.is_builtin(
        node.iter.func, "enumerate"
    )
    made = "" if is_simple else "__dd_cursor("
    rewriting.replace(number, iter_start, f"{cursor} = {made}")
    indent = _indent(rewriting, node)
    newline = f"\n{indent}" if not indent.strip() else "; "
    loop = f"while {cursor}.lines or {cursor}.refill()"
    rewriting.replace(iter_end, colon, f"{'' if is_simple else ')'}{newline}{loop}")
    step = f"{target} = {cursor}.{'lines.pop' if files.is_plain(node.iter) else 'take'}()"
    start = _first_start(rewriting, body)
    inner = rewriting.text[rewriting.text.rfind(b"\n", 0, start) + 1 : start].decode()
    rewriting.opening(start, step + (f"\n{inner}" if not inner.strip() else "; "))
    if is_simple:
        assert isinstance(node.iter, ast.Call)
        rewriting.function_to_name(node.iter, "__dd_Counted")


def _first_start(rewriting: Rewriting, body: ast.stmt) -> int:
    """Where a statement starts, its decorators included."""
    if isinstance(body, ast.FunctionDef | ast.ClassDef) and body.decorator_list:
        return rewriting.text.rindex(b"@", 0, rewriting.start(body.decorator_list[0]))
    return rewriting.start(body)


def _indent(rewriting: Rewriting, node: ast.stmt) -> str:
    return rewriting.text[rewriting.line_start(node) : rewriting.start(node)].decode()


def _colon(rewriting: Rewriting, offset: int) -> int:
    """The colon that ends a loop's head, after what closes its iterable."""
    return rewriting.text.index(b":", offset)


def bridge_arguments(rewriting: Rewriting, call: ast.Call, files: Files) -> None:
    """A file given to `list`, `sorted` and the like is loaded first, at the place it is at."""
    dotted = rewriting.dotted(call.func) or ""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else dotted.rpartition(".")[2]
    if name not in _TAKES_ITERABLE:
        return
    parent = rewriting.parents.get(call)
    if name == "enumerate" and isinstance(parent, ast.For) and parent.iter is call:
        return
    for argument in call.args:
        if _is_file(argument, files):
            rewriting.wrap(argument, "__dd_loaded(", ", __dd_at())")


def bridge_comprehension(rewriting: Rewriting, node: ast.comprehension, files: Files) -> None:
    """A comprehension cannot wait for the host: its file is loaded first."""
    if _is_file(node.iter, files):
        rewriting.wrap(node.iter, "__dd_loaded(", ", __dd_at())")


def _is_file(node: ast.expr, files: Files) -> bool:
    if isinstance(node, ast.Name):
        return node.id in files.only
    return isinstance(node, ast.Call) and (files.is_open(node) or files.is_table(node))


def bridge_print(rewriting: Rewriting, call: ast.Call, files: Files) -> None:
    """``print(..., file=f)`` writes its text to `f`; the standard streams stay as they are."""
    for keyword in call.keywords:
        if keyword.arg != "file":
            continue
        if rewriting.dotted(keyword.value) in ("sys.stderr", "sys.stdout"):
            return
        rewriting.function_to_name(call, "__dd_print")
        is_buffered = isinstance(keyword.value, ast.Name) and keyword.value.id in files.buffered
        if not is_buffered:
            rewriting.closing(rewriting.end(call) - 1, comma(rewriting, call) + "at=__dd_at()")
        return


def comma(rewriting: Rewriting, call: ast.Call) -> str:
    """What separates one more argument from those that a call has."""
    inside = rewriting.text[: rewriting.end(call) - 1].rstrip()
    return " " if inside.endswith((b",", b"(")) else ", "


def bridge_writelines(rewriting: Rewriting, call: ast.Call, func: ast.Attribute) -> None:
    """``f.writelines(lines)`` is ``f.write`` of the joined lines."""
    name_end = rewriting.end(func)
    rewriting.replace(name_end - len("writelines"), name_end, "write")
    like = f", {func.value.id}" if isinstance(func.value, ast.Name) else ""
    argument = call.args[0]
    # A generator expression shares the call's parentheses: it needs its own with a second argument.
    if isinstance(argument, ast.GeneratorExp):
        rewriting.opening(rewriting.end(func), "(__dd_joined(")
        rewriting.closing(rewriting.end(call), f"{like}))")
    else:
        rewriting.opening(rewriting.start(argument), "__dd_joined(")
        rewriting.closing(rewriting.end(argument), f"{like})")
