"""A program made ready without the bridge: what the interpreter itself knows, and no more.

For the lab's comparison with plain code mode. Owns the one thing that calls need: those that are
awaited are marked as such. Repairs nothing. Pure; any thread.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sandbox.edits import Edit, apply_edits
from sandbox.errors import Fault, ProgramFaultError
from sandbox.program import Program, line_starts
from sandbox.tool_calls import LATER
from sandbox.tools import ToolSet


def prepare_unbridged(source: str, tools: ToolSet) -> Program:
    """`source` as it is. Raises: `ProgramFaultError` when it is not Python."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = error.lineno if isinstance(error, SyntaxError) else None
        message = error.msg if isinstance(error, SyntaxError) else str(error)
        fault = Fault(type="SyntaxError", message=message, line=line)
        raise ProgramFaultError(fault) from error
    data = source.encode("utf-8", "replace")
    starts = line_starts(data)
    edits = [
        Edit(start=at, end=at, text=LATER)
        for name in _awaited(tree, tools)
        for at in [starts[name.lineno - 1] + name.col_offset]
    ]
    text, back = apply_edits(data, edits)
    repaired, repaired_starts = text.decode(), line_starts(text)
    return Program(
        source=source,
        repaired=repaired,
        analysed=repaired,
        parsed=source,
        bridging=back,
        line_starts=starts,
        repaired_line_starts=repaired_starts,
        analysed_line_starts=repaired_starts,
    )


def _awaited(tree: ast.Module, tools: ToolSet) -> Iterator[ast.Name]:
    """The names of the tools whose calls are waited for at once, or gathered."""
    for node in ast.walk(tree):
        match node:
            case ast.Await(value=ast.Call(func=ast.Name() as name)) if name.id in tools:
                yield name
            case ast.Call(func=ast.Attribute(attr="gather"), args=items):
                for item in items:
                    if isinstance(item, ast.Call) and isinstance(item.func, ast.Name):
                        yield item.func
            case _:
                pass
