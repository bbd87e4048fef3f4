"""Finds the program in a model's reply.

Owns the choice: which text is Python, which blocks belong together, and when there is no program
at all. It repairs nothing inside a program; that is the sandbox's dialect bridge. Deterministic,
never runs anything. Thread: any; a few milliseconds for a long reply.
"""

from __future__ import annotations

import ast
import builtins
import re
import textwrap
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from models.fences import Block, split_reply

_PYTHON_TAGS = frozenset(
    {"python", "py", "python3", "py3", "pycon", "ipython", "python-repl", "tool_code", "run_code"}
)
_THINKING = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)
_PROMPT = re.compile(r"^[ \t]*(?:>>>|\.\.\.)(?: |$)")
_CONTINUES = re.compile(
    r"\b(?:then|next|now|step|after that|afterwards|finally|second|third)\b", re.I
)
_REPLACES = re.compile(
    r"\b(?:alternativ\w*|instead|another way|correct\w*|improve\w*|better|complete|full|final"
    r"|together|simpler|shorter|fixed|revised|updated)\b",
    re.I,
)
_CODE_START = re.compile(
    r"^(?:import |from \w+|def |async |class |for |while |with |if |try:|await |@\w|#|\"\"\""
    r"|[A-Za-z_][\w.]*(?:\[[^\]]*\])?\s*[-+*/|]?=[^=]"
    r"|[A-Za-z_][\w.]*\(|[A-Za-z_]\w*\s*:\s*\w)"
)
_SMART_QUOTES = str.maketrans({"\u201c": '"', "\u201d": '"', "\u2018": "'", "\u2019": "'"})
_UNFENCED_LINES = 600
_UNFENCED_STARTS = 12

