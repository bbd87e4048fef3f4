"""Reads a program's text as Python, with the few repairs that cannot change its meaning.

Owns: fences, common indentation, typographic quotes, tabs, line ends, invisible characters, and a
last line that prints and is not Python, which is left out. A text that was cut off is refused.
Pure; any thread.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sandbox.edits import Edit, PositionMap, apply_edits
from sandbox.errors import Fault, ProgramFaultError

_FENCE = re.compile(rb"^[ \t]*(```|~~~)[ \t]*[\w+.-]*[ \t]*$", re.MULTILINE)
_STRING = (
    rb'"""(?:\\.|[^\\])*?"""|'
    rb"'''(?:\\.|[^\\])*?'''|"
    rb'"(?:\\.|[^"\\\n])*"|'
    rb"'(?:\\.|[^'\\\n])*'|"
    rb"#[^\n]*"
)
_QUOTED = (
    rb"(?:\xe2\x80[\x9c\x9d\x9e])(?:(?!\xe2\x80[\x9c\x9d]|\n).)*\xe2\x80[\x9c\x9d]|"
    rb"(?:\xe2\x80[\x98\x99])(?:(?!\xe2\x80[\x98\x99]|\n).)*\xe2\x80[\x98\x99]"
)
_INVISIBLE = {"\ufeff": "", "\u200b": "", "\u2060": "", "\u00a0": " ", "\u202f": " "}


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """A text that parses: `maps` lead back to the original, the last repair first."""

    text: str
    tree: ast.Module
    notes: tuple[str, ...]
    maps: tuple[PositionMap, ...]


def parse_repaired(source: str) -> Parsed:
    """Parse `source`, repairing what is certain; raises `ProgramFaultError` otherwise."""
    encoded = source.encode("utf-8", "replace")
    maps: tuple[PositionMap, ...] = ()
    notes: list[str] = []
    if b"\r" in encoded:
        encoded, back = apply_edits(encoded, _line_end_edits(encoded))
        maps = (back,)
    first_error: SyntaxError | None = None
    for repair in (None, *_REPAIRS):
        if repair is not None:
            edits = repair.edits(encoded)
            if not edits:
                continue
            encoded, back = apply_edits(encoded, edits)
            maps = (back, *maps)
            notes.append(repair.note)
        try:
            return Parsed(
                text=encoded.decode(), tree=_parse(encoded), notes=tuple(notes), maps=maps
            )
        except SyntaxError as error:
            first_error = first_error or error
    raise ProgramFaultError(_fault(first_error, source))


def _parse(encoded: bytes) -> ast.Module:
    try:
        tree = ast.parse(encoded.decode())
        compile(tree, "program", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except SyntaxError as error:
        # The interpreter waits in any function, and models forget to write `async` before `def`.
        if error.msg != "'await' outside async function":
            raise
        return ast.parse(encoded.decode())
    except (ValueError, RecursionError, MemoryError) as error:
        raise SyntaxError(str(error) or "too deeply nested") from error
    return tree


def _line_end_edits(text: bytes) -> list[Edit]:
    return [Edit(start=m.start(), end=m.end(), text="\n") for m in re.finditer(rb"\r\n|\r", text)]


def _fence_edits(text: bytes) -> list[Edit]:
    return [Edit(start=m.start(), end=m.end(), text="") for m in _FENCE.finditer(text)]


def _invisible_edits(text: bytes) -> list[Edit]:
    table = {old.encode(): new for old, new in _INVISIBLE.items()}
    return [
        Edit(start=m.start(), end=m.end(), text=table[m.group()])
        for m in _outside_strings(text, rb"|".join(map(re.escape, table)))
        if m.group() in table
    ]


def _quote_edits(text: bytes) -> list[Edit]:
    """Typographic quotes that delimit a string; those inside an ordinary string stay."""
    edits: list[Edit] = []
    for m in _outside_strings(text, _QUOTED):
        quoted = m.group()
        if not quoted.startswith((b"\xe2\x80",)):
            continue
        quote = '"' if b'"' not in quoted else "'"
        edits.append(Edit(start=m.start(), end=m.start() + 3, text=quote))
        edits.append(Edit(start=m.end() - 3, end=m.end(), text=quote))
    return edits


def _outside_strings(text: bytes, pattern: bytes) -> Iterator[re.Match[bytes]]:
    """Matches of `pattern` that are in no string or comment, and the strings themselves."""
    return re.finditer(_STRING + rb"|" + pattern, text, re.DOTALL)


def _indentation_edits(text: bytes) -> list[Edit]:
    """Removes the first code line's indentation from every line that has it."""
    found = re.search(rb"^([ \t]+)\S", text, re.MULTILINE)
    first = re.search(rb"^[ \t]*[^\s#]", text, re.MULTILINE)
    if found is None or first is None or first.end() - first.start() == 1:
        return []
    indent = text[first.start() : first.end() - 1]
    return [
        Edit(start=m.start(), end=m.start() + len(indent), text="")
        for m in re.finditer(rb"^" + re.escape(indent), text, re.MULTILINE)
    ]


def _tab_edits(text: bytes) -> list[Edit]:
    """Leading tabs become four spaces, where tabs and spaces are mixed."""
    edits: list[Edit] = []
    for line in re.finditer(rb"^[ ]*\t[ \t]*", text, re.MULTILINE):
        expanded = line.group().decode().expandtabs(4)
        edits.append(Edit(start=line.start(), end=line.end(), text=expanded))
    return edits


def _last_print_edits(text: bytes) -> list[Edit]:
    """Removes a last line that only prints, when all before it is a program.

    Small models stumble most over the sentence that reports what was done. The line must be whole:
    after one that was cut off more might have followed.
    """
    before, _, last = text.rstrip().rpartition(b"\n")
    if not before or not last.startswith(b"print(") or not last.endswith(b")"):
        return []
    try:
        _parse(before)
    except SyntaxError:
        return []
    return [Edit(start=len(before) + 1, end=len(before) + 1 + len(last), text="")]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Repair:
    edits: Callable[[bytes], list[Edit]]
    note: str


_REPAIRS: tuple[_Repair, ...] = (
    _Repair(edits=_fence_edits, note="removed Markdown fence lines"),
    _Repair(edits=_invisible_edits, note="removed invisible characters"),
    _Repair(edits=_indentation_edits, note="removed the common indentation"),
    _Repair(edits=_tab_edits, note="replaced tabs in the indentation with spaces"),
    _Repair(edits=_quote_edits, note="replaced typographic quotation marks"),
    _Repair(edits=_last_print_edits, note="left out a last print that is not valid Python"),
)


def _fault(error: SyntaxError | None, source: str) -> Fault:
    message = (error.msg if error else "") or "the program could not be read"
    line = error.lineno if error else None
    last = source.rstrip().count("\n") + 1
    hint = "Send the whole corrected program."
    cut = ("was never closed", "unterminated", "unexpected EOF", "expected an indented block")
    if any(words in message for words in cut) and line is not None and line >= last - 1:
        hint = "The program seems to be cut off. Send a shorter, complete program."
    elif "unindent" in message or "indent" in message:
        hint = "Indent every block by four spaces."
    return Fault(type="SyntaxError", message=message, line=line, hint=hint)
