"""The typed record of what a call did or would do. Pure data; any thread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

EffectKind = Literal[
    "read",
    "create",
    "modify",
    "delete",
    "move",
    "request",
    "command",
    "secret",
    "show",
    "ask",
    "tool",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A call's place in the program's original source.

    `start`, `end`: UTF-8 byte offsets; `line`: 1-based.
    """

    start: int
    end: int
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """One effect of one call.

    `path` and `target` are absolute paths as the program sees them (target: of a move);
    `size_bytes`: bytes read or written by this call, None where it has no meaning;
    `folder`: the effect is on a folder (a listing, mkdir, rmdir); `call`: the function called,
    e.g. ``Path.rename``; `span`: where.
    """

    kind: EffectKind
    path: str
    target: str | None = None
    size_bytes: int | None = None
    folder: bool = False
    call: str = ""
    span: Span | None = None