_DOING = (
    *(ast.Call, ast.Await, ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef),
    *(ast.For, ast.While, ast.With, ast.Delete, ast.AugAssign, ast.ListComp, ast.BinOp),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """`source`: the program, empty if none was `found`; `prose`: the reply's text around it."""

    source: str
    prose: str
    found: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    """A block that may be the program, or a part of it. `tree` None: it does not parse."""

    block: Block
    source: str
    tree: ast.Module | None
    tagged: bool


def extract_program(text: str) -> Extracted:
    """The program in `text`.

    Of several blocks the last complete one is the program; earlier ones are joined in front of it
    where it uses what they define, or where the prose between them says that it continues.
    Blocks in other languages, and data (JSON, CSV, listings), are never a program. Without any
    fence, a reply that is mostly Python is a program.
    """
    reply = _THINKING.sub("", text.replace("\r\n", "\n")).strip("\n")
    split = split_reply(reply, lambda code: _parse(_cleaned(code)) is not None)
    candidates = [found for block in split.blocks if (found := _candidate(block)) is not None]
    prose = re.sub(r"\n{3,}", "\n\n", split.prose).strip()
    if source := _choose(candidates):
        return Extracted(source=source, prose=prose, found=True)
    if any(block.code.strip() for block in split.blocks):
        return Extracted(source="", prose=reply.strip(), found=False)
    return _extract_unfenced(prose)


def _candidate(block: Block) -> _Candidate | None:
    """The block as Python, or None when it is something else."""
    tagged = block.tag in _PYTHON_TAGS
    source = _cleaned(block.code)
    if not source.strip() or (block.tag and not tagged):
        return None
    tree = _parse(source)
    if tree is None and _parse(plain := source.translate(_SMART_QUOTES)) is not None:
        source, tree = plain, _parse(plain)
    if tree is None:
        acts = tagged or bool(re.search(r"^\s*(?:import |from \w+ import|def )", source, re.M))
    else:
        acts = _acts(tree, tagged=tagged)
    return _Candidate(block=block, source=source, tree=tree, tagged=tagged) if acts else None


def _choose(candidates: Sequence[_Candidate]) -> str:
    """The program out of the candidates; empty when there is none."""
    whole = [candidate for candidate in candidates if candidate.tree is not None]
    if not whole:
        return _tidy(_best_broken(candidates))
    *earlier, last = whole
    if last is not candidates[-1] and candidates[-1].tagged and not last.tagged:
        return _tidy(candidates[-1].source)
    parts = [last]
    needed = _missing_names([last])
    for candidate in reversed(earlier):
        if any(candidate.source == part.source for part in parts):
            continue
        if _continues(parts[0].block.before) or needed & _bound_names(candidate.tree):
            parts.insert(0, candidate)
            needed = _missing_names(parts)
    return _tidy("\n\n".join(part.source.strip("\n") for part in parts))


def _best_broken(candidates: Sequence[_Candidate]) -> str:
    """Of blocks that do not parse: the last one in Python's name, else the longest."""
    tagged = [candidate for candidate in candidates if candidate.tagged]
    if tagged:
        return tagged[-1].source
    return max((candidate.source for candidate in candidates), key=len, default="")


def _continues(prose: str) -> bool:
    """Whether the prose before a block says that it goes on from the block before it."""
    return bool(_CONTINUES.search(prose)) and not _REPLACES.search(prose)


def _extract_unfenced(text: str) -> Extracted:
    """A reply without fences: a program if at least half of its lines are one."""
    lines = text.split("\n")
    if len(lines) <= _UNFENCED_LINES and (run := _longest_run(lines)) is not None:
        start, end = run
        source = _cleaned("\n".join(lines[start:end]))
        outside = "\n".join([*lines[:start], *lines[end:]]).strip()
        filled = sum(1 for line in lines if line.strip())
        inside = sum(1 for line in lines[start:end] if line.strip())
        if 2 * inside >= filled:
            return Extracted(source=_tidy(source), prose=outside, found=True)
    return Extracted(source="", prose=text.strip(), found=False)


def _longest_run(lines: Sequence[str]) -> tuple[int, int] | None:
    """The longest stretch of lines that parses and does something."""
    starts = [
        at
        for at, line in enumerate(lines)
        if _CODE_START.match(line.strip()) or _PROMPT.match(line)
    ]
    for start in starts[:_UNFENCED_STARTS]:
        for end in range(len(lines), start, -1):
            if not lines[end - 1].strip():
                continue
            tree = _parse(_cleaned("\n".join(lines[start:end])))
            if tree is not None and _acts(tree, tagged=False):
                return start, end
    return None


def _cleaned(code: str) -> str:
    """Code without interpreter prompts and without a common indentation."""
    lines = code.split("\n")
    filled = [line for line in lines if line.strip()]
    prompted = [line for line in filled if _PROMPT.match(line)]
    if prompted and _PROMPT.match(filled[0]):
        # What stands between prompts is output.
        lines = [_PROMPT.sub("", line) for line in lines if _PROMPT.match(line)]
    return textwrap.dedent("\n".join(lines).expandtabs(4) if "\t" in code else "\n".join(lines))


def _tidy(source: str) -> str:
    """Without blank lines around it, with one newline at the end; empty stays empty."""
    stripped = source.strip("\n").rstrip()
    return f"{stripped}\n" if stripped.strip() else ""


def _parse(source: str) -> ast.Module | None:
    """The syntax tree, or None when the source is not Python (or is empty)."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return tree if tree.body else None


def _acts(tree: ast.Module, *, tagged: bool) -> bool:
    """Whether the code does anything, so that it is a program and not data that parses."""
    if any(isinstance(node, _DOING) for node in ast.walk(tree)):
        return not all(_is_listing(statement) for statement in tree.body)
    return tagged and any(not isinstance(statement, ast.Expr) for statement in tree.body)


def _is_listing(statement: ast.stmt) -> bool:
    """A bare expression without a call: a path, a CSV row, a number with a sign, a JSON value."""
    return isinstance(statement, ast.Expr) and not any(
        isinstance(node, ast.Call | ast.Await) for node in ast.walk(statement)
    )


def _bound_names(tree: ast.Module | None) -> set[str]:
    """Names that the code defines, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(tree) if tree is not None else ():
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                names.add(name)
            case ast.ClassDef(name=name):
                names.add(name)
            case ast.Name(id=name, ctx=ast.Store()):
                names.add(name)
            case ast.arg(arg=name):
                names.add(name)
            case ast.alias(name=name, asname=alias):
                names.add(alias or name.split(".")[0])
            case ast.ExceptHandler(name=str(name)):
                names.add(name)
            case _:
                pass
    return names


def _missing_names(parts: Sequence[_Candidate]) -> set[str]:
    """Names that the parts use and neither define nor get from Python."""
    used: set[str] = set()
    bound: set[str] = set(dir(builtins))
    for part in parts:
        bound |= _bound_names(part.tree)
        for node in ast.walk(part.tree) if part.tree is not None else ():
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                used.add(node.id)
    return used - bound
