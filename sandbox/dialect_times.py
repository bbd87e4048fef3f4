"""Times of files compared with dates, as in ``path.stat().st_mtime < datetime(2023, 1, 1)``.

Owns one condition: a number of seconds and a datetime cannot be compared, so such a comparison can
only fail; the datetime becomes its number of seconds. Pure; any thread.
"""

from __future__ import annotations

import ast

from sandbox.dialect_context import Rewriting

_TIMES = frozenset({"st_mtime", "st_ctime", "st_atime", "st_birthtime"})
_TIME_FUNCTIONS = frozenset({"os.path.getmtime", "os.path.getctime", "os.path.getatime"})
_DATE_FUNCTIONS = frozenset(
    {
        "datetime.datetime",
        *("datetime.datetime.now", "datetime.datetime.today", "datetime.datetime.strptime"),
        *("datetime.datetime.fromisoformat", "datetime.datetime.combine"),
    }
)


def bridge_times(rewriting: Rewriting) -> None:
    """Give the datetimes in such comparisons as seconds."""
    values = _single_values(rewriting.nodes)
    for node in rewriting.nodes:
        if not isinstance(node, ast.Compare):
            continue
        if not all(isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for op in node.ops):
            continue
        operands = [node.left, *node.comparators]
        dates = [item for item in operands if _is_date(rewriting, values, item)]
        times = [item for item in operands if _is_time(rewriting, values, item)]
        if times and dates and len(times) + len(dates) == len(operands):
            for date in dates:
                rewriting.closing(rewriting.end(date), ".timestamp()")
                rewriting.note(date, "compared the time of a file with a date in seconds")


def _single_values(nodes: list[ast.AST]) -> dict[str, ast.expr]:
    """Names that are bound once, by a plain assignment, with their values."""
    bound: dict[str, int] = {}
    values: dict[str, ast.expr] = {}
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                values[name] = value
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                bound[name] = bound.get(name, 0) + 1
            case _:
                pass
    return {name: value for name, value in values.items() if bound.get(name) == 1}


def _is_date(rewriting: Rewriting, values: dict[str, ast.expr], node: ast.expr) -> bool:
    match node:
        case ast.Name(id=name) if name in values:
            return not isinstance(values[name], ast.Name) and _is_date(
                rewriting, values, values[name]
            )
        case ast.Call(func=function):
            return rewriting.dotted(function) in _DATE_FUNCTIONS
        case _:
            return False


def _is_time(rewriting: Rewriting, values: dict[str, ast.expr], node: ast.expr) -> bool:
    match node:
        case ast.Name(id=name) if name in values:
            return not isinstance(values[name], ast.Name) and _is_time(
                rewriting, values, values[name]
            )
        case ast.Attribute(attr=attr):
            return attr in _TIMES
        case ast.Call(func=function):
            return rewriting.dotted(function) in _TIME_FUNCTIONS
        case _:
            return False
