"""Functions with `yield` become functions that collect a list and return its iterator.

The same program when the generator ends by itself, only computes and reads, and nothing is sent
into it. Otherwise the program is refused. Pure; any thread.
"""

from __future__ import annotations

import ast
import re

from sandbox.dialect_context import Function, Rewriting, scope_nodes

_VISIBLE = frozenset(
    [
        "print",
        "write",
        "writelines",
        "write_text",
        "write_bytes",
        "rename",
        "replace",
        "unlink",
        "rmdir",
        "mkdir",
        "touch",
        "send",
        "rmtree",
        "move",
        "remove",
        "makedirs",
    ]
)
_HINT = "Collect the values in a list and return the list."


def bridge_generators(rewriting: Rewriting) -> None:
    """Rewrite every function of the program that has a `yield` of its own."""
    for node in rewriting.nodes:
        if isinstance(node, Function) and node not in rewriting.contexts:
            yields = [n for n in scope_nodes(node) if isinstance(n, ast.Yield | ast.YieldFrom)]
            if yields:
                _bridge_generator(rewriting, node, yields)


def _bridge_generator(
    rewriting: Rewriting, node: Function, yields: list[ast.Yield | ast.YieldFrom]
) -> None:
    again = _is_repeatable(rewriting, node)
    _check(rewriting, node, yields, again=again)
    first, last = node.body[0], node.body[-1]
    start = rewriting.start(first)
    if isinstance(first, ast.FunctionDef | ast.ClassDef) and first.decorator_list:
        start = rewriting.start(first.decorator_list[0]) - 1
    line_start = rewriting.text.rfind(b"\n", 0, start) + 1
    indent = rewriting.text[line_start:start].decode()
    newline = f"\n{indent}" if not indent.strip() else "; "
    if again:
        _bridge_repeated(rewriting, node, yields, start, newline)
        return
    rewriting.opening(start, f"__dd_items = []{newline}")
    rewriting.closing(rewriting.end(last), f"{newline}return iter(__dd_items)")
    for item in yields:
        _bridge_yield(rewriting, item)
    for item in scope_nodes(node):
        if isinstance(item, ast.Return):
            rewriting.replace(rewriting.start(item), rewriting.end(item), "return iter(__dd_items)")
    rewriting.note(node, f"the generator {node.name}() collects its values in a list")


def _bridge_repeated(
    rewriting: Rewriting,
    node: Function,
    yields: list[ast.Yield | ast.YieldFrom],
    start: int,
    newline: str,
) -> None:
    """A generator that never ends is run again from its start when more values are asked for."""
    arguments = node.args
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    inner = f"__dd_run_{node.name}"
    kept = ", ".join(names)
    paren = rewriting.text.index(b"(", rewriting.start(node))
    indent = " " * node.col_offset
    name_at = rewriting.text.index(node.name.encode(), rewriting.start(node) + 3)
    comma = ", " if names else ""
    rewriting.replace(name_at, name_at + len(node.name.encode()), inner)
    rewriting.opening(paren + 1, f"__dd_limit{comma}")
    rewriting.opening(start, f"__dd_items = []{newline}")
    end = rewriting.end(node.body[-1])
    shown = rewriting.text[paren : _arguments_end(rewriting, node)].decode()
    rewriting.closing(
        end,
        f"{newline}return __dd_items\n{indent}def {node.name}{shown}:\n{indent}    "
        f"return __dd_Again(lambda limit: {inner}(limit{comma}{kept}))",
    )
    for item in yields:
        separator = f"\n{' ' * item.col_offset}"
        enough = "if len(__dd_items) >= __dd_limit: return __dd_items"
        rewriting.closing(rewriting.end(item), f"{separator}{enough}")
        _bridge_yield(rewriting, item)


def _arguments_end(rewriting: Rewriting, node: Function) -> int:
    """Offset after the parenthesis that closes a function's parameters."""
    first = rewriting.start(node.body[0])
    if isinstance(node.returns, ast.expr):
        return rewriting.text.rindex(b")", 0, rewriting.start(node.returns)) + 1
    return rewriting.text.rindex(b")", 0, first) + 1


