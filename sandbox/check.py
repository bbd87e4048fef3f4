"""The check of a program before anything runs: what certainly fails, and what only looks wrong.

Owns the two kinds of findings. The interpreter's type checker reads the bridged program with the
stubs of tools and host modules; the program is never run by it. A finding counts as certain only
for code that certainly runs and for rules that leave no doubt: a name that nothing binds, and
arguments that a function of the program or a tool cannot take. Certain ones go back to the model,
the rest never block. Thread: any, one check at a time.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from sandbox.certainty import Certainty, bound_names
from sandbox.errors import Fault, ProgramFaultError
from sandbox.pool import SandboxPool
from sandbox.program import Program
from sandbox.tool_calls import LATER
from sandbox.tools import Tool, ToolSet

_REPORTED = re.compile(r"^[^:\n]*:(\d+):(\d+): (?:error|warning)\[([a-z-]+)\] (.*)$", re.MULTILINE)
_ARGUMENT_RULES = frozenset(
    {"missing-argument", "unknown-argument", "too-many-positional-arguments"}
)
_NAME_RULE = "unresolved-reference"
_MOST_FINDINGS = 5
_FUTURE = re.compile(r"^from __future__ import [^\n]*", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that the check found. `line`: of the original source; `certain`: it would fail."""

    line: int
    message: str
    hint: str = ""
    certain: bool = False


def check(program: Program, tools: ToolSet, pool: SandboxPool) -> tuple[Finding, ...]:
    """What is wrong with a program, in the order of its lines; nothing when it cannot be told.

    What earlier programs left is known, as the front of the program declares it.
    Raises `ProgramFaultError` with one line for each finding that is certain to fail.
    """
    try:
        tree = ast.parse(program.analysed)
    except (SyntaxError, ValueError, RecursionError):
        return ()
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    helpers = {name for name in names if name.startswith("__dd_")}
    text = _FUTURE.sub("pass", program.analysed)
    report = pool.type_report(text, stubs_for(tools), helpers)
    findings = sorted(
        {*_of_tools(tree, program, tools), *_of_report(tree, program, report, tools, helpers)},
        key=lambda finding: (finding.line, finding.message),
    )
    last = _last_report(tree, program)
    findings = [finding for finding in findings if finding.line]  # the front has run before
    certain = [finding for finding in findings if finding.certain and finding.line != last]
    if certain:
        raise ProgramFaultError(_fault(certain[:_MOST_FINDINGS]))
    return tuple(findings)


def _last_report(tree: ast.Module, program: Program) -> int:
    """The line of a last statement that only prints: all is done by then, and it need not stop
    anybody.
    """
    last = tree.body[-1]
    is_report = isinstance(last, ast.Expr) and any(
        isinstance(node, ast.Name) and node.id in ("print", "__dd_print") for node in ast.walk(last)
    )
    return program.analysed_line(last.lineno, last.col_offset + 1) if is_report else 0


def stubs_for(tools: ToolSet) -> str:
    """The tools as the checker sees them: a call gives its value, one that is waited for later
    gives what is awaited.
    """
    lines = ["from typing import Any, Literal, TypedDict"]
    structures: dict[str, str] = {}
    for item in tools:
        structures.update(item.stub.structures)
        head = item.stub.head
        lines.append(f"{head.removeprefix('async ')} ...")
        lines.append(f"{head.replace(f'def {item.name}', f'def {LATER}{item.name}', 1)} ...")
    return "\n".join([lines[0], *structures.values(), *lines[1:]])


def _fault(found: list[Finding]) -> Fault:
    first, *others = found
    more = [f"Line {item.line}: {item.message}. {item.hint}".strip() for item in others]
    return Fault(
        type="CheckError",
        message=first.message,
        line=first.line,
        hint="\n".join([first.hint, *more]).strip(),
    )


def _of_tools(tree: ast.Module, program: Program, tools: ToolSet) -> Iterator[Finding]:
    """Certain calls of tools with arguments that cannot be bound, or constants of a wrong type."""
    bound = bound_names(tree)
    called = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - bound
    if not any(name.removeprefix(LATER) in tools for name in called):
        return
    for node in Certainty(tree).nodes:
        match node:
            case ast.Call(func=ast.Name(id=name)) if name not in bound:
                found = tools.get(name.removeprefix(LATER))
                problem = _problem(found, node) if found is not None else ""
                if problem:
                    line = program.analysed_line(node.lineno, node.col_offset + 1)
                    yield Finding(line=line, message=problem, certain=True)
            case _:
                pass


def _problem(tool: Tool, call: ast.Call) -> str:
    named = [keyword.arg for keyword in call.keywords]
    if None in named or any(isinstance(item, ast.Starred) for item in call.args):
        return ""
    values = {keyword.arg or "": keyword.value for keyword in call.keywords}
    try:
        given = tool.bound(call.args, values)
        tool.checked({k: v.value for k, v in given.items() if isinstance(v, ast.Constant)})
    except TypeError as error:
        return str(error).rstrip(".")
    return ""


def _of_report(
    tree: ast.Module, program: Program, report: str, tools: ToolSet, helpers: set[str]
) -> Iterator[Finding]:
    certainty: Certainty | None = None
    bound: set[str] = set()
    for row, column, rule, message in _REPORTED.findall(report):
        line, place = int(row), int(column)
        if certainty is None:
            certainty, bound = Certainty(tree), bound_names(tree)
        if rule == _NAME_RULE:
            name = message.split("`")[1] if "`" in message else ""
            if name in dir(builtins) or name in tools or name in helpers:
                continue
            certain = not bound & {name, "*"} and _is_certain_name(certainty, line, name)
            hint = _near_name(name, bound, tools) if certain else ""
            message = f"name {name!r} is not defined"
        else:
            name = _called(certainty, line) if rule in _ARGUMENT_RULES else ""
            certain = bool(name) and f"function `{name}`" in message
            hint = _declared(certainty, name) if certain else ""
        where = program.analysed_line(line, place)
        yield Finding(line=where, message=message.rstrip("."), hint=hint, certain=certain)


def _is_certain_name(certainty: Certainty, line: int, name: str) -> bool:
    return any(
        isinstance(node, ast.Name) and node.lineno == line and node.id == name
        for node in certainty.nodes
    )


def _called(certainty: Certainty, line: int) -> str:
    """The program's own function that is certainly called there, when it is the only call of it."""
    found = {
        node.func.id
        for node in certainty.nodes
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in certainty.functions
        and node.lineno <= line <= (node.end_lineno or node.lineno)
    }
    calls = [
        node
        for name in found
        for node in ast.walk(certainty.tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == name
        and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    return found.pop() if len(found) == 1 and len(calls) == 1 else ""


def _declared(certainty: Certainty, name: str) -> str:
    function = certainty.functions[name]
    return f"It is declared as: def {name}({ast.unparse(function.args)})."


def _near_name(name: str, bound: set[str], tools: ToolSet) -> str:
    known = [*(item for item in bound if not item.startswith("__dd_")), *dir(builtins)]
    near = get_close_matches(name, known, n=1, cutoff=0.7)
    hint = tools.hint(name)
    return hint or (f"Did you mean {near[0]!r}?" if near else "Define it before using it.")
