"""Time zones by name: moments carry the offset that holds then, and arithmetic looks it up again.

Owns programs that import `zoneinfo`. Condition: moments are made by the calls named
here. What a moment's zone was is known by its offset and name; where two
zones of the program share both, arithmetic on it fails instead of guessing. Pure; any thread.
"""

from __future__ import annotations

import ast

from sandbox.dialect_context import Rewriting

_HINT = "Use datetime.timezone(timedelta(hours=...)) with the offset that holds."
_MADE = {
    "datetime.datetime.now": "__dd_zone_now",
    "datetime.datetime.fromtimestamp": "__dd_zone_fromtimestamp",
    "datetime.datetime": "__dd_zone_datetime",
    "zoneinfo.ZoneInfo": "__dd_ZoneInfo",
}
ZONED_FUNCTIONS = frozenset(_MADE)


def uses_zones(rewriting: Rewriting) -> bool:
    """Whether the program names time zones."""
    return any(name.split(".")[0] == "zoneinfo" for name in rewriting.imports.values())


def bridge_zones(rewriting: Rewriting) -> None:
    """Rewrite what makes, moves and subtracts moments."""
    if not uses_zones(rewriting):
        return
    for node in rewriting.nodes:
        match node:
            case ast.Attribute(attr="tzinfo", ctx=ast.Load()):
                rewriting.attribute_to_function(node, "__dd_zone_info")
            case ast.Attribute(attr="dst" | "available_timezones"):
                raise rewriting.refuse(node, f"{node.attr} of a moment in a named zone", _HINT)
            case ast.Call():
                _bridge_call(rewriting, node)
            case ast.BinOp(op=ast.Add() | ast.Sub()) if not _is_plain(node):
                _bridge_sum(rewriting, node)
            case ast.AugAssign(target=ast.Name(id=name), op=ast.Add() | ast.Sub()) if (
                "timedelta" in rewriting.segment(node.value)
            ):
                start, end = rewriting.start(node), rewriting.start(node.value)
                rewriting.replace(start, end, f"{name} = {_sum_name(node.op)}({name}, ")
                rewriting.closing(rewriting.end(node.value), ")")
            case _:
                pass


def _sum_name(operator: ast.operator) -> str:
    return "__dd_zone_add" if isinstance(operator, ast.Add) else "__dd_zone_sub"


def _bridge_call(rewriting: Rewriting, call: ast.Call) -> None:
    dotted = rewriting.dotted(call.func)
    if dotted in _MADE:
        if call.args or call.keywords:
            rewriting.function_to_name(call, _MADE[dotted])
    elif dotted is not None and dotted.startswith("zoneinfo."):
        raise rewriting.refuse(call, f"{dotted}() is not available", _HINT)
    elif isinstance(call.func, ast.Attribute):
        if call.func.attr == "astimezone":
            rewriting.method_to_function(call, "__dd_zone_as")
        elif call.func.attr == "replace" and any(k.arg == "tzinfo" for k in call.keywords):
            rewriting.method_to_function(call, "__dd_zone_replace")
        elif any(k.arg == "tzinfo" for k in call.keywords):
            raise rewriting.refuse(call, "tzinfo= in this call", _HINT)


def _is_plain(node: ast.BinOp) -> bool:
    """Whether a sum is certainly not of moments."""
    return any(
        isinstance(side, ast.Constant | ast.JoinedStr | ast.List)
        for side in (node.left, node.right)
    )


def _bridge_sum(rewriting: Rewriting, node: ast.BinOp) -> None:
    left_end, right = rewriting.end(node.left), rewriting.start(node.right)
    sign = b"+" if isinstance(node.op, ast.Add) else b"-"
    at = left_end + rewriting.text[left_end:right].index(sign)
    rewriting.wrap(node, f"{_sum_name(node.op)}(", ")")
    rewriting.replace(at, at + 1, ",")
