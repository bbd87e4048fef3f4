"""Splits a reply into fenced blocks and prose, forgiving what models get wrong.

Owns the shape of a fence; which block is a program is for `extract.py`. Thread: any.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

_OPEN = re.compile(r"^[ \t]*(?P<fence>`{3,}|~{3,})[ \t]*(?P<tag>[\w+#.-]*)(?P<rest>[^`]*)$")
_ONE_LINE = re.compile(r"^[ \t]*```(?:(?P<tag>[A-Za-z][\w+-]*)[ \t]+)?(?P<code>[^`]+)```[ \t]*$")
_KEYWORDS = frozenset({"import", "from"})
"""Words that begin a program where a tag is expected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced block. `tag` is lower case; `before`: the prose since the block before it."""

    tag: str
    code: str
    closed: bool
    before: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """A reply taken apart: its blocks in order, and all text outside of them."""

    blocks: tuple[Block, ...]
    after: str

    @property
    def prose(self) -> str:
        """Everything outside the blocks."""
        return "\n".join([*(block.before for block in self.blocks), self.after])


def split_reply(text: str, parses: Callable[[str], bool]) -> Split:
    """Take `text` apart.

    A fence may be indented, of backticks or tildes, with or without a tag, on one line, or never
    closed. A line that looks like a closing fence may belong to a string in the program: the first
    closing line after which the code `parses` is taken, else simply the first.
    """
    lines = text.split("\n")
    blocks: list[Block] = []
    prose: list[str] = []
    index = 0
    while index < len(lines):
        line = lines[index]
        if one := _ONE_LINE.match(line):
            blocks.append(_block(one["tag"] or "", [one["code"]], True, prose))
            prose = []
            index += 1
        elif start := _OPEN.match(line):
            end = _closing_line(lines, index, start["fence"], parses)
            beside = _code_beside(start)
            body = [*beside, *lines[index + 1 : end]]
            closed = end < len(lines)
            if not closed:
                end, body, closed = _cut_at_line_end(index + 1 - len(beside), body, start["fence"])
            tag = "" if start["tag"] in _KEYWORDS else start["tag"]
            blocks.append(_block(tag, body, closed, prose))
            prose = []
            index = end + 1
        else:
            prose.append(line)
            index += 1
    return Split(blocks=tuple(blocks), after="\n".join(prose))


def _block(tag: str, body: list[str], closed: bool, prose: list[str]) -> Block:
    return Block(tag=tag.lower(), code="\n".join(body), closed=closed, before="\n".join(prose))


def _code_beside(start: re.Match[str]) -> list[str]:
    """Code on the line of the opening fence, where a model forgot the line break."""
    tag, rest = start["tag"], start["rest"].strip()
    if tag in _KEYWORDS:
        return [f"{tag} {rest}"]
    return [rest] if rest.split(" ")[0] in _KEYWORDS else []


def _cut_at_line_end(first: int, body: list[str], fence: str) -> tuple[int, list[str], bool]:
    """A closing fence may stand at the end of a line of code: its line, the code, whether so.

    `first`: the index of the body's first line in the reply.
    """
    for at, line in enumerate(body):
        if line.rstrip().endswith(fence):
            return first + at, [*body[:at], line.rstrip().removesuffix(fence)], True
    return first + len(body), body, False


def _closing_line(lines: list[str], opened: int, fence: str, parses: Callable[[str], bool]) -> int:
    """Index of the line that closes the fence opened at `opened`; one past the end if none."""
    closing = re.compile(rf"^[ \t]*{re.escape(fence[0])}{{{len(fence)},}}[ \t]*$")
    ends = [at for at in range(opened + 1, len(lines)) if closing.match(lines[at])]
    for end in ends:
        if parses("\n".join(lines[opened + 1 : end])):
            return end
        if any(_OPEN.match(line) and not closing.match(line) for line in lines[opened + 1 : end]):
            break
    return ends[0] if ends else len(lines)
