"""Makes the last value of a program its answer.

Owns: the last expression, the last assignment, the return value of `main()`, and which calls have
values that are no answer. The value becomes text inside the interpreter, where its own `__str__` is
known. Pure; any thread.
"""

from __future__ import annotations

import ast

from sandbox.dialect_context import Rewriting

_ANSWER_NAMES = frozenset({"result", "results", "answer", "output", "summary", "report"})
# What a program calls for what it does; the value (a count, a path) is a by-product.
_DOING_METHODS = frozenset(
    [
        "write",
        "writelines",
        "write_text",
        "write_bytes",
        "writerow",
        "writerows",
        "writeheader",
        "writestr",
        "truncate",
        "seek",
        "flush",
        "close",
        "append",
        "extend",
        "add",
        "update",
        "insert",
        "remove",
        "sort",
        "mkdir",
        "touch",
        "unlink",
        "rmdir",
        "rename",
        "chmod",
    ]
)
_DOING_FUNCTIONS = frozenset(
    f"shutil.{name}"
    for name in [
        "copy",
        "copy2",
        "copyfile",
        "copyfileobj",
        "copymode",
        "copystat",
        "copytree",
        "move",
        "rmtree",
        "make_archive",
        "unpack_archive",
    ]
)


def keep_answer(rewriting: Rewriting) -> None:
    """Rewrite the last statement so that its value is the program's value."""
    body = rewriting.tree.body
    if not body:
        return
    last = body[-1]
    match last:
        case ast.Expr(value=value) if _is_by_product(rewriting, value):
            rewriting.closing(len(rewriting.text), "\nNone\n")
        case ast.Expr(value=value):
            rewriting.wrap(value, "__dd_show((", "))")
        case ast.If(body=[*_, ast.Expr(value=value)], orelse=[]) if _is_main_guard(last.test):
            if _is_by_product(rewriting, value):
                rewriting.closing(len(rewriting.text), "\nNone\n")
                return
            rewriting.wrap(value, "__dd_value = (", ")")
            rewriting.opening(rewriting.line_start(last), "__dd_value = None\n")
            rewriting.closing(len(rewriting.text), "\n__dd_show(__dd_value)\n")
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            if name in _ANSWER_NAMES or "print" not in rewriting.loads:
                rewriting.closing(len(rewriting.text), f"\n__dd_show({name})\n")
        case _:
            pass


def _is_by_product(rewriting: Rewriting, value: ast.expr) -> bool:
    """Whether an expression is there for what it does, and its value is not what was asked for."""
    if not isinstance(value, ast.Call):
        return False
    if rewriting.dotted(value.func) in _DOING_FUNCTIONS:
        return True
    match value.func:
        case ast.Attribute(attr=name) if name in rewriting.methods:
            return False  # the program's own method may return what it is there to tell
        case ast.Attribute(attr="replace"):  # a path's takes one argument, a text's two
            return len(value.args) == 1 and not value.keywords
        case ast.Attribute(attr=name):
            return name in _DOING_METHODS
        case _:
            return False


def _is_main_guard(test: ast.expr) -> bool:
    match test:
        case ast.Compare(
            left=ast.Name(id="__name__"),
            ops=[ast.Eq()],
            comparators=[ast.Constant(value="__main__")],
        ):
            return True
        case _:
            return False