def _is_repeatable(rewriting: Rewriting, node: Function) -> bool:
    """Whether an endless generator only computes on its own values, so that to run it again from
    its start gives the same.
    """
    endless = any(isinstance(n, ast.While) and _endless(n) for n in scope_nodes(node))
    if not endless or node.args.vararg or node.args.kwarg:
        return False
    own = {a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
    own |= {
        n.id for n in scope_nodes(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    for item in scope_nodes(node):
        match item:
            case ast.Name(id=name, ctx=ast.Load()):
                if name not in own and name not in _PURE:
                    return False
            case ast.Call(func=ast.Name(id=name)) if name in _PURE and name not in rewriting.bound:
                pass
            case (
                ast.Call()
                | ast.Attribute()
                | ast.Global()
                | ast.Nonlocal()
                | ast.Subscript()
                | ast.YieldFrom()
                | ast.For()
                | ast.comprehension()
                | ast.Try()
                | ast.With()
                | ast.Return(value=ast.expr())
            ):
                return False
            case _:
                pass
    return True


_PURE = frozenset({"str", "int", "float", "len", "abs", "min", "max", "round", "chr", "ord"})


def _bridge_yield(rewriting: Rewriting, item: ast.Yield | ast.YieldFrom) -> None:
    start, end = rewriting.start(item), rewriting.end(item)
    keyword = re.match(rb"yield(\s+from\b)?", rewriting.text[start:end])
    assert keyword is not None
    method = "extend" if isinstance(item, ast.YieldFrom) else "append"
    if item.value is None:
        rewriting.replace(start, end, "__dd_items.append(None)")
        return
    rewriting.replace(start, start + keyword.end(), f"__dd_items.{method}((")
    rewriting.closing(end, "))")


def _check(
    rewriting: Rewriting,
    node: Function,
    yields: list[ast.Yield | ast.YieldFrom],
    *,
    again: bool,
) -> None:
    """Raise `ProgramFaultError` unless a list is equivalent."""
    if isinstance(node, ast.AsyncFunctionDef) or node.decorator_list:
        raise rewriting.refuse(node, f"the generator {node.name}() is of a special kind", _HINT)
    for item in yields:
        if not isinstance(rewriting.parents.get(item), ast.Expr):
            raise rewriting.refuse(item, "a value sent into a generator is not supported", _HINT)
    for item in scope_nodes(node):
        if isinstance(item, ast.Return) and item.value is not None:
            raise rewriting.refuse(item, "return of a value from a generator", _HINT)
        if isinstance(item, ast.While) and _endless(item) and not again:
            raise rewriting.refuse(item, f"the generator {node.name}() may never end", _HINT)
        if (
            isinstance(item, ast.Call)
            and _called(item) in _VISIBLE
            and not _is_apart(rewriting, item)
            and not _is_taken_whole(rewriting, node)
        ):
            raise rewriting.refuse(
                item, f"the generator {node.name}() has effects between its values", _HINT
            )


def _is_apart(rewriting: Rewriting, call: ast.Call) -> bool:
    """Whether a `print` goes to standard error, which is kept apart from what else is printed."""
    return any(
        keyword.arg == "file" and rewriting.dotted(keyword.value) == "sys.stderr"
        for keyword in call.keywords
    )


def _is_taken_whole(rewriting: Rewriting, node: Function) -> bool:
    """Whether every use takes all values before anything else happens."""
    uses = [
        other
        for other in rewriting.nodes
        if isinstance(other, ast.Name | ast.Attribute)
        and isinstance(other.ctx, ast.Load)
        and (other.id if isinstance(other, ast.Name) else other.attr) == node.name
    ]
    return bool(uses) and all(_takes_whole(rewriting, use) for use in uses)


def _takes_whole(rewriting: Rewriting, use: ast.AST) -> bool:
    call = rewriting.parents.get(use)
    if not isinstance(call, ast.Call) or call.func is not use:
        return False
    match rewriting.parents.get(call):
        case ast.Call(args=[first, *_]) as taker if first is call:
            name = rewriting.dotted(taker.func) or _called(taker)
            return name in _TAKERS and not any(k.arg == "key" for k in taker.keywords)
        case ast.comprehension() as part:
            whole = rewriting.parents.get(part)
            return isinstance(whole, ast.ListComp | ast.SetComp | ast.DictComp) and not any(
                isinstance(n, ast.Call) and n is not call for n in ast.walk(whole)
            )
        case _:
            return False


_TAKERS = frozenset(
    {
        *("list", "tuple", "set", "frozenset", "sorted", "sum", "dict", "max", "min", "len"),
        *("collections.Counter", "collections.deque", "join", "extend", "writelines", "writerows"),
    }
)


def _endless(loop: ast.While) -> bool:
    """Whether a loop with a constant condition has no way out of its own."""
    if not isinstance(loop.test, ast.Constant) or not loop.test.value:
        return False
    return not any(isinstance(n, ast.Break | ast.Return | ast.Raise) for n in scope_nodes(loop))


def _called(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""
